"""Numbers that others published, made again through the whole path: files, findings, entries of the JSON."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.published_trials import read_published_trials
from analysis.visual_change.coverage import PUBLISHED_SHARES, measure_paper_coverage
from tests.analysis.findings.studies import analysed
from tests.labels import of_the_sixteen

FOLDER = Path(os.environ.get("REFERENCE_DATA", "")) / "published"
needs_trials = pytest.mark.skipif(
    "REFERENCE_DATA" not in os.environ or not FOLDER.is_dir(),
    reason="REFERENCE_DATA names no folder with published trials",
)
#: Title in the published table -> observer in the files.
NETWORKS = {"AlexNet": "alexnet", "GoogLeNet": "googlenet", "VGG-16": "vgg"}


@pytest.fixture(scope="module")
def noise() -> dict[str, Any]:
    """Geirhos et al. 2018, noise experiment: five people and three networks at eight noise widths."""
    published = read_published_trials(sorted((FOLDER / "noise-experiment").glob("*.csv")), study="noise")
    human = published.trials["participant"].map(lambda name: published.observers[name] == "human")
    networks = published.trials[~human].rename(columns={"participant": "classifier"}).assign(label_space=16)
    return analysed(published.trials[human], networks, study="noise", seed=1, n_bootstrap=50)


@of_the_sixteen
@needs_trials
def test_all_32_published_accuracies_to_a_twenty_thousandth_of_a_point(noise: dict[str, Any]) -> None:
    header, *lines = (FOLDER / "noise-experiment_accuracies.txt").read_text().splitlines()
    titles = [title.strip('"') for title in header.split()]
    means = {entry["condition"]: entry["mean_over_observers"] for entry in noise["human_accuracy"]}
    rates = {(entry["observer"], entry["condition"]): entry["accuracy"] for entry in noise["accuracy"]}
    compared = 0
    for line in lines:
        cells = dict(zip(titles, map(float, line.split()), strict=True))
        condition = f"{cells.pop('condition'):.2f}"
        for title, percent in cells.items():
            found = means[condition] if title.startswith("human") else rates[NETWORKS[title], condition]
            assert abs(100 * found - percent) <= 5e-5, (condition, title)
            compared += 1
    assert compared == 32


@of_the_sixteen
@needs_trials
def test_areas_over_noise_width_rank_observers_as_published(noise: dict[str, Any]) -> None:
    areas = {entry["population"]: entry["area"] for entry in noise["curves"] if entry["property"] == "accuracy"}
    assert areas["humans"] > areas["vgg"] > areas["googlenet"] > areas["alexnet"]
    assert {entry["abscissa"] for entry in noise["curves"]} == {"condition"}
    best = noise["leaderboard"][0]
    assert best["classifier"] == "vgg" and best["hmri_interval"][1] < 0.75


@of_the_sixteen
@needs_trials
def test_kappa_on_sparse_overlap_comes_with_its_n_and_a_wide_interval(noise: dict[str, Any]) -> None:
    """Each person saw other pictures: the mean over pairs is no number here, and the pooled kappa a vague one."""
    rows = {row["observer"]: row for row in noise["agreement"]}
    people = rows["humans"]
    # 0.00 is the control; in 0.60 and 0.90 people are right in at most 20 %.
    assert people["conditions"] == ["0.03", "0.05", "0.10", "0.20", "0.35"]
    assert (people["pairs"], people["error_consistency"]) == (0, None)
    assert people["ood_accuracy"] == pytest.approx(0.67875)
    low, high = people["interval"]
    # one condition has ten pictures that two people saw; the 26 of the others are too few to know chance by
    assert people["n"] == 11 and people["pooled"]["left_out"] == 26 and low < -0.4 < 0 < high
    assert rows["vgg"]["n"] == 132 and rows["vgg"]["pooled"]["kappa"] > rows["alexnet"]["pooled"]["kappa"]


@of_the_sixteen
@needs_trials
def test_misses_of_the_lab_experiment_are_counted(noise: dict[str, Any]) -> None:
    entry = next(one for one in noise["curves"] if one["population"] == "humans")
    assert entry["misses"]["n"] > 0 and entry["misses"]["dropped"]["area"] > entry["area"]
    assert [one["choice"] for one in noise["sensitivity"]] == ["as reported", "misses dropped"]
    median = [one["median_ms"] for one in noise["response_times"][0]["bins"]]
    assert 400 < min(median) < max(median) < 1500


def test_every_published_coverage_is_a_multiple_of_one_39th_and_of_nothing_else() -> None:
    """VCR, supplement, Table 2: the text says 40 bins, the numbers say 39."""
    shares = np.array(list(PUBLISHED_SHARES.values()))

    def fits(denominator: int) -> bool:
        multiples = np.round(np.round(shares * denominator) / denominator, 3)
        return bool(np.all(np.abs(multiples - shares) < 5e-4))

    assert [bins for bins in range(30, 60) if fits(bins)] == [39]
    for share in shares:
        covered = round(float(share) * 39)
        changes = np.repeat((np.arange(covered) + 0.5) / 39, 20)
        assert measure_paper_coverage(changes).covered_share == pytest.approx(share, abs=5e-4)
