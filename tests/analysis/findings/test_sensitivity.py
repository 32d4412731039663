from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.findings.fits import FitSettings, fit_outcomes
from analysis.findings.observations import accepted_answers, read_trials
from analysis.findings.outcomes import categories_of, human_outcomes
from analysis.findings.pipeline import digest_of
from analysis.findings.sensitivity import choices
from tests.analysis.findings.studies import analysed, predictions_for


def areas(entry: dict, corruption: str = "blur") -> float:
    return next(
        one["area"] for one in entry["curves"] if (one["corruption"], one["property"]) == (corruption, "accuracy")
    )


@pytest.mark.verify
def test_each_choice_is_what_an_analysis_of_those_trials_alone_would_find(
    screened: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    trials, sessions = screened
    predictions = predictions_for(np.random.default_rng(1), trials)
    found = analysed(trials, predictions, study="s", seed=1, n_bootstrap=0, session_table=sessions)
    entries = {one["choice"]: one for one in found["sensitivity"]}
    assert list(entries) == [
        "as reported",
        "all sessions",
        "without the rule: gold trials failed",
        "without the rule: timing",
        "flagged sessions left out: long run of one answer",
        "timing in order only",
        "misses dropped",
    ]
    chosen = {
        "as reported": trials["accepted"],
        "all sessions": trials["session"] != "",
        # S-1 also failed another rule, and stays excluded.
        "without the rule: gold trials failed": trials["accepted"] | (trials["session"] == "S-2"),
        "without the rule: timing": trials["accepted"] | (trials["session"] == "S-0"),
        "flagged sessions left out: long run of one answer": trials["accepted"] & (trials["session"] != "S-3"),
        "timing in order only": trials["accepted"] & trials["timing_ok"],
        "misses dropped": trials["accepted"] & (trials["response"] != "na"),
    }
    people = read_trials(trials)
    settings = FitSettings(seed=1, n_bootstrap=0, categories=categories_of(people, people))
    for name, rows in chosen.items():
        part = trials[rows].assign(accepted=True)
        alone = human_outcomes(read_trials(part), "blur", "accuracy", None)
        assert alone is not None
        assert areas(entries[name]) == fit_outcomes(alone, settings).area, name
        assert entries[name]["sessions"] == part["session"].nunique()
    headline = next(c for c in found["comparisons"] if (c["corruption"], c["property"]) == ("blur", "accuracy"))
    reported = next(
        c for c in entries["as reported"]["comparisons"] if (c["corruption"], c["property"]) == ("blur", "accuracy")
    )
    assert (reported["hmri"], reported["mrsi"]) == (headline["hmri"], headline["mrsi"])
    dropped = next(
        c for c in entries["misses dropped"]["comparisons"] if (c["corruption"], c["property"]) == ("blur", "accuracy")
    )
    assert dropped["hmri"] == pytest.approx(headline["misses_dropped"]["hmri"])


def test_choices_that_change_nothing_are_left_out(tables: tuple[pd.DataFrame, pd.DataFrame], findings: dict) -> None:
    assert [one["choice"] for one in findings["sensitivity"]] == ["as reported", "misses dropped"]
    assert findings["sensitivity"][0]["answers"] == findings["trials"]["in_accepted_sessions"]


def test_unknown_timing_is_no_choice(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials = tables[0].assign(timing_ok=None)
    names = [one.name for one in choices(read_trials(trials, accepted_only=False), accepted_answers(trials), None)]
    assert names == ["as reported", "all sessions", "misses dropped"]


@pytest.mark.verify
def test_set_aside_trials_are_in_no_number_but_that_of_the_choice_that_counts_them(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    trials, predictions = tables
    aside = (trials["position"] % 9 == 4) & (trials["visual_change"] > 0.3)
    marked = trials.assign(set_aside=aside)
    found = analysed(marked, predictions, study="s", seed=1, n_bootstrap=0)
    alone = analysed(trials[~aside], predictions, study="s", seed=1, n_bootstrap=0)
    given = {"data_digest", "trials", "sensitivity"}
    assert {name: found[name] for name in found.keys() - given} == {name: alone[name] for name in found.keys() - given}
    assert found["trials"]["set_aside"] == int(aside.sum()) > 20
    entries = {one["choice"]: one for one in found["sensitivity"]}
    assert list(entries) == ["as reported", "misses dropped", "set-aside trials as misses"]
    counted = entries.pop("set-aside trials as misses")
    assert list(entries.values()) == alone["sensitivity"]
    missed = trials.assign(response=trials["response"].mask(aside, "na"), correct=trials["correct"].mask(aside, False))
    as_misses = analysed(missed, predictions, study="s", seed=1, n_bootstrap=0)["sensitivity"][0]
    assert counted["kind"] == "set aside" and counted["answers"] == as_misses["answers"]
    assert areas(counted) == pytest.approx(areas(as_misses), abs=1e-9)
    assert areas(counted) < areas(entries["as reported"]) - 0.01


def test_columns_that_say_nothing_leave_the_digest_of_a_table_as_it_was(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    trials = tables[0]
    stored_before = digest_of(trials)
    assert digest_of(trials.assign(set_aside=None, input_kind=None, last_input_ms=None)) == stored_before
    assert digest_of(trials.assign(set_aside=False)) != stored_before
