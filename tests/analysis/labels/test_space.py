"""Sets of labels: what is refused, what decides the identity, and the seven that the product ships."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.errors import InvalidInput, UnknownName
from analysis.labels.files import (
    labels_of_words,
    labels_to_toml,
    parse_labels,
    read_labels_file,
    shipped,
    shipped_names,
)
from analysis.labels.imagenet import class_ids, classes_in, kinds_of
from analysis.labels.space import RESERVED, Label, LabelSpace

SEVEN = Path("fixtures/labels/seven.toml")

KITCHEN = """
name = "kitchen"
negatives = "kind"
[partitions.kind]
tool = ["knife", "fork"]
food = ["apple"]
[labels.knife]
words = { en = "Knife", de = "Messer" }
[labels.fork]
words = { en = "Fork", de = "Gabel" }
synonyms = { en = ["cutlery fork"] }
[labels.apple]
words = { en = "Apple", de = "Apfel" }
definition = "A fruit that grows on trees."
page = "https://en.wikipedia.org/wiki/Apple"
"""


def test_the_shipped_ones_have_the_published_sizes() -> None:
    assert {name: len(shipped(name)) for name in shipped_names()} == {
        "entry16": 16,
        "imagenet1000": 1000,
        "restricted9": 9,
        "backgrounds9": 9,
        "cifar10": 10,
        "mnist": 10,
        "objectnet113": 113,
    }


def test_a_file_survives_writing_and_reading() -> None:
    for space in (*(shipped(name) for name in shipped_names()), read_labels_file(SEVEN)):
        again = parse_labels(labels_to_toml(space))
        assert (again.identity, again.presentation, again.rows) == (space.identity, space.presentation, space.rows)
        assert [label.classes for label in again.labels] == [label.classes for label in space.labels]


def test_a_mended_word_changes_what_is_shown_and_not_the_identity() -> None:
    space = parse_labels(KITCHEN)
    mended = parse_labels(KITCHEN.replace("Gabel", "Forke"))
    assert mended.identity == space.identity
    assert mended.presentation != space.presentation


@pytest.mark.parametrize(
    "changed",
    [
        KITCHEN.replace('negatives = "kind"\n', ""),
        KITCHEN.replace('tool = ["knife", "fork"]\nfood = ["apple"]', 'tool = ["knife"]\nfood = ["apple", "fork"]'),
        KITCHEN.replace("labels.apple", "labels.pear").replace('["apple"]', '["pear"]'),
    ],
)
def test_labels_and_groups_make_the_identity(changed: str) -> None:
    assert parse_labels(changed).identity != parse_labels(KITCHEN).identity


def test_the_order_of_a_file_numbers_labels_and_is_no_part_of_the_identity() -> None:
    space = parse_labels(KITCHEN)
    turned = replace(space, labels=tuple(reversed(space.labels)))
    assert turned.identity == space.identity
    assert [label.id for label in turned.labels] == ["apple", "fork", "knife"]
    assert turned.ids == space.ids == ("apple", "fork", "knife")


def test_groups_say_what_an_answer_from_another_group_is() -> None:
    space = read_labels_file(SEVEN)
    assert [space.group(label) for label in ("dog", "truck", "na")] == ["animal", "artefact", ""]
    assert space.of_other_groups("dog") == ("airplane", "clock", "truck")
    assert shipped("mnist").groups() == {}
    assert shipped("mnist").of_other_groups("3") == ()


def test_words_and_synonyms_are_read_and_a_word_of_two_labels_is_neither() -> None:
    assert shipped("mnist").read(" Seven ") == "7"
    assert shipped("mnist").read("sieben") == "7"
    assert shipped("imagenet1000").read("tench") == "n01440764"
    assert shipped("imagenet1000").read("crane") == ""
    assert shipped("imagenet1000").read("n02012849") == "n02012849"
    assert parse_labels(KITCHEN).read("spoon") == ""


def test_a_word_is_shown_in_the_language_asked_for_or_a_related_one() -> None:
    label = Label(id="car", words={"en": "Car", "de": "Auto", "pt": "Carro"})
    assert [label.word(code) for code in ("de", "pt-BR", "fa")] == ["Auto", "Carro", "Car"]
    assert Label(id="car").word("de") == "car"


def test_ten_words_are_enough() -> None:
    space = labels_of_words("fruits", ["Apple", "Kühle Birne", "  Kiwi "])
    assert [label.id for label in space.labels] == ["apple", "kuhle-birne", "kiwi"]
    assert parse_labels('labels = ["Apple", "Pear"]').ids == ("apple", "pear")
    assert labels_of_words("obst", ["سیب", "گلابی"], "fa").ids == ("label-1", "label-2")


def test_a_grid_that_no_digit_keys_reach_is_refused() -> None:
    words = [f"word{number}" for number in range(10)]
    ids = ", ".join(f'"{word}"' for word in words)
    labels = "".join(f'[labels.{word}]\nwords = {{ en = "{word}" }}\n' for word in words)
    with pytest.raises(InvalidInput, match="1 rows of up to 10: the keys 1 to 9 reach at most 9 rows"):
        parse_labels(f"grid = [[{ids}]]\n{labels}")


def test_rows_are_as_nearly_square_as_can_be() -> None:
    assert [len(row) for row in shipped("cifar10").rows] == [4, 4, 2]
    assert [len(row) for row in labels_of_words("thirty", [f"word {n}" for n in range(30)]).rows] == [6] * 5
    assert shipped("entry16").rows[0] == ("knife", "bicycle", "bear", "truck")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('labels = ["Apple"]', "has 1 labels; it takes 2 to 1,000"),
        ('labels = ["Apple", "apple"]', "the id 'apple' is there twice"),
        ('labels = ["Apple", "None"]', "no label can be called 'none'"),
        (KITCHEN.replace("labels.apple", "labels.Apple"), "the id 'Apple' must be lower-case"),
        (KITCHEN.replace('food = ["apple"]', 'food = ["pear"]'), "names 'pear', which is none of its labels"),
        (KITCHEN.replace('food = ["apple"]', 'food = ["apple", "fork"]'), "puts 'fork' into two groups"),
        (KITCHEN.replace('["knife", "fork"]', '["knife"]'), "leaves out fork: negative sentinels need every label"),
        (KITCHEN.replace('negatives = "kind"', 'negatives = "sort"'), "there is none of this name: kind"),
        (KITCHEN.replace("Gabel", "Messer"), "'Messer' .de. is a word of both 'knife' and 'fork'"),
        (KITCHEN.replace("cutlery fork", "KNIFE"), "is a word of both"),
        (KITCHEN.replace("https://en", "en"), "an address begins with https://"),
        (KITCHEN.replace("definition =", "meaning ="), "has no field 'meaning'; there are: words"),
        (KITCHEN.replace('"Knife", de', '"Knife", deutsch'), "'deutsch' is no tag of a language"),
        (KITCHEN.replace('"Knife"', "7"), "must be text in quotation marks, not 7"),
        (f'grid = [["knife", "fork"]]\n{KITCHEN}', "`grid` must name every label once: apple missing"),
        (KITCHEN + 'classes = ["n99999999"]\n', "'n99999999' is no class of ImageNet"),
        (KITCHEN + 'classes = ["n02084071..n01440764"]\n', "no range of classes"),
        ("labels = [", "This is no TOML"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_place_and_what_to_do(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        parse_labels(text)


@pytest.mark.parametrize("name", RESERVED)
def test_answers_without_a_label_keep_their_names(name: str) -> None:
    with pytest.raises(InvalidInput, match="no label can be called"):
        LabelSpace(name="own", labels=(Label(id=name), Label(id="cat")))


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(UnknownName, match="backgrounds9, cifar10, entry16"):
        shipped("entry17")


def test_files_say_where_they_are_wrong(tmp_path: Path) -> None:
    bad = tmp_path / "mine.toml"
    bad.write_bytes(KITCHEN.encode("utf-16"))
    with pytest.raises(InvalidInput, match=r"mine.toml is not written in UTF-8"):
        read_labels_file(bad)
    bad.write_text(KITCHEN + 'icon = "../apple.svg"\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"mine.toml: labels.\w+.icon: '../apple.svg' leads outside"):
        read_labels_file(bad)
    bad.write_text(KITCHEN + 'icon = "apple.svg"\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"mine.toml: there is no icon 'apple.svg' beside the file"):
        read_labels_file(bad)


def test_classes_are_named_one_by_one_as_ranges_and_by_what_they_are_kinds_of() -> None:
    """Known of ImageNet: 118 dogs at 151 to 268, 5 domestic cats at 281 to 285, 59 birds."""
    ids = class_ids()
    assert kinds_of("n02084071") == ids[151:269]
    assert kinds_of("n02121808") == ids[281:286]
    assert len(kinds_of("n01503061")) == 59
    assert classes_in("n02123045..n02124075") == ids[281:286]
    assert classes_in("n01440764") == ("n01440764",)
