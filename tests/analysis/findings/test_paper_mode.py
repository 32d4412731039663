"""Published curves as a setting: every number is that of the curve fitted apart, and verdicts are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.claims.curves import NOT_OURS
from analysis.curves.fit import fit_curve
from analysis.curves.trials import CleanTrials
from analysis.errors import InvalidInput
from analysis.findings.model.findings import Findings
from analysis.metrics import compare
from analysis.reporting.results_text import comparison_sentences, curve_sentences
from analysis.study.change_weights import ChangeWeights
from tests.analysis.findings.studies import WRONG_CLASSIFIER, analysed, study
from tests.analysis.findings.test_analyse import find

SNOW = ((0.0, 0.0), (0.6, 0.0), (0.6, 1.0), (1.0, 1.0))
ASKED = {"study": "s", "seed": 3, "n_bootstrap": 20, "sensitivity": False}


@pytest.fixture(scope="module")
def large() -> tuple[pd.DataFrame, pd.DataFrame]:
    return study(2, people=30, trials_each=100, clean_answers=25)


@pytest.fixture(scope="module")
def usual(large: tuple[pd.DataFrame, pd.DataFrame]) -> dict[str, Any]:
    return analysed(*large, **ASKED)


@pytest.fixture(scope="module")
def published(large: tuple[pd.DataFrame, pd.DataFrame]) -> dict[str, Any]:
    return analysed(*large, **ASKED, curve="paper")


def people_of(trials: pd.DataFrame, corruption: str) -> pd.DataFrame:
    return trials[(trials["corruption"] == corruption) & (trials["role"] == "main")]


def test_the_curve_is_algorithm_1_on_pooled_answers(large: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials, predictions = large
    found = analysed(trials, predictions, **ASKED | {"n_bootstrap": 0}, curve="paper", estimand="answers")
    clean = trials[trials["role"] == "clean"]
    human, model = find(found["curves"], population="humans", corruption="blur", property="accuracy"), None
    own = people_of(trials, "blur")
    people = fit_curve(
        own["visual_change"],
        own["correct"],
        method="paper",
        anchor="soft",
        clean=CleanTrials(clean["correct"].to_numpy(dtype=float)),
    )
    assert human["area"] == people.area and human["anchor"]["value"] == clean["correct"].mean()
    assert [one["n"] for one in human["bins"]] == [one.n for one in people.bins]
    # j = floor(39 v), counted apart; bins of fewer than 20 answers are none.
    counts = np.bincount(np.floor(39 * own["visual_change"].to_numpy(dtype=float)).astype(int))
    assert [one["n"] for one in human["bins"]] == counts[counts >= 20].tolist()
    theirs = predictions[predictions["stimulus"].isin(own["stimulus"])]
    shown = predictions[predictions["stimulus"].isin(clean["stimulus"])]
    model = fit_curve(
        theirs["visual_change"],
        theirs["response"] == theirs["category"],
        method="paper",
        anchor="soft",
        clean=CleanTrials((shown["response"] == shown["category"]).to_numpy(dtype=float)),
    )
    compared = find(found["comparisons"], classifier=WRONG_CLASSIFIER, corruption="blur", property="accuracy")
    apart = compare(people, model)
    assert compared["hmri"] == pytest.approx(apart.hmri, abs=1e-12)
    assert compared["mrsi"] == pytest.approx(apart.mrsi, abs=1e-12)
    of_model = find(found["curves"], population=WRONG_CLASSIFIER, corruption="blur", property="consistency")
    assert of_model["anchor"]["value"] == 1.0 and of_model["band"]["estimate"][0] == 1.0


@pytest.mark.verify
def test_no_interval_stands_around_a_published_curve_and_ours_stands_beside(
    usual: dict[str, Any], published: dict[str, Any]
) -> None:
    assert published["settings"]["curve"] == "paper" and usual["settings"]["curve"] == "spline"
    ours = {tuple(one[name] for name in ("population", "corruption", "property")): one for one in usual["curves"]}
    assert len(ours) == len(published["curves"]) == 8
    for one in published["curves"]:
        own = ours[tuple(one[name] for name in ("population", "corruption", "property"))]
        assert one["interval"] is None and one["standard_error"] is None and one["measured"]["interval"] is None
        assert not {"lower", "upper", "simultaneous_lower"} & one["band"].keys()
        assert all(threshold["interval"] is None for threshold in one["thresholds"])
        # People's bands, by which curves are said to overlap; of models the area is enough.
        bands = {"band": own["band"]} if one["population"] == "humans" else {}
        assert one["own"] == {"area": own["area"], "interval": own["interval"], **bands} and "own" not in own
        assert one["area"] != own["area"] and one["area"] == pytest.approx(own["area"], abs=0.03)
    for one in (*published["comparisons"], *published["leaderboard"]):
        assert one["hmri_interval"] is None and one["mrsi_interval"] is None


@pytest.mark.verify
def test_verdicts_similarity_and_twins_are_the_same_with_every_curve(
    usual: dict[str, Any], published: dict[str, Any]
) -> None:
    for name in ("similarity", "classifier_similarity", "classes", "error_consistency", "agreement", "discrimination"):
        assert published[name] == usual[name]
    for name in ("comparisons", "leaderboard"):
        verdicts = [[one.get(key) for key in ("verdict", "ranks", "twin")] for one in usual[name]]
        assert [[one.get(key) for key in ("verdict", "ranks", "twin")] for one in published[name]] == verdicts
    ceilings = [
        [one["ceiling"]["twin"] for one in found["curves"] if "twin" in (one.get("ceiling") or {})]
        for found in (usual, published)
    ]
    assert ceilings[0] == ceilings[1] and ceilings[0]


def test_the_authors_program_is_named_and_has_no_anchor(large: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials, predictions = large
    found = analysed(trials, predictions, **ASKED | {"n_bootstrap": 0}, curve="paper-code", estimand="answers")
    own = people_of(trials, "noise")
    curve = find(found["curves"], population="humans", corruption="noise", property="accuracy")
    assert curve["area"] == fit_curve(own["visual_change"], own["correct"], method="paper-code").area
    assert curve["anchor"]["kind"] == "none"
    text = " ".join(curve_sentences(Findings.model_validate(found)))
    assert "counts an empty bin as accuracy 0 (for replication alone)" in text and NOT_OURS["paper-code"] in text


@pytest.mark.verify
def test_the_report_says_which_curve_it_is(usual: dict[str, Any], published: dict[str, Any]) -> None:
    found = Findings.model_validate(published)
    text = " ".join(curve_sentences(found))
    assert "by the published method (VCR, Algorithm 1" in text and NOT_OURS["paper"] in text
    assert "Intervals have level" not in text and "B-spline" not in text
    assert NOT_OURS["paper"] not in " ".join(curve_sentences(Findings.model_validate(usual)))


@pytest.mark.verify
def test_too_few_answers_give_no_published_curve_but_the_reason_and_the_verdicts() -> None:
    few = study(1, people=6, trials_each=60)
    found, usual = (analysed(*few, **ASKED, curve=kind) for kind in ("paper", "spline"))
    assert not found["curves"] and usual["curves"]
    assert sum("No bin holds the 20 trials" in note for note in found["notes"]) == len(usual["curves"])
    assert found["similarity"] == usual["similarity"] and found["classes"] == usual["classes"]


@pytest.mark.verify
def test_weights_stand_beside_equal_ones_which_stay_to_the_bit(
    large: tuple[pd.DataFrame, pd.DataFrame], usual: dict[str, Any]
) -> None:
    found = analysed(*large, **ASKED, change_weights=SNOW, change_weights_name="snow")
    parts = {"curves": ("weighted",), "comparisons": ("weighted",), "leaderboard": ("weighted",)}
    for part, names in parts.items():
        for one, own in zip(found[part], usual[part], strict=True):
            assert {key: value for key, value in one.items() if key not in names} == own
    human = find(found["curves"], population="humans", corruption="blur", property="accuracy")
    grid, heights = np.array(human["band"]["v"]), np.array(human["band"]["estimate"])
    # The mean from 0.6 on, by the trapezoid rule on hundredths.
    mean = np.trapezoid(heights[grid >= 0.6 - 1e-9], grid[grid >= 0.6 - 1e-9]) / 0.4
    weighted = human["weighted"]
    assert weighted["value"] == pytest.approx(mean, abs=1e-3) and weighted["value"] < human["area"]
    assert weighted["interval"][0] < weighted["value"] < weighted["interval"][1]
    assert weighted["extrapolated"] < 0.1
    compared = find(found["comparisons"], classifier=WRONG_CLASSIFIER, corruption="blur", property="accuracy")
    assert compared["weighted"]["human_area"] == pytest.approx(weighted["value"], abs=1e-12)
    low, high = compared["weighted"]["hmri_interval"]
    assert low <= compared["weighted"]["hmri"] <= high
    leader = next(one for one in found["leaderboard"] if one["property"] == "accuracy")
    means = [one["weighted"]["hmri"] for one in found["comparisons"] if one["property"] == "accuracy"]
    assert leader["weighted"]["hmri"] == pytest.approx(np.mean(means), abs=1e-12)
    assert leader["weighted"]["hmri_interval"][0] <= leader["weighted"]["hmri"]
    told = Findings.model_validate(found)
    assert f"(table {ChangeWeights(SNOW).digest})" in told.weights_note and "snow: 0 at Δv 0" in told.weights_note
    assert "Under snow: " in " ".join(curve_sentences(told))
    assert "(under snow: HMRI " in " ".join(comparison_sentences(told))


@pytest.mark.verify
def test_equal_weights_change_nothing_but_rounding(large: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    found = analysed(*large, **ASKED, change_weights=((0.0, 1.0), (1.0, 1.0)))
    for curve in found["curves"]:
        assert curve["weighted"]["value"] == pytest.approx(curve["area"], abs=1e-12)
        assert curve["weighted"]["interval"] == pytest.approx(curve["interval"], abs=1e-12)
    for one in found["leaderboard"]:
        for name in ("hmri", "mrsi", "human_area", "hmri_interval", "mrsi_interval", "classifier_area_interval"):
            assert one["weighted"][name] == pytest.approx(one[name], abs=1e-9)


def test_settings_that_are_none_are_refused(large: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    with pytest.raises(ValueError, match="curve"):
        analysed(*large, **ASKED, curve="published")
    with pytest.raises(InvalidInput, match="Row 2 has the weight -1"):
        analysed(*large, **ASKED, change_weights=((0.0, 1.0), (1.0, -1.0)))


DOCS = Path(__file__).resolve().parents[3] / "docs" / "paper-mode.md"


def test_any_property_as_the_documentation_has_it(
    large: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No vehicle is taken for anything else: the mean of what holds, and HMRI of two curves fitted apart."""
    trials, predictions = (table.replace({"corruption": {"noise": "frost"}}) for table in large)
    (tmp_path / "export").mkdir()
    trials.to_parquet(tmp_path / "export" / "trials.parquet")
    predictions.to_parquet(tmp_path / "export" / "predictions.parquet")
    section = DOCS.read_text(encoding="utf-8").split("## Any property")[1].split("## Two ways")[0]
    code = section.split("```python\n")[1].split("```")[0].replace("n_bootstrap=1000", "n_bootstrap=20")
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(code, found)  # noqa: S102  the documentation's own lines
    own = trials[(trials["corruption"] == "frost") & (trials["role"] == "main")]
    vehicles = own["category"].isin(["car", "truck"])
    holds = (own["response"] == own["category"]) | (vehicles & own["response"].isin(["car", "truck"]))
    assert holds.mean() > own["correct"].mean()
    assert found["people"].area == fit_curve(own["visual_change"], holds, images=own["original"]).area
    low, high = found["people"].area_interval
    assert low < found["people"].area < high
    assert 0.0 < compare(found["people"], found["model"]).hmri < 1.0
