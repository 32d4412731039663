"""The 16 categories and their ImageNet classes."""

from __future__ import annotations

from collections import Counter

from analysis.categories import ANIMALS, CATEGORIES, IMAGENET_WNIDS, RESPONSE_GRID, WNID_TO_CATEGORY, superordinate

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
    assert len(CATEGORIES) == 16
    assert list(CATEGORIES) == sorted(CATEGORIES)
    assert sorted(RESPONSE_GRID) == list(CATEGORIES)
    assert RESPONSE_GRID[:4] == ("knife", "bicycle", "bear", "truck")


def test_superordinate_groups() -> None:
    assert {category for category in CATEGORIES if superordinate(category) == "animal"} == ANIMALS
    assert len(ANIMALS) == 5


def test_imagenet_has_a_thousand_sorted_distinct_classes() -> None:
    assert len(IMAGENET_WNIDS) == len(set(IMAGENET_WNIDS)) == 1000
    assert list(IMAGENET_WNIDS) == sorted(IMAGENET_WNIDS)
    assert (IMAGENET_WNIDS[0], IMAGENET_WNIDS[999]) == ("n01440764", "n15075141")


def test_class_counts_are_the_published_ones() -> None:
    assert Counter(WNID_TO_CATEGORY.values()) == CLASSES_PER_CATEGORY
    assert len(WNID_TO_CATEGORY) == 207
    assert set(WNID_TO_CATEGORY) <= set(IMAGENET_WNIDS)


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
    assert {index: WNID_TO_CATEGORY[IMAGENET_WNIDS[index]] for index in expected} == expected
    assert IMAGENET_WNIDS[0] not in WNID_TO_CATEGORY  # tench
