from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.compute import executor
from analysis.curves.fit import fit_curve
from analysis.curves.trials import CleanTrials
from analysis.errors import InvalidInput, TableRefused
from analysis.findings.pipeline import digest_of
from tests.analysis.curves.truths import gradual
from tests.analysis.findings.studies import WRONG_CLASSIFIER, analysed, imported, study
from tests.labels import of_the_sixteen


def find(entries: list[dict[str, Any]], **wanted: str) -> dict[str, Any]:
    found = [entry for entry in entries if all(entry[name] == value for name, value in wanted.items())]
    assert len(found) == 1
    return found[0]


def test_digest_of_the_answers_is_blind_to_their_dates(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials, predictions = tables
    dated = [trials.assign(server_received_at=when, client_epoch_ms=1.0) for when in ("2026-01-01", "2026-01-02")]
    assert digest_of(dated[0], predictions) == digest_of(dated[1], predictions)
    answered = dated[1].assign(response="cat")
    assert digest_of(answered, predictions) != digest_of(dated[1], predictions)


@pytest.mark.promise(6)
def test_names_and_shapes_that_others_rely_on(findings: dict[str, Any]) -> None:
    assert list(findings)[:3] == ["study", "version", "data_digest"]
    assert findings["study"] == "simulated"
    assert {"name": "P-0", "kind": "human"} in findings["observers"]
    assert {"name": WRONG_CLASSIFIER, "kind": "classifier"} in findings["observers"]
    assert findings["accuracy"][0].keys() >= {"observer", "condition", "trials", "correct", "accuracy"}
    assert findings["human_accuracy"][0].keys() >= {"condition", "mean_over_observers"}
    curve = {"population", "corruption", "property", "area", "interval", "level", "extrapolated", "bins"}
    assert all(entry.keys() >= curve for entry in findings["curves"])
    assert findings["curves"][0]["bins"][0].keys() >= {"v", "n", "rate"}
    compared = {"classifier", "corruption", "property", "hmri", "mrsi", "human_area", "classifier_area"}
    assert all(entry.keys() >= compared | {"human_lead", "classifier_lead"} for entry in findings["comparisons"])
    similar = {"pair", "property", "difference", "p", "overlap_83", "verdict"}
    assert all(entry.keys() >= similar for entry in findings["similarity"])
    assert findings["error_consistency"][0].keys() >= {"pair", "condition", "n", "kappa"}
    assert findings["discrimination"] == []
    assert {(entry["population"], entry["property"]) for entry in findings["curves"]} == {
        (population, subject) for population in ("humans", WRONG_CLASSIFIER) for subject in ("accuracy", "consistency")
    }


@pytest.mark.promise(6)
def test_result_is_plain_json_and_the_same_bytes_every_time(
    tables: tuple[pd.DataFrame, pd.DataFrame], findings: dict[str, Any]
) -> None:
    text = json.dumps(findings, allow_nan=False)
    again = analysed(
        tables[0].sample(frac=1, random_state=1),
        tables[1].sample(frac=1, random_state=2),
        study="simulated",
        seed=3,
        n_bootstrap=60,
    )
    assert json.dumps(again, allow_nan=False) == text


@pytest.mark.process
def test_two_processes_find_the_same_and_tell_how_far_they_are(
    tables: tuple[pd.DataFrame, pd.DataFrame], findings: dict[str, Any]
) -> None:
    told: list[tuple[int, int, str]] = []
    with executor("processes:2") as pool:
        again = analysed(
            *tables,
            study="simulated",
            **findings["settings"],
            executor=pool,
            report=lambda done, total, what: told.append((done, total, what)),
        )
    assert json.dumps(again) == json.dumps(findings)
    # Long parts tell again that they are still there, so that they can be cancelled.
    steps = [done for done, _, _ in told]
    assert steps == sorted(steps) and set(steps) == set(range(1, told[-1][1] + 1))
    assert {total for _, total, _ in told} == {told[-1][1]} and told[0][2] == "humans, blur"


def test_a_cancelled_analysis_ends_between_two_curves(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    class Cancelled(Exception):
        pass

    def cancel(done: int, total: int, what: str) -> None:
        if done == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        analysed(*tables, study="s", seed=1, n_bootstrap=0, report=cancel)


@of_the_sixteen
def test_the_human_curve_is_that_of_accepted_main_trials_with_a_soft_anchor(
    tables: tuple[pd.DataFrame, pd.DataFrame], findings: dict[str, Any]
) -> None:
    trials = tables[0]
    main, clean = trials[trials["corruption"] == "blur"], trials[trials["role"] == "clean"]
    fit = fit_curve(
        main["visual_change"],
        main["correct"],
        participants=main["participant"].to_numpy(),
        images=main["original"].to_numpy(),
        anchor="soft",
        clean=CleanTrials(
            clean["correct"],
            clean["participant"].to_numpy(),
            clean["original"].to_numpy(),
            categories=clean["category"].to_numpy(),
        ),
        categories=main["category"].to_numpy(),
        n_bootstrap=60,
        rng=3,
    )
    entry = find(findings["curves"], population="humans", corruption="blur", property="accuracy")
    assert entry["area"] == pytest.approx(fit.area, rel=1e-12)
    assert entry["interval"] == pytest.approx(list(fit.area_interval or ()), rel=1e-12)
    assert entry["anchor"] == {"kind": "soft", "value": clean["correct"].mean(), "n": len(clean)}
    assert sum(one["n"] for one in entry["bins"]) == len(main) == entry["n"]


def test_areas_recover_the_truth_and_the_worse_classifier_is_found_worse(findings: dict[str, Any]) -> None:
    truth = gradual(np.linspace(0, 1, 2001)).mean()
    for corruption in ("blur", "noise"):
        entry = find(findings["curves"], population="humans", corruption=corruption, property="accuracy")
        assert entry["area"] == pytest.approx(truth, abs=0.06)
        compared = find(findings["comparisons"], corruption=corruption, property="accuracy")
        assert compared["human_lead_interval"][0] > 0.1
        assert compared["exceeds"] == []
        assert compared["same_stimuli"] and not compared["borrowed"]
        assert compared["human_area"] * compared["hmri"] == pytest.approx(
            compared["classifier_area"] * (1 - compared["mrsi"]), abs=1e-12
        )


def test_a_classifier_starts_at_full_consistency_and_people_do_not(findings: dict[str, Any]) -> None:
    network = find(findings["curves"], population=WRONG_CLASSIFIER, corruption="blur", property="consistency")
    people = find(findings["curves"], population="humans", corruption="blur", property="consistency")
    assert network["anchor"]["kind"] == "fixed" and network["band"]["estimate"][0] == pytest.approx(1.0)
    assert people["anchor"]["kind"] == "soft" and people["band"]["estimate"][0] < 0.95
    assert any("partly by construction" in note for note in findings["notes"])


def test_golds_second_showings_and_rejected_sessions_enter_no_curve(
    tables: tuple[pd.DataFrame, pd.DataFrame], findings: dict[str, Any]
) -> None:
    trials, predictions = tables
    spoiled = trials[trials["role"] == "main"].head(200)
    extra = [
        trials[trials["role"] == "gold"].assign(position=900, response="dog", correct=False),
        spoiled.assign(position=lambda rows: rows["position"] + 1000, role="consistency_second", correct=False),
        spoiled.assign(participant="P-bad", session="S-bad", accepted=False, correct=False),
    ]
    changed = analysed(pd.concat([trials, *extra]), predictions, study="simulated", seed=3, n_bootstrap=0)
    for entry in changed["curves"]:
        before = find(findings["curves"], **{name: entry[name] for name in ("population", "corruption", "property")})
        assert entry["area"] == before["area"] and entry["n"] == before["n"]
    blur = find(changed["curves"], population="humans", corruption="blur", property="accuracy")
    assert blur["all_sessions"]["n"] > blur["n"] and blur["all_sessions"]["area"] < blur["area"]
    assert not any(entry["observer"] == "P-bad" for entry in changed["accuracy"])


def test_classifiers_are_scored_on_what_people_saw_and_beside_it_on_all(findings: dict[str, Any]) -> None:
    entry = find(findings["curves"], population=WRONG_CLASSIFIER, corruption="blur", property="accuracy")
    people = find(findings["curves"], population="humans", corruption="blur", property="accuracy")
    assert entry["n"] == people["n"] and entry["same_stimuli"]
    assert entry["full_set"]["n"] == entry["n"] + 1
    noise = find(findings["curves"], population=WRONG_CLASSIFIER, corruption="noise", property="accuracy")
    assert noise["full_set"] is None


def test_misses_are_wrong_counted_and_also_dropped(
    tables: tuple[pd.DataFrame, pd.DataFrame], findings: dict[str, Any]
) -> None:
    trials = tables[0]
    blur = trials[trials["corruption"] == "blur"]
    entry = find(findings["curves"], population="humans", corruption="blur", property="accuracy")
    missed = int((blur["response"] == "na").sum())
    assert missed > 0 and entry["misses"]["n"] == missed
    assert entry["misses"]["share"] == missed / len(blur)
    assert entry["misses"]["dropped"]["n"] == len(blur) - missed
    assert entry["misses"]["dropped"]["area"] > entry["area"]
    compared = find(findings["comparisons"], corruption="blur", property="accuracy")
    assert compared["misses_dropped"]["hmri"] < compared["hmri"]


def test_the_human_ceiling_is_high_but_not_one(findings: dict[str, Any]) -> None:
    entry = find(findings["curves"], population="humans", corruption="blur", property="accuracy")
    assert 0.85 < entry["ceiling"]["hmri"] < 1.0
    assert entry["ceiling"]["hmri"] > find(findings["comparisons"], corruption="blur", property="accuracy")["hmri"]


@pytest.mark.verify
def test_a_borrowed_human_curve_is_labelled(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials, predictions = tables
    only_blur = trials[trials["corruption"] != "noise"]
    found = analysed(only_blur, predictions, study="s", seed=1, n_bootstrap=0, borrow={"noise": "blur"})
    entry = find(found["comparisons"], corruption="noise", property="accuracy")
    assert entry["borrowed"] and entry["human_curve"] == "blur" and not entry["same_stimuli"]
    both = analysed(trials, predictions, study="s", seed=1, n_bootstrap=0, borrow={"noise": "blur"})
    shown = [e for e in both["comparisons"] if e["corruption"] == "noise" and e["property"] == "accuracy"]
    assert [entry["borrowed"] for entry in shown] == [False, True]


@pytest.mark.verify
def test_a_headline_resting_on_extrapolation_is_withheld(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials, predictions = tables
    low = trials[trials["visual_change"] < 0.6]
    found = analysed(low, predictions, study="s", seed=1, n_bootstrap=20)
    entry = find(found["curves"], population="humans", corruption="blur", property="accuracy")
    assert entry["withheld"] and entry["extrapolated"] == pytest.approx(0.4)
    assert entry["measured"]["range"] == [0.0, 0.6]
    assert entry["measured"]["interval"][0] < entry["measured"]["mean"] < entry["measured"]["interval"][1]
    assert entry["area_bounds"][0] < entry["area"] < entry["area_bounds"][1]
    compared = find(found["comparisons"], corruption="blur", property="accuracy")
    assert compared["withheld"] and compared["common_range"]["range"] == [0.0, 0.6]


@pytest.mark.promise(9)
def test_shifted_corruptions_are_told_apart_and_equal_ones_never_called_different(findings: dict[str, Any]) -> None:
    alike = find(findings["similarity"], property="accuracy")
    assert alike["pair"] == ["blur", "noise"] and alike["verdict"] != "different"
    assert alike["answers_to_decide"] is None or alike["answers_to_decide"] > alike["answers"]
    apart = analysed(*study(2, shift=0.3), study="s", seed=1, n_bootstrap=60)
    assert find(apart["similarity"], property="accuracy")["verdict"] == "different"
    assert find(apart["classes"], population="humans", property="accuracy")["classes"] == [["blur"], ["noise"]]


def test_another_label_space_is_shown_but_not_compared(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials, predictions = tables
    found = analysed(trials, predictions.assign(label_space=1000), study="s", seed=1, n_bootstrap=0)
    assert found["comparisons"] == []
    assert find(found["curves"], population=WRONG_CLASSIFIER, corruption="blur", property="accuracy")["area"] > 0
    assert any("1000-way" in note for note in found["notes"])


def test_people_alone_and_classifiers_alone_are_analysed(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials, predictions = tables
    people = analysed(trials, study="s", seed=1, n_bootstrap=0)
    assert people["comparisons"] == [] and people["curves"]
    networks = analysed(trials.head(0), predictions, study="s", seed=1, n_bootstrap=0)
    assert {entry["population"] for entry in networks["curves"]} == {WRONG_CLASSIFIER}
    assert not networks["curves"][0]["same_stimuli"]
    nothing = analysed(trials.head(0), study="s", seed=1)
    assert nothing["curves"] == [] and nothing["observers"] == []


def test_imported_conditions_become_an_axis_of_their_own() -> None:
    trials = imported({"c100": 0.95, "c50": 0.9, "c30": 0.7, "c10": 0.3, "c05": 0.1})
    found = analysed(trials, study="contrast", seed=1, n_bootstrap=20)
    entry = find(found["curves"], population="humans", property="accuracy")
    assert entry["abscissa"] == "condition"
    assert [round(one["v"], 2) for one in entry["bins"]] == [0.0, 0.5, 0.7, 0.9, 0.95]
    assert any("flipped" in note for note in found["notes"])
    assert [entry["condition"] for entry in found["human_accuracy"]] == ["c05", "c10", "c30", "c50", "c100"]
    assert len(found["error_consistency"]) == 6 * 5 and found["similarity"] == []


def test_conditions_that_are_no_numbers_give_accuracies_and_no_curve() -> None:
    found = analysed(imported({"1-0-10": 0.9, "8-0-10": 0.5}), study="eidolon", seed=1)
    assert found["curves"] == [] and len(found["accuracy"]) == 8
    assert any("no numbers" in note for note in found["notes"])


def test_sessions_are_handed_through(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    counts = {"opened": 60, "accepted": 41, "excluded": {"timing": 2}}
    found = analysed(tables[0], study="s", seed=1, n_bootstrap=0, sessions=counts)
    assert found["sessions"] == counts


def test_bad_tables_are_refused_with_the_place(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials, predictions = tables
    with pytest.raises(TableRefused, match="'stimulus'"):
        analysed(trials.drop(columns="stimulus"), study="s", seed=1)
    with pytest.raises(TableRefused, match="label spaces"):
        mixed = predictions.assign(label_space=[16, *[1000] * (len(predictions) - 1)])
        analysed(trials, mixed, study="s", seed=1)
    with pytest.raises(TableRefused, match="visual_change nor condition"):
        analysed(trials.assign(visual_change=None), study="s", seed=1)
    with pytest.raises(InvalidInput):
        analysed(trials, study="s", seed=-1)


@pytest.mark.process
def test_importing_the_analysis_pulls_in_nothing_heavy() -> None:
    heavy = ("pandas", "scipy.stats", "matplotlib", "torch", "statsmodels")
    code = (
        "import sys, analysis.findings, analysis.similarity, analysis.metrics, analysis.agreement\n"
        f"sys.stdout.write(', '.join(name for name in {heavy!r} if name in sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == ""


@pytest.mark.verify
def test_answers_that_rise_are_named_at_their_curve(
    tables: tuple[pd.DataFrame, pd.DataFrame], findings: dict[str, Any]
) -> None:
    assert not any("rise" in entry for entry in findings["curves"])
    trials, predictions = tables
    middle = (trials["corruption"] == "blur") & trials["visual_change"].between(0.2, 0.5)
    turned = trials.assign(correct=trials["correct"].astype(bool) & ~middle)
    found = analysed(turned, predictions, study="s", seed=3, n_bootstrap=2, sensitivity=False)
    risen = [entry for entry in found["curves"] if "rise" in entry]
    assert ("humans", "blur", "accuracy") in {(one["population"], one["corruption"], one["property"]) for one in risen}
    assert all(one["corruption"] == "blur" and one["population"] == "humans" for one in risen)
    (entry,) = [one for one in risen if one["property"] == "accuracy"]
    (start, end), (low, high) = entry["rise"]["earlier"], entry["rise"]["later"]
    assert 0.1 <= start < end <= low + 1e-9 and 0.45 <= low < high <= 0.9
    assert entry["rise"]["rise"] > 0.3 and entry["rise"]["statement"].startswith("Performance rises: ")
    quiet = analysed(turned, predictions, study="s", seed=3, n_bootstrap=0, sensitivity=False)
    assert not any("rise" in one for one in quiet["curves"])


@pytest.mark.verify
def test_a_category_that_was_not_shown_everywhere_is_named_and_leaves_the_area_open() -> None:
    trials, predictions = study(6, people=40, trials_each=100)
    category = trials["category"].iloc[0]
    kept = ~((trials["category"] == category) & (trials["visual_change"] > 0.6))
    found = analysed(trials[kept], predictions, study="s", seed=1, n_bootstrap=2, sensitivity=False)
    entry = find(found["curves"], population="humans", corruption="blur", property="accuracy")
    ((named, (start, end)),) = [(one["category"], one["range"]) for one in entry["category_gaps"]]
    assert (named, end) == (category, 1.0) and 0.55 <= start <= 0.6
    assert any(text.startswith(f"Not shown: {category} from") for text in entry["caveats"])
    lower, upper = entry["interval"]
    assert lower <= entry["area_bounds"][0] < entry["area"] <= entry["area_bounds"][1] <= upper
    pooled = analysed(trials[kept], predictions, study="s", seed=1, n_bootstrap=2, sensitivity=False, estimand="people")
    assert "category_gaps" not in find(pooled["curves"], population="humans", corruption="blur", property="accuracy")
