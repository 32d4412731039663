"""Observers asked in words among labels of any space: words in the question, synonyms in the reply."""

from __future__ import annotations

import pytest

from analysis.errors import InvalidInput
from analysis.labels.files import default_labels, shipped
from analysis.labels.space import Label, LabelSpace
from analysis.observers.questions import AskPlan, ForcedChoice
from analysis.observers.scoring import read_answer, replies

ZOO = LabelSpace(
    name="zoo",
    labels=(
        Label(id="bear", words={"en": "Bear", "de": "Bär"}),
        Label(id="polar_bear", words={"en": "Polar bear", "de": "Eisbär"}, synonyms={"en": ("ice bear",)}),
        Label(id="plane", words={"en": "Airplane"}, synonyms={"en": ("jet", "aeroplane"), "de": ("Flieger",)}),
    ),
)


def question(style: str = "words") -> ForcedChoice:
    return ForcedChoice(("polar_bear", "plane", "bear"), style=style, space=ZOO)  # type: ignore[arg-type]


def test_the_question_holds_words_and_the_answer_an_id() -> None:
    assert "Polar bear, Airplane, Bear" in question().text
    assert "A. Polar bear\nB. Airplane\nC. Bear" in question("letters").text
    assert replies(question()) == ("Polar bear", "Airplane", "Bear")
    assert replies(question("letters")) == ("A", "B", "C")


@pytest.mark.parametrize(
    ("text", "kind", "label"),
    [
        ("Polar bear", "label", "polar_bear"),
        ("It is a polar  BEAR.", "label", "polar_bear"),
        ("polar_bear", "label", "polar_bear"),
        ("An ice bear", "label", "polar_bear"),
        ("bears", "label", "bear"),
        ("A jet, that is an airplane", "label", "plane"),
        ("aeroplanes", "label", "plane"),
        ("a polar bear, or another bear", "unreadable", "na"),
        ("Flieger", "unreadable", "na"),
        ("a seaplane", "unreadable", "na"),
        ("", "miss", "na"),
        ("I cannot tell", "refusal", "na"),
    ],
)
def test_a_reply_is_read_by_word_id_or_synonym(text: str, kind: str, label: str) -> None:
    found = read_answer(text, question().labels, space=ZOO)
    assert (found.kind, found.label) == (kind, label)


def test_letters_name_the_label_at_their_place() -> None:
    labels = question().labels
    assert read_answer("B", labels, "letters", ZOO).label == "plane"
    assert read_answer("B. jet", labels, "letters", ZOO).label == "plane"
    assert read_answer("B. bear", labels, "letters", ZOO).kind == "unreadable"
    assert read_answer("D.", labels, "letters", ZOO).kind == "unreadable"


def test_digits_are_read_as_figures_and_as_words() -> None:
    space = shipped("mnist")
    for text, label in (("7", "7"), ("It's a seven.", "7"), ("The digit 0", "0"), ("zero", "0")):
        assert read_answer(text, space.ids, space=space).label == label
    assert read_answer("17", space.ids, space=space).kind == "unreadable"
    assert read_answer("3 or 8", space.ids, space=space).kind == "unreadable"


def test_questions_are_among_the_labels_given_and_each_once() -> None:
    asked = list(AskPlan(orders=3, wordings=("describes",)).questions_for("a", ZOO))
    assert len(asked) == 3
    assert all(sorted(one.labels) == sorted(ZOO.ids) and one.space is ZOO for one in asked)


def test_the_sixteen_are_asked_for_as_before() -> None:
    asked = next(iter(AskPlan().questions_for("a")))
    assert asked.space is None and sorted(asked.labels) == list(default_labels().ids)
    assert ", ".join(asked.labels) in asked.text
    ids = ("cat", "dog")
    assert (
        ForcedChoice(ids).text == "Which option best describes the image?\ncat, dog\nAnswer with one of these words "
        "alone."
    )
    assert read_answer("Cats", ids).label == "cat"
    assert read_answer("kitten", ids).kind == "unreadable"


def test_labels_that_cannot_be_asked_for_are_refused() -> None:
    many = LabelSpace(name="many", labels=tuple(Label(id=f"label-{number:02}") for number in range(27)))
    AskPlan().check_labels(many)
    with pytest.raises(InvalidInput, match="many has 27 labels; a question offers at most 26 behind letters"):
        AskPlan(style="letters").check_labels(many)
    with pytest.raises(InvalidInput, match="imagenet1000 has 1,000 labels; a question offers at most 30 behind bare"):
        AskPlan().check_labels(shipped("imagenet1000"))
    begun = LabelSpace(name="begun", labels=(Label(id="car"), Label(id="carpet")))
    AskPlan().check_labels(begun)
    AskPlan(style="letters").check_labels(begun, is_scored=True)
    with pytest.raises(InvalidInput, match="'carpet' begins with 'car'"):
        AskPlan().check_labels(begun, is_scored=True)
    for name in ("cifar10", "mnist", "entry16"):
        AskPlan().check_labels(shipped(name), is_scored=True)
