"""Answers by groups of labels: by hand, against a count by pandas, and under guessing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.findings.analysing import analyse
from analysis.findings.groups import group_entries
from analysis.findings.observations import read_trials
from analysis.labels.files import default_labels
from analysis.labels.space import Label, LabelSpace
from tests.analysis.findings import studies
from tests.labels import of_the_sixteen

QUICK: dict[str, Any] = {"study": "s", "seed": 1, "n_bootstrap": 0, "sensitivity": False}
IDS = default_labels().ids
#: two of four labels in each group of one partition; the other leaves one out
FOUR = LabelSpace(
    name="four",
    labels=tuple(Label(id=one) for one in ("airplane", "bear", "bicycle", "bird")),
    partitions={
        "kind": {"animal": ("bear", "bird"), "thing": ("airplane", "bicycle")},
        "flies": {"yes": ("airplane", "bird"), "no": ("bear",)},
    },
)


def trials_of(rows: list[tuple[str, str]], **more: Any) -> pd.DataFrame:
    """A person and a picture for each (category, response)."""
    category, response = zip(*rows, strict=True)
    n = len(rows)
    return pd.DataFrame(
        {
            "study": "s", "participant": [f"P-{k}" for k in range(n)], "session": [f"S-{k}" for k in range(n)],
            "position": 0, "block": 0, "task": "categorisation", "role": "main",
            "original": [f"o{k}" for k in range(n)], "stimulus": [f"s{k}" for k in range(n)], "category": category,
            "corruption": "blur", "visual_change": 0.5, "condition": None, "second_stimulus": None,
            "second_corruption": None, "response": response,
            "correct": [a == b for a, b in rows], "accepted": True, "simulated": False, **more,
        }
    )  # fmt: skip


def entries(trials: pd.DataFrame, space: LabelSpace = FOUR) -> dict[str, Any]:
    people = read_trials(trials)
    nobody = people.select(np.zeros(len(people), dtype=bool))
    return {one.partition: one for one in group_entries(people, nobody, space, level=0.95)}


def test_by_hand() -> None:
    rows = [("bear", "bear"), ("bear", "bird"), ("bear", "airplane"), ("bear", "na"), ("bicycle", "airplane"),
            ("bird", "none")]  # fmt: skip
    found = entries(trials_of(rows))
    kind, flies = found["kind"], found["flies"]
    assert (kind.n, kind.accuracy, kind.within) == (6, pytest.approx(1 / 6), pytest.approx(3 / 6))
    assert (kind.wrong, kind.wrong_within, kind.chance) == (3, 2, 0.5)
    assert (flies.n, flies.within) == (5, pytest.approx(1 / 5)), "a bicycle is in no group of this partition"
    assert (flies.wrong, flies.wrong_within) == (2, 0), "na and none name no label"
    assert flies.chance == pytest.approx((4 * 1 / 4 + 2 / 4) / 5)
    assert kind.interval[0] < kind.within < kind.interval[1]


def test_accepted_labels_of_two_groups_leave_a_picture_out() -> None:
    rows = [("bear", "bird"), ("bear", "bird"), ("bear", "airplane")]
    accepted = ["bear bird", "bear airplane", "bear"]
    (kind,) = [one for name, one in entries(trials_of(rows, accepted_labels=accepted)).items() if name == "kind"]
    assert (kind.n, kind.accuracy, kind.within, kind.wrong_within) == (2, 0.5, 0.5, 0)


def test_own_options_have_no_common_chance() -> None:
    rows = [("bear", "bird"), ("bear", "bear")]
    assert entries(trials_of(rows, options="bear bird"))["kind"].chance is None


def test_guesses_are_within_as_often_as_chance_says() -> None:
    rng = np.random.default_rng(3)
    rows = list(zip(rng.choice(FOUR.ids, 800), rng.choice(FOUR.ids, 800), strict=True))
    found = entries(trials_of(rows))
    for one in found.values():
        assert one.interval[0] <= one.chance <= one.interval[1]
    kind = found["kind"]
    assert kind.wrong_within / kind.wrong == pytest.approx(1 / 3, abs=0.05), "one of the three wrong labels"


@of_the_sixteen
def test_findings_of_other_labels_have_them_and_those_of_the_16_do_not() -> None:
    trials, predictions = studies.study(1, people=8, trials_each=40)
    assert "groups" not in analyse(trials, predictions, **QUICK).to_json()
    names = dict(zip(IDS, FOUR.ids * 4, strict=True))
    four, networks = (
        one.assign(category=one["category"].map(names), response=one["response"].map(names).fillna("na"))
        for one in (trials, predictions.assign(label_space=4))
    )
    four, networks = (one.assign(correct=one["category"] == one["response"]) for one in (four, networks))
    stored = analyse(four, networks, labels=FOUR, **QUICK).to_json()["groups"]
    assert isinstance(stored, list) and len(stored) == 2 * 2 * 3, "partitions, populations, corruptions"
    kind = {one: group for group, ids in FOUR.groups("kind").items() for one in ids}
    blur = four[(four["corruption"] == "blur") & (four["role"] != "gold")]
    share = (blur["category"].map(kind) == blur["response"].map(kind)).mean()
    (found,) = [
        one["within"]
        for one in stored
        if (one["partition"], one["population"], one["corruption"]) == ("kind", "humans", "blur")
    ]
    assert found == pytest.approx(share)
