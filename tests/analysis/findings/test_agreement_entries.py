from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.agreement.pairs import error_consistency
from analysis.findings.agreement import agreement_entries, conditions_of
from analysis.findings.analysing import analyse
from analysis.findings.fits import FitSettings
from analysis.findings.observations import read_trials
from analysis.findings.outcomes import condition_scale
from analysis.reporting.results_text import agreement_sentences
from humanexp.results.charts.registry import chart_of
from tests.analysis.findings.studies import WRONG_CLASSIFIER, analysed, imported


def published(people: pd.DataFrame, networks: pd.DataFrame | None = None) -> dict[str, Any]:
    return analysed(people, networks, study="s", seed=1, n_bootstrap=100, sensitivity=False)


def row_of(found: dict[str, Any], observer: str) -> dict[str, Any]:
    return next(row for row in found["agreement"] if row["observer"] == observer)


def test_rows_are_means_over_conditions_then_pairs_without_controls_and_lost_conditions() -> None:
    trials = imported({"0.0": 0.95, "0.1": 0.8, "0.3": 0.5, "0.9": 0.06}, people=3, each=80, seed=3)
    found = published(trials)
    row = row_of(found, "humans")
    assert row["conditions"] == ["0.1", "0.3"] and row["pairs"] == 3
    assert any("leaves out 0.9" in note for note in found["notes"])
    kappas, differences = [], []
    for a, b in (("P-0", "P-1"), ("P-0", "P-2"), ("P-1", "P-2")):
        per_condition, squared = [], []
        for condition in ("0.1", "0.3"):
            part = trials[trials["condition"] == condition].pivot(
                index="original", columns="participant", values="correct"
            )
            per_condition.append(error_consistency(part[a].astype(bool), part[b].astype(bool)).kappa)
            squared.append((part[a].mean() - part[b].mean()) ** 2)
        kappas.append(np.mean(per_condition))
        differences.append(np.mean(squared))
    assert row["error_consistency"] == pytest.approx(np.mean(kappas))
    assert row["accuracy_difference"] == pytest.approx(np.mean(differences))
    own = trials[trials["condition"].isin(["0.1", "0.3"])]
    assert row["ood_accuracy"] == pytest.approx(own.groupby("condition")["correct"].mean().mean())
    low, high = row["interval"]
    assert low < row["pooled"]["kappa"] < high and row["n"] == 160


def test_a_network_that_copies_one_person_agrees_with_people_as_that_person_does() -> None:
    trials = imported({"0.2": 0.7, "0.4": 0.5}, people=4, each=60, seed=5)
    copy = trials[trials["participant"] == "P-0"].rename(columns={"participant": "classifier"})
    networks = copy.assign(classifier="copy", label_space=16)
    found = published(trials, networks)
    pair = [
        entry
        for entry in found["error_consistency"]
        if set(entry["pair"]) == {"P-0", "copy"} and entry["condition"] == "0.2"
    ]
    assert pair[0]["copied"] == pytest.approx(1.0)
    assert pair[0]["kappa"] == 1.0 and pair[0]["interval"][0] < 0.95 and pair[0]["interval"][1] == 1.0
    row = row_of(found, "copy")
    assert row["kind"] == "classifier" and row["pairs"] == 4
    assert row["pooled"]["kappa"] > row_of(found, "humans")["pooled"]["kappa"]


@pytest.mark.verify
def test_sparse_answers_still_say_how_a_classifier_agrees_with_people(
    tables: tuple[pd.DataFrame, pd.DataFrame], findings: dict[str, Any]
) -> None:
    """A stimulus of its own for every answer: no two people share one, but each has the classifier's prediction."""
    network = row_of(findings, WRONG_CLASSIFIER)
    people = row_of(findings, "humans")
    assert people["pooled"] is None and people["n"] == 0
    read = read_trials(tables[0])
    assert network["n"] == np.isin(conditions_of(read), network["conditions"]).sum()
    assert network["interval"][0] < network["pooled"]["kappa"] < network["interval"][1]
    # Answers of the simulated observers are independent once difficulty is accounted for.
    assert abs(network["pooled"]["kappa"]) < 0.15
    assert network["conditions"][0].startswith("blur 0.")


def test_conditions_are_tenths_of_visual_change_within_a_corruption(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    people = read_trials(tables[0])
    names = conditions_of(people)
    assert set(names[people.corruption == "none"]) == {"none"}
    rows = (people.corruption == "blur") & (people.visual_change >= 0.9)
    assert set(names[rows]) == {"blur 0.9"}


def test_kappa_is_none_where_it_is_undefined_and_counts_as_published_in_means() -> None:
    found = published(imported({"0.1": 1.0, "0.9": 0.0}, people=2, each=40))
    for entry in found["error_consistency"]:
        assert (entry["kappa"], entry["interval"], entry["shown"]) == (None, None, False) and entry["copied"] is None
    assert row_of(found, "humans")["error_consistency"] == 1.0


def test_kappa_is_written_of_few_pictures_and_shown_of_thirty() -> None:
    few = published(imported({"0.1": 0.7, "0.5": 0.5}, people=2, each=29))
    enough = published(imported({"0.1": 0.7, "0.5": 0.5}, people=2, each=30))
    assert row_of(few, "humans")["pairs"] == 0 and row_of(enough, "humans")["pairs"] == 1
    for found, shown in ((few, False), (enough, True)):
        for entry in found["error_consistency"]:
            assert entry["shown"] is shown and entry["interval"][0] < entry["kappa"] < entry["interval"][1]
            assert entry["observed"] == pytest.approx(entry["expected"] + entry["kappa"] * (1 - entry["expected"]))


def test_the_human_ceiling_has_a_kappa_where_people_share_pictures() -> None:
    shared = imported({"0.1": 0.8, "0.2": 0.7, "0.4": 0.5, "0.6": 0.3}, people=6, each=40, seed=2)
    ceiling = published(shared)["curves"][0]["ceiling"]
    assert ceiling["kappa_n"] == 160 and ceiling["kappa_interval"][0] < ceiling["kappa"] < ceiling["kappa_interval"][1]


@pytest.mark.parametrize(
    ("conditions", "control"),
    [
        ({"c100": 0.9, "c10": 0.6, "c05": 0.4}, "c100"),
        ({"inf": 0.9, "3.0": 0.85, "0.7": 0.4}, "inf"),
        ({"1-10-10": 0.9, "8-10-10": 0.6}, "1-10-10"),
        ({"cr": 0.9, "bw": 0.85}, "cr"),
        ({"0": 0.9, "pow": 0.8}, "0"),
        ({"0": 0.9}, None),
    ],
)
def test_unchanged_pictures_are_no_test_of_robustness(conditions: dict[str, float], control: str | None) -> None:
    people = read_trials(imported(conditions, people=2, each=40))
    scale = condition_scale("experiment", people, people.select(people.correct < 0))
    scales = {} if scale is None else {"experiment": scale}
    found, _ = agreement_entries(
        people, people.select(people.correct < 0), [], scales, FitSettings(seed=1, n_bootstrap=0)
    )
    assert set(found[0].conditions) == set(conditions) - {control}


def test_a_kappa_without_strata_has_its_own_name_and_is_no_ceiling() -> None:
    """Nine common pictures a condition: what the conditions share would be taken for what the people share."""
    sparse = imported({f"0.{k}": 0.95 - 0.1 * k for k in range(1, 9)}, people=2, each=9, seed=3)
    found = analyse(sparse, None, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    (people,) = [one for one in found.agreement if one.observer == "humans"]
    assert people.pooled is not None and people.interval is None
    assert not people.pooled.is_stratified and people.pooled.left_out == 0
    (ceiling,) = [one.ceiling for one in found.human_curves if one.property == "accuracy"]
    assert ceiling is not None and (ceiling.kappa, ceiling.kappa_interval, ceiling.kappa_n) == (None, None, 0)
    (table, *_) = chart_of(found, "agreement").tables
    cells = dict(zip([one.label for one in table.columns], table.rows[0], strict=True))
    assert cells["κ, pooled"] == (None, None, None)
    assert cells["κ, includes shared difficulty"] == people.pooled.kappa
    assert not [one for one in table.notes if "is the human ceiling" in one]
    assert [one for one in table.notes if "no ceiling" in one]
    (said,) = agreement_sentences(found)
    assert "kappa, which includes shared difficulty," in said and "[" not in said
    enough = imported({f"0.{k}": 0.95 - 0.1 * k for k in range(1, 9)}, people=2, each=10, seed=3)
    found = analyse(enough, None, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    (table, *_) = chart_of(found, "agreement").tables
    assert [one for one in table.notes if "is the human ceiling" in one]
