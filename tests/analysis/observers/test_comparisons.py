"""Same/different and ABX as models are asked, and how their replies are read."""

from __future__ import annotations

from collections import Counter

import pytest

from analysis.classifiers.shards import ShownStimulus
from analysis.observers.comparisons import ANSWERS, QUESTIONS, Compared, Comparison, read_reply_to, with_questions
from analysis.observers.questions import ForcedChoice

SAME_DIFFERENT = Comparison("same-different", ("different", "same"))
ABX = Comparison("abx", ("first", "second"))


def comparisons(count: int, form: str = "same-different") -> list[Compared]:
    task, answers = {"same-different": ("discrimination", ("same", "different")), "abx": ("abx", ("a", "b"))}[form]
    found = []
    for number in range(count):
        right = answers[number % 2]
        kinds = ("blur", "blur" if right == "same" else "noise", *(("blur" if right == "a" else "noise",) if form == "abx" else ()))  # fmt: skip # noqa: E501
        shown = tuple(
            ShownStimulus(f"s{number}-{place}", f"o{number}-{place}", "dog", kind, number / count, "", "")
            for place, kind in enumerate(kinds[: 3 if form == "abx" else 2])
        )
        found.append(Compared(task, "main", shown, right))
    return found


@pytest.mark.parametrize("form", ["same-different", "abx"])
def test_the_right_word_is_offered_first_in_half_of_either_answer(form: str) -> None:
    asked = list(with_questions(comparisons(400, form), seed=3))
    counts = Counter((trial.right, ANSWERS[trial.form][question.labels[0]]) for trial, question in asked)
    assert set(counts.values()) == {100}, "whoever names the first word is right in half of each kind"
    assert [question for _, question in asked] == [one for _, one in with_questions(comparisons(400, form), seed=3)]
    assert [question for _, question in asked] != [one for _, one in with_questions(comparisons(400, form), seed=4)]


def test_nothing_but_words_and_question_reaches_a_model() -> None:
    for trial, question in with_questions(comparisons(6), seed=0):
        assert question.text == QUESTIONS["same-different"].format(options=", ".join(question.labels))
        assert not any(name in question.text for one in trial.shown for name in (one.stimulus, one.corruption))
    assert "A computer has changed both pictures" in SAME_DIFFERENT.text and "different, same\n" in SAME_DIFFERENT.text


@pytest.mark.parametrize(
    ("text", "kind", "label"),
    [
        ("same", "label", "same"),
        ("Different.", "label", "different"),
        ("They were changed in the same way.", "label", "same"),
        ("They are not the same.", "unreadable", "na"),
        ("They aren't the same", "unreadable", "na"),
        ("same or different", "unreadable", "na"),
        ("", "miss", "na"),
        ("I'm sorry, I cannot help with that.", "refusal", "na"),
        ("yes", "unreadable", "na"),
    ],
)
def test_replies_are_read_strictly(text: str, kind: str, label: str) -> None:
    found = read_reply_to(text, SAME_DIFFERENT)
    assert (found.kind, found.label) == (kind, label)


def test_abx_is_answered_by_place() -> None:
    assert read_reply_to("Like the first one", ABX).label == "first"
    assert read_reply_to("A picture with a strong blur", ABX).kind == "unreadable", "an article is no answer"
    assert read_reply_to("the first or the second", ABX).kind == "unreadable"


def test_forced_choice_is_read_as_before() -> None:
    assert read_reply_to("It is not a dog", ForcedChoice()).label == "dog"
