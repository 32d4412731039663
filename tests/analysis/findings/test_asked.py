"""What became of the trials of models that are asked in words."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from analysis.findings.answers import asked_entries
from analysis.findings.model.people import AskedCounts
from analysis.tables.trials import ANSWERS

KINDS = ("label", "miss", "refusal", "unreadable")


def table(*rows: tuple[str, str, float | None, int, str]) -> object:
    return ANSWERS.frame(
        {
            "classifier": model,
            "stimulus": stimulus,
            "corruption": "none" if change == 0 else "blur",
            "visual_change": change,
            "order": order,
            "kind": kind,
        }
        for model, stimulus, change, order, kind in rows
    )


def counts(asked: int, answered: int = 0, refused: int = 0, unreadable: int = 0, missed: int = 0) -> AskedCounts:
    return AskedCounts(asked=asked, answered=answered, refused=refused, unreadable=unreadable, missed=missed)


def test_trials_are_the_first_questions_and_are_counted_by_visual_change() -> None:
    second, first = asked_entries(
        table(
            ("b", "clean", 0.0, 0, "label"), ("b", "clean", 0.0, 1, "refusal"),
            ("b", "easy", 0.05, 0, "label"), ("b", "easy", 0.05, 1, "label"),
            ("b", "hard", 1.0, 0, "refusal"), ("b", "hard", 1.0, 1, "label"),
            ("b", "harder", 0.93, 0, "unreadable"), ("b", "harder", 0.93, 1, "unreadable"),
            ("b", "unknown", None, 0, "miss"), ("b", "unknown", None, 1, "miss"),
            ("a", "clean", 0.0, 0, "unreadable"),
        )
    )[::-1]  # fmt: skip
    assert (first.observer, second.observer) == ("a", "b")
    assert first.trials == first.questions == counts(1, unreadable=1)
    assert second.trials == counts(5, answered=2, refused=1, unreadable=1, missed=1)
    assert second.questions == counts(10, answered=4, refused=2, unreadable=2, missed=2)
    assert [(one.low, one.high, one.trials) for one in second.by_change] == [
        (0.0, 0.0, counts(1, answered=1)),
        (0.0, 0.1, counts(1, answered=1)),
        (0.9, 1.0, counts(2, refused=1, unreadable=1)),
        (None, None, counts(1, missed=1)),
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.none() | st.floats(0, 1), st.sampled_from(KINDS), st.sampled_from(KINDS)),
        min_size=1,
    )
)
def test_they_add_up(drawn: list[tuple[str, float | None, str, str]]) -> None:
    rows = [
        (model, f"s{number}", change, order, kind)
        for number, (model, change, *kinds) in enumerate(drawn)
        for order, kind in enumerate(kinds)
    ]
    found = asked_entries(table(*rows))
    assert sum(one.trials.asked for one in found) == len(drawn)
    assert sum(one.questions.asked for one in found) == len(rows)
    for one in found:
        for told in (one.trials, one.questions, *(at.trials for at in one.by_change)):
            assert told.asked == told.answered + told.refused + told.unreadable + told.missed > 0
        for name in AskedCounts.model_fields:
            assert sum(getattr(at.trials, name) for at in one.by_change) == getattr(one.trials, name)
