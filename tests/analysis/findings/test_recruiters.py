"""Findings of a study with several recruiters: what is pooled, what stands beside it, and what is left out."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd
import pytest

from analysis.findings.analysing import analyse
from analysis.findings.model.findings import Findings
from tests.analysis.findings.studies import sessions_of, study

pytestmark = pytest.mark.verify

QUICK: dict[str, Any] = {"study": "simulated", "seed": 1, "n_bootstrap": 0, "sensitivity": False}


def sent(trials: pd.DataFrame, recruiter_of: Any) -> pd.DataFrame:
    """The sessions, with who sent each."""
    sessions = sessions_of(trials, {}, flags={})
    return sessions.assign(recruiter=[recruiter_of(int(code[2:])) for code in sessions["session"]])


def from_two(person: int) -> str:
    return "campus" if person < 6 else "crowd"


@cache
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """24 people who name every clean picture; the first six never see anything beyond the middle of the axis right."""
    trials, predictions = study(3, people=24, trials_each=120)
    worse = trials["participant"].isin([f"P-{k}" for k in range(6)]) & (trials["visual_change"] > 0.5)
    trials.loc[worse, "correct"] = False
    trials.loc[worse, "response"] = "na"
    trials.loc[trials["corruption"] == "none", "correct"] = True
    return trials, predictions


def area(found: Findings, corruption: str = "blur") -> float:
    (curve,) = [
        curve for curve in found.human_curves if curve.property == "accuracy" and curve.corruption == corruption
    ]
    return curve.area


def test_curves_use_the_weights_of_the_plan() -> None:
    trials, predictions = tables()
    sessions = sent(trials, from_two)
    once = analyse(trials, predictions, session_table=sessions, **QUICK)
    alone = {
        name: area(analyse(trials, predictions, session_table=sessions, recruiter_weights={name: 1.0}, **QUICK))
        for name in ("campus", "crowd")
    }
    assert alone["crowd"] - alone["campus"] > 0.1
    for weight in (0.5, 0.9):
        weights = {"campus": weight, "crowd": 1.0 - weight}
        found = analyse(trials, predictions, session_table=sessions, recruiter_weights=weights, **QUICK)
        expected = weight * alone["campus"] + (1.0 - weight) * alone["crowd"]
        assert area(found) == pytest.approx(expected, abs=0.012)
        assert found.settings is not None and found.settings.recruiter_weights == weights
        assert found.recruiters is not None
        assert {one.recruiter: one.weight for one in found.recruiters.crowds} == pytest.approx(weights)
        assert any("as far as known" in note for note in found.recruiters.notes)
    assert area(once) == pytest.approx(0.25 * alone["campus"] + 0.75 * alone["crowd"], abs=0.012)


def test_the_crowds_stand_beside_the_pooled_estimate() -> None:
    trials, predictions = tables()
    found = analyse(trials, predictions, session_table=sent(trials, from_two), **QUICK).recruiters
    assert found is not None and [one.recruiter for one in found.crowds] == ["campus", "crowd"]
    assert [(one.people, one.sessions, one.answers) for one in found.crowds] == [(6, 6, 720), (18, 18, 2160)]
    (pair,) = found.pairs
    assert pair.pair == ("campus", "crowd") and pair.different and pair.word == "different"
    assert pair.difference < -0.1 and pair.statement.startswith("different: campus is 0.")
    assert pair.corruptions == ("blur", "noise") and pair.people == (6, 18)
    assert {(one.corruption, one.share, one.people) for one in found.repeats} == {
        ("blur", 0.02, 1),
        ("blur", 0.05, 2),
        ("noise", 0.02, 1),
        ("noise", 0.05, 2),
    }
    assert all(one.width_at_most >= one.width > 0.0 and one.shift > 0.0 for one in found.repeats)
    assert any("were not asked" in note for note in found.notes)
    assert any("every person counts" in note for note in found.notes)


def test_sessions_in_browsers_that_knew_the_study_are_counted() -> None:
    trials, predictions = tables()
    sessions = sent(trials, from_two)
    sessions = sessions.assign(seen_before=[code in ("S-3", "S-9") for code in sessions["session"]])
    found = analyse(trials, predictions, session_table=sessions, **QUICK).recruiters
    assert found is not None and any(note.startswith("2 sessions that count were opened in") for note in found.notes)


def test_what_is_pooled_is_the_same_whatever_the_word_is() -> None:
    """The margin decides the word, and no curve."""
    trials, predictions = study(3, people=36, trials_each=40)
    trials.loc[trials["corruption"] == "none", "correct"] = True
    weights = {"campus": 0.5, "crowd": 0.5}
    strict, loose = (
        analyse(
            trials,
            predictions,
            session_table=sent(trials, lambda person: "campus" if person < 18 else "crowd"),
            recruiter_weights=weights,
            margin=margin,
            **QUICK,
        )
        for margin in (0.03, 0.6)
    )
    assert strict.recruiters is not None and loose.recruiters is not None
    assert strict.curves == loose.curves
    assert strict.recruiters.pairs[0].word != loose.recruiters.pairs[0].word


def test_recruiters_without_a_weight_are_in_no_estimate() -> None:
    trials, predictions = tables()
    sessions = sent(trials, lambda person: from_two(person) if person < 20 else "friends")
    weights = {"campus": 0.5, "crowd": 0.5}
    found = analyse(trials, predictions, session_table=sessions, recruiter_weights=weights, **QUICK)
    assert found.recruiters is not None and found.recruiters.left_out == 4
    assert any("no estimate: 4" in note for note in found.recruiters.notes)
    fewer = trials["participant"].isin([f"P-{k}" for k in range(20)])
    same = analyse(trials[fewer], predictions, session_table=sessions, recruiter_weights=weights, **QUICK)
    assert area(found) == area(same)


def test_a_recruiter_of_whom_nobody_counts_yet_leaves_its_weight_to_the_others() -> None:
    trials, predictions = tables()
    weights = {"campus": 0.5, "crowd": 0.3, "friends": 0.2}
    found = analyse(trials, predictions, session_table=sent(trials, from_two), recruiter_weights=weights, **QUICK)
    assert found.recruiters is not None
    assert {one.recruiter: one.weight for one in found.recruiters.crowds} == pytest.approx(
        {"campus": 0.625, "crowd": 0.375}
    )


def test_one_recruiter_or_none_that_is_known_changes_nothing() -> None:
    trials, predictions = tables()
    without = analyse(trials, predictions, session_table=sessions_of(trials, {}, flags={}), **QUICK)
    one = analyse(trials, predictions, session_table=sent(trials, lambda person: "crowd"), **QUICK)
    assert without == one and one.recruiters is None and "recruiters" not in one.to_json()
    assert one.settings is not None and "recruiter_weights" not in one.settings.to_json()


def test_the_digest_of_the_data_knows_who_sent_whom() -> None:
    trials, predictions = tables()
    one = analyse(trials, predictions, session_table=sent(trials, from_two), **QUICK)
    other = analyse(trials, predictions, session_table=sent(trials, lambda person: from_two(person + 1)), **QUICK)
    assert one.data_digest != other.data_digest
