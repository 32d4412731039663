"""What the findings say of who answered: sentinels enter no curve, two machines are seen, and nothing else moves."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.findings.analysing import analyse
from analysis.findings.model.comparisons import VerdictOnOne
from analysis.findings.model.findings import Findings
from analysis.findings.persons import family_of, stands_anyway
from analysis.labels.files import default_labels
from tests.analysis.findings.studies import study
from tests.labels import label_at

QUICK: dict[str, Any] = {"study": "simulated", "seed": 1, "n_bootstrap": 2, "sensitivity": False}
MACHINES = ("P-3", "P-17")
TRIALS = 24


def conflict(number: int) -> tuple[str, str, str]:
    shape, texture = label_at(number), label_at(number + 1 + number // 16)
    return f"{shape}{number}-{texture}{number}", shape, texture


def given(rng: np.random.Generator, number: int, right: float, lure: float) -> str:
    _, shape, texture = conflict(number)
    others = [one for one in default_labels().ids if one not in (shape, texture)]
    drawn = rng.random()
    return shape if drawn < right else texture if drawn < right + lure else str(rng.choice(others))


@cache
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """24 people, two of whom answer the sentinels like the models."""
    trials, predictions = study(3, people=24, trials_each=40)
    rng = np.random.default_rng(5)
    rows, of_models = [], []
    for _, own in trials.groupby("participant", sort=True):
        first = own.iloc[0].to_dict()
        is_machine = first["participant"] in MACHINES
        for place, number in enumerate(rng.choice(32, TRIALS, replace=False)):
            name, shape, _ = conflict(int(number))
            said = given(rng, int(number), *((0.35, 0.5) if is_machine else (0.8, 0.03)))
            shown = {"role": "person", "original": name, "stimulus": name, "category": shape, "visual_change": np.nan}
            rows.append(
                first
                | shown
                | {"corruption": "cue_conflict", "position": 500 + place, "response": said, "correct": said == shape}
            )
    like = predictions.iloc[0].to_dict()
    for model in ("resnet50", "resnet18", "vit_b"):
        of_models.append(predictions.assign(classifier=model))
        for number in range(32):
            name, shape, _ = conflict(number)
            said = given(rng, number, 0.35, 0.5)
            shown = {"classifier": model, "original": name, "stimulus": name, "corruption": "cue_conflict"}
            of_models.append(
                pd.DataFrame([like | shown | {"category": shape, "response": said, "correct": said == shape}])
            )
    return pd.concat([trials, pd.DataFrame(rows)], ignore_index=True), pd.concat(of_models, ignore_index=True)


@cache
def found() -> Findings:
    return analyse(*tables(), **QUICK)


@pytest.mark.verify
def test_two_machines_are_flagged_and_bound_what_follows() -> None:
    persons = found().persons
    assert persons is not None
    assert set(MACHINES) <= set(persons.flagged) and len(persons.flagged) <= 3
    assert (persons.people, persons.scored, persons.sentinels, persons.models, persons.weights) == (24, 24, 24, 3, 2)
    assert persons.share_interval[0] <= 2 / 24 <= persons.share_interval[1]
    assert [one.catch for one in persons.bounds] == [0.9, 0.6, 0.3, 0.0]
    *bounded, none = persons.bounds
    assert none.machines is None and none.areas == () and "there is no bound" in none.statement
    machines = [one.machines for one in bounded]
    assert machines == sorted(machines) and machines[0] >= 2
    areas = {curve.corruption: curve for curve in found().human_curves if curve.property == "accuracy"}
    for one in bounded[0].areas:
        curve = areas[one.corruption]
        assert curve.interval is not None and one.interval is not None and one.bias is not None
        assert one.interval[0] <= curve.interval[0] and one.interval[1] >= curve.interval[1]
        assert one.bias[0] <= 0.0 <= one.bias[1]
    assert {one.people for one in persons.without} >= {1, 2} and persons.without[0].areas
    assert persons.least_caught and persons.flag_catches is not None and persons.flag_catches > 0.8


@pytest.mark.verify
def test_sentinels_enter_no_curve_and_move_nothing_else() -> None:
    trials, predictions = tables()
    bare = analyse(
        trials[trials["role"] != "person"], predictions[predictions["corruption"] != "cue_conflict"], **QUICK
    )
    assert bare.persons is None and "persons" not in bare.to_json()
    told, without = found().to_json(), bare.to_json()
    told.pop("persons")
    for one in (told, without):
        one.pop("data_digest"), one.pop("trials")
        # Golds of sentinels are among the pictures of which a model's confidence is told; nothing else is.
    assert json.dumps(told) == json.dumps(without)


@pytest.mark.verify
def test_without_a_model_that_answered_them_nothing_is_said() -> None:
    trials, predictions = tables()
    assert analyse(trials, predictions[predictions["corruption"] != "cue_conflict"], **QUICK).persons is None


@pytest.mark.parametrize(
    ("name", "family"), [("resnet50", "resnet"), ("ResNet-18", "resnet"), ("llava_1_5_7b", "llava"), ("3d", "3d")]
)
def test_versions_and_sizes_are_no_family(name: str, family: str) -> None:
    assert family_of(name) == family


def verdict(word: str, interval: tuple[float, float], direction: str | None = None) -> VerdictOnOne:
    window = {"range": (0.0, 0.15), "difference": 0.0, "lower": -0.02, "upper": 0.02, "significant": False}
    values: dict[str, Any] = {"word": word, "interval": interval, "direction": direction}
    return VerdictOnOne(
        **values, statement="", matches=word == "matches", differs=word == "differs", difference=sum(interval) / 2,
        range=(0.0, 1.0), gaps=(), windows=(window,), margin=0.03, window_margin=0.10, window=0.15, attentive=1.0,
        answers=1, answers_to_match=1, answers_to_differ=1,
    )  # fmt: skip


def test_a_verdict_stands_only_where_machines_cannot_have_made_it() -> None:
    assert stands_anyway(verdict("matches", (-0.01, 0.01)), (-0.01, 0.01), 0.05)
    assert not stands_anyway(verdict("matches", (-0.01, 0.01)), (-0.03, 0.01), 0.05)
    assert not stands_anyway(verdict("matches", (-0.01, 0.01)), (-0.01, 0.01), 0.2), "a window may have moved further"
    below = verdict("differs", (-0.2, -0.1), "below")
    assert stands_anyway(below, (-0.05, 0.05), 0.05) and not stands_anyway(below, (-0.05, 0.15), 0.2)
    assert not stands_anyway(verdict("differs", (-0.2, 0.1), "crosses"), (-0.01, 0.01), 0.02)
    assert stands_anyway(verdict("undecided", (-0.2, 0.2)), (-1.0, 1.0), 1.0)
