"""Soft agreement in the findings: who is predicted by whom, and when nothing is said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.errors import InvalidInput
from analysis.findings.analysing import analyse
from analysis.findings.model.agreement import SoftAgreement
from analysis.findings.model.findings import Findings
from analysis.findings.observations import read_predictions, read_trials
from analysis.findings.soft_agreement import soft_agreement_entries
from analysis.labels.files import default_labels
from analysis.reporting.results_text import agreement_sentences
from humanexp.results.charts.registry import chart_of, choices_of
from tests.analysis.findings.examples import findings
from tests.analysis.findings.studies import imported


def found(trials: pd.DataFrame, predictions: pd.DataFrame | None = None) -> Findings:
    return analyse(trials, predictions, study="s", seed=1, n_bootstrap=0, sensitivity=False)


def entries_of(trials: pd.DataFrame, predictions: pd.DataFrame | None = None) -> list[SoftAgreement]:
    read = read_trials(trials), read_predictions(predictions)[0]
    return soft_agreement_entries(*read, default_labels(), level=0.95)


def predicted(trials: pd.DataFrame, name: str, response: np.ndarray, confidence: np.ndarray) -> pd.DataFrame:
    shown = trials[trials["participant"] == "P-0"].drop(columns=["participant"])
    return shown.assign(
        classifier=name,
        label_space=16,
        response=response,
        confidence=confidence,
        correct=response == shown["category"].to_numpy(),
    )


@pytest.fixture
def trials() -> pd.DataFrame:
    return imported({"0.2": 0.9, "0.6": 0.4}, people=8, each=40, seed=3)


def test_people_are_predicted_by_the_rest_and_models_by_their_confidence(trials: pd.DataFrame) -> None:
    shown = trials[trials["participant"] == "P-0"]
    category = shown["category"].to_numpy()
    # Right answers are as probable as people give them; what is wrong is spread evenly.
    honest = predicted(trials, "honest", category, np.where(shown["condition"] == "0.2", 0.9, 0.4))
    guesser = predicted(trials, "guesser", category, np.full(len(shown), 1 / 16))
    sure = predicted(trials, "sure", np.roll(category, 1), np.ones(len(shown)))
    silent = predicted(trials, "silent", category, np.full(len(shown), np.nan))
    result = found(trials, pd.concat([honest, guesser, sure, silent]))
    entries = {one.observer: one for one in result.soft_agreement}
    assert list(entries) == ["humans", "guesser", "honest", "sure"]
    people, best, worst, chance = (entries[name] for name in ("humans", "honest", "sure", "guesser"))
    assert people.beyond_people is None and (people.pictures, people.originals) == (80, 80)
    answered = trials["response"].isin(default_labels().ids)
    assert people.answers == int(answered.sum()) and people.guessing == 4.0
    assert best.beyond_people is not None and best.beyond_people < 0.0
    assert chance.cross_entropy == pytest.approx(4.0)
    assert worst.beyond_interval is not None and worst.beyond_interval[0] > 0.0 and worst.cross_entropy > 4.0
    (table,) = chart_of(result, "soft-agreement").tables
    assert [row[0] for row in table.rows] == ["the rest of people", "guesser", "honest", "sure"]
    assert [row[3] for row in table.rows][::3] == ["the ceiling", "worse than the rest of people"]
    assert "predicted by the rest of people at" in " ".join(agreement_sentences(result))


def test_it_is_withheld_where_too_few_people_answered_or_too_few_pictures(trials: pd.DataFrame) -> None:
    of_three = trials[trials["participant"].isin(["P-0", "P-1", "P-2"])]
    assert entries_of(of_three) == [] and choices_of(findings(), "soft-agreement") == []
    few = trials[trials["original"].str.endswith(tuple(f"-{k}" for k in range(14)))]
    assert few["original"].nunique() < 30 and entries_of(few) == []
    assert len(entries_of(trials)) == 1


def test_a_confidence_that_is_no_probability_is_refused(trials: pd.DataFrame) -> None:
    shown = trials[trials["participant"] == "P-0"]
    percent = predicted(trials, "percent", shown["category"].to_numpy(), np.full(len(shown), 90.0))
    with pytest.raises(InvalidInput, match="confidence is 90"):
        entries_of(trials, percent)
