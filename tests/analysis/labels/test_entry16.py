"""The 16 categories and their ImageNet classes."""

from __future__ import annotations

from collections import Counter

from analysis.labels.files import shipped
from analysis.labels.imagenet import class_ids
from analysis.labels.mapping import labels_of_classes

#: Geirhos et al. (2018), as counted in the published mapping.
CLASSES_PER_CATEGORY = {
    "airplane": 1,
    "bear": 4,
    "bicycle": 2,
    "bird": 49,
    "boat": 5,
    "bottle": 7,
    "car": 3,
    "cat": 6,
    "chair": 4,
    "clock": 3,
    "dog": 109,
    "elephant": 2,
    "keyboard": 2,
    "knife": 1,
    "oven": 1,
    "truck": 8,
}


def test_sixteen_sorted_categories_fill_the_grid() -> None:
    assert len(shipped("entry16").ids) == 16
    assert list(shipped("entry16").ids) == sorted(shipped("entry16").ids)
    assert sorted(shipped("entry16").in_grid) == list(shipped("entry16").ids)
    assert shipped("entry16").in_grid[:4] == ("knife", "bicycle", "bear", "truck")


def test_animals_are_one_group_of_two() -> None:
    labels = shipped("entry16")
    assert labels.groups()["animal"] == ("bear", "bird", "cat", "dog", "elephant")
    assert {label for label in labels.ids if labels.group(label) == "artefact"} == set(labels.of_other_groups("cat"))


def test_imagenet_has_a_thousand_sorted_distinct_classes() -> None:
    assert len(class_ids()) == len(set(class_ids())) == 1000
    assert list(class_ids()) == sorted(class_ids())
    assert (class_ids()[0], class_ids()[999]) == ("n01440764", "n15075141")


def test_class_counts_are_the_published_ones() -> None:
    labels = labels_of_classes(shipped("entry16")).values()
    assert Counter(label for (label,) in labels) == CLASSES_PER_CATEGORY
    assert len(labels_of_classes(shipped("entry16"))) == 207
    assert set(labels_of_classes(shipped("entry16"))) <= set(class_ids())


def test_known_classes_stand_at_their_known_outputs() -> None:
    """Published indices: 404 airliner, 294 brown bear, 499 cleaver, 766 rotisserie, 508 and 878 keyboards."""
    expected = {
        404: "airplane",
        294: "bear",
        499: "knife",
        766: "oven",
        508: "keyboard",
        878: "keyboard",
        385: "elephant",
    }
    classes = labels_of_classes(shipped("entry16"))
    assert {index: classes[class_ids()[index]] for index in expected} == {k: (label,) for k, label in expected.items()}
    assert class_ids()[0] not in labels_of_classes(shipped("entry16"))  # tench
