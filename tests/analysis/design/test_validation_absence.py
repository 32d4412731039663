"""Which labels a negative sentinel asks for: those of which it is stated that a picture lacks them, and no others."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from analysis.design.plan import StudyPlan
from analysis.design.planner import plan_study
from analysis.errors import DesignRefused
from analysis.labels.files import labels_of_words
from analysis.labels.space import LabelSpace
from analysis.study.design import DesignConfig

OBJECTS = labels_of_words("household", ["Backpack", "Broom", "Kettle"])
GROUPED = LabelSpace(
    name="household",
    labels=OBJECTS.labels,
    partitions={"use": {"worn": ("backpack",), "in the house": ("broom", "kettle")}},
    negatives="use",
)


def rows_of(per_label: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"stimulus": f"{label}-{k}-clean", "original": f"{label}-{k}", "category": label, "corruption": "none",
         "visual_change": 0.0, **more}
        for label in OBJECTS.ids
        for k in range(per_label)
    ]  # fmt: skip


def plan(
    rows: list[dict[str, Any]], space: LabelSpace, *, gold: list[str] | None = None, **validation: Any
) -> StudyPlan:
    design = DesignConfig.from_dict(
        {"sessions": 20, "sessions_per_participant": 1, "validation": {"shown": "clean", **validation}}
    )
    originals = {row["original"]: row["category"] for row in rows}
    return plan_study(originals, rows, design, 3, space=space, gold_candidates=gold)


def lacking(made: StudyPlan, rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Label of the picture, and the one that is asked for, wherever the picture lacks it."""
    shows = {row["stimulus"]: row["category"] for row in rows}
    trials = [trial for session in made.sessions for trial in session.trials if trial.correct_response == "no-no"]
    return [(shows[trial.stimulus], trial.wanted or "") for trial in trials]


def test_labels_without_groups_need_a_statement() -> None:
    with pytest.raises(DesignRefused, match='household have no groups.*state absent = "other-labels"') as refused:
        plan(rows_of(16), OBJECTS)
    assert list(refused.value.fields) == ["design.validation.absent"]
    assert plan(rows_of(16), OBJECTS, negative=0, practice=1).sessions, "nothing is asked of what a picture lacks"


def test_any_other_label_where_the_study_states_so() -> None:
    rows = rows_of(16)
    made = plan(rows, OBJECTS, absent="other-labels")
    pairs = Counter(lacking(made, rows))
    assert all(shown != wanted for shown, wanted in pairs)
    wanted = Counter(asked for _shown, asked in pairs.elements())
    assert set(wanted) == set(OBJECTS.ids) and max(wanted.values()) - min(wanted.values()) <= 2
    assert any("the study states that clean, easy pictures of one label show none" in note for note in made.notes)


def test_a_marked_partition_goes_by_its_groups() -> None:
    rows = rows_of(16)
    made = plan(rows, GROUPED)
    for shown, wanted in lacking(made, rows):
        assert GROUPED.group(shown) != GROUPED.group(wanted)
    assert not any("the study states" in note for note in made.notes)
    stated = lacking(plan(rows, GROUPED, absent="other-labels"), rows)
    assert ("broom", "kettle") in stated or ("kettle", "broom") in stated


@pytest.mark.parametrize("also", [{"accepted": ["broom", "kettle"]}, {"competing": "kettle"}])
def test_no_picture_is_asked_for_what_it_shows_or_resembles(also: dict[str, Any]) -> None:
    rows = [{**row, **also} if row["category"] == "broom" else row for row in rows_of(16)]
    pairs = set(lacking(plan(rows, OBJECTS, absent="other-labels"), rows))
    assert ("broom", "backpack") in pairs and ("broom", "kettle") not in pairs


def test_pictures_that_show_everything_cannot_be_negative() -> None:
    rows = rows_of(16, accepted=list(OBJECTS.ids))
    with pytest.raises(DesignRefused, match="shows backpack, broom, kettle, so none of the labels is surely absent"):
        plan(rows, OBJECTS, absent="other-labels")
