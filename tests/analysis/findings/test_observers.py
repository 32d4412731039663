from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.agreement.pairs import error_consistency
from analysis.findings import agreement
from analysis.findings.agreement import error_consistency_entries
from analysis.findings.answers import accuracy_entries, human_accuracy_entries, ordered_conditions
from analysis.findings.observations import read_predictions, read_trials
from tests.analysis.findings.studies import imported, study

NOBODY = read_predictions(None)[0]


def test_human_accuracy_is_the_mean_over_observers_not_over_trials() -> None:
    trials = imported({"0.1": 1.0}, people=2, each=4)
    trials.loc[trials["participant"] == "P-1", "correct"] = False
    trials = trials.drop(trials.index[-2:])
    people = read_trials(trials)
    found = accuracy_entries(people, NOBODY)
    assert [(entry.observer, entry.trials, entry.correct) for entry in found] == [("P-0", 4, 4), ("P-1", 2, 0)]
    assert [entry.to_json() for entry in human_accuracy_entries(people)] == [
        {"condition": "0.1", "mean_over_observers": 0.5, "observers": 2}
    ]


def test_conditions_are_ordered_by_number_then_name() -> None:
    people = read_trials(imported({"bw": 0.5, "c100": 0.5, "c05": 0.5, "c10": 0.5}, people=1, each=1))
    assert ordered_conditions(people) == ["c05", "c10", "c100", "bw"]


def test_every_pair_equals_the_statistic_on_common_pictures() -> None:
    trials = imported({"0.1": 0.8, "0.5": 0.4}, people=3, each=30, seed=4)
    # Observer 2 misses some pictures.
    lost = (trials["participant"] == "P-2") & trials["original"].str.endswith(("-3", "-7"))
    people = read_trials(trials[~lost])
    found, notes = error_consistency_entries(people, NOBODY)
    assert len(found) == 6 and not notes
    for entry in found:
        columns = []
        for name in entry.pair:
            rows = trials[~lost & (trials["participant"] == name) & (trials["condition"] == entry.condition)]
            columns.append(rows.set_index("original")["correct"])
        common = columns[0].index.intersection(columns[1].index)
        oracle = error_consistency(columns[0][common].to_numpy(), columns[1][common].to_numpy())
        assert entry.n == oracle.n
        assert entry.kappa == pytest.approx(oracle.kappa)
        assert entry.observed == pytest.approx(oracle.observed)


def test_people_and_classifiers_meet_on_the_stimuli_that_both_saw() -> None:
    trials, predictions = study(2, people=5, trials_each=20)
    people, (networks, _) = read_trials(trials), read_predictions(predictions)
    found, _ = error_consistency_entries(people, networks)
    with_network = [entry for entry in found if "near-sighted" in entry.pair and entry.condition == "blur"]
    assert [entry.n for entry in with_network] == [10] * 5


def test_pictures_of_one_original_count_together() -> None:
    rng = np.random.default_rng(1)
    original = np.repeat(np.arange(32), 3)
    easy = rng.normal(0.0, 2.0, 32)[original]
    answers = {name: rng.random(96) < 1.0 / (1.0 + np.exp(-easy)) for name in ("a", "b")}
    rows = pd.DataFrame(
        [
            {
                "participant": name,
                "task": "categorisation",
                "role": "main",
                "original": f"o{original[k]}",
                "stimulus": f"s{k}",
                "corruption": "blur",
                "visual_change": 0.5,
                "condition": None,
                "response": "cat",
                "correct": bool(correct[k]),
                "accepted": True,
            }
            for name, correct in answers.items()
            for k in range(96)
        ]
    )
    # The first does not see one picture, and nothing of one original.
    seen = (rows["participant"] == "b") | ~rows["stimulus"].isin(["s0", "s3", "s4", "s5"])
    (found,), _ = error_consistency_entries(read_trials(rows[seen]), NOBODY)
    common = ~np.isin(np.arange(96), (0, 3, 4, 5))
    oracle = error_consistency(answers["a"][common], answers["b"][common], originals=original[common])
    assert (found.n, found.originals, found.shown) == (92, 31, True)
    assert found.interval == pytest.approx(oracle.interval)
    alone = error_consistency(answers["a"][common], answers["b"][common]).interval
    assert found.interval is not None and alone is not None and found.interval[0] < alone[0]


def test_too_many_pairs_leave_out_those_that_share_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "MOST_PAIRS", 2)
    trials = imported({"0.1": 0.8}, people=3, each=12)
    trials = trials[(trials["participant"] != "P-2") | (np.arange(len(trials)) % 2 == 0)]
    found, notes = error_consistency_entries(read_trials(trials), NOBODY)
    assert [entry.pair for entry in found] == [("P-0", "P-1")]
    assert "2 pairs" in notes[0]


def test_the_first_of_two_answers_counts() -> None:
    trials = imported({"0.1": 1.0}, people=2, each=3)
    again = trials[trials["participant"] == "P-0"].assign(correct=False, position=lambda rows: rows["position"] + 100)
    found, _ = error_consistency_entries(read_trials(pd.concat([again, trials])), NOBODY)
    assert found[0].n == 3 and found[0].observed == 1.0
