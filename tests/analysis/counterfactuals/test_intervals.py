from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from analysis.counterfactuals.intervals import score_with_intervals, scores_by_class
from analysis.errors import InvalidInput

#: OOR paper, Table 11: class, right on clean, valid, right on the counterfactual; 150 pictures each.
TABLE_11 = {
    "Dog": (140, 143, 24), "Cat": (145, 141, 43), "Frog": (128, 121, 21), "Turtle": (127, 118, 29),
    "Bird": (137, 144, 37), "Primate": (144, 72, 43), "Fish": (141, 115, 49), "Crab": (144, 131, 25),
    "Insect": (140, 117, 37),
}  # fmt: skip


def columns(counts: tuple[int, int, int], n: int = 150) -> dict[str, np.ndarray]:
    clean, valid, kept = (np.arange(n) < count for count in counts)
    return {"clean_correct": clean, "valid": valid, "counterfactual_correct": kept}


def table() -> tuple[list[str], dict[str, np.ndarray]]:
    rows = [columns(counts) for counts in TABLE_11.values()]
    labels = [name for name in TABLE_11 for _ in range(150)]
    return labels, {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def test_every_class_row_of_table_11_from_its_counts() -> None:
    labels, everything = table()
    found = scores_by_class(labels, **everything, n_bootstrap=200)
    for name, (clean, valid, kept) in TABLE_11.items():
        row = found.classes[name].score
        assert (row.sa, row.vr, row.ca) == (clean / 150, valid / 150, kept / valid)
        assert row.oor == pytest.approx(kept / valid / (clean / 150), abs=1e-12)
    pooled = found.pooled.score
    assert [round(100 * value, 2) for value in (pooled.sa, pooled.vr, pooled.ca, pooled.oor)] == [
        92.30, 81.63, 27.95, 30.28,
    ]  # fmt: skip
    assert round(100 * found.mean_class_oor, 2) == 32.04


def test_counts_are_those_of_the_reference_file() -> None:
    folder = os.environ.get("REFERENCE_DATA")
    path = Path(folder).parent / "reference" / "reference-numbers.json" if folder else None
    if path is None or not path.is_file():
        pytest.skip("REFERENCE_DATA is not set, or has no reference-numbers.json beside it")
    told = json.loads(path.read_text())["oor_table11"]
    rows = zip(told["classes"], told["clean_correct"], told["valid"], told["counterfactual_correct"], strict=True)
    assert {name: counts for name, *counts in rows} == {name: list(counts) for name, counts in TABLE_11.items()}


def test_interval_of_a_share_is_that_of_the_binomial() -> None:
    from scipy.stats import binom

    found = score_with_intervals(**columns((600, 500, 200), 1000), n_bootstrap=20_000, seed=1)
    low, high = found.intervals["sa"]
    assert (low, high) == pytest.approx(binom.ppf([0.025, 0.975], 1000, 0.6) / 1000, abs=0.002)


def test_resampling_counts_equals_resampling_pictures() -> None:
    rng = np.random.default_rng(0)
    clean, valid, kept = (rng.random(120) < share for share in (0.9, 0.8, 0.4))
    found = score_with_intervals(
        clean_correct=clean, valid=valid, counterfactual_correct=kept, n_bootstrap=4000, seed=2
    )
    brute = []
    for _ in range(4000):
        chosen = rng.integers(120, size=120)
        accepted = valid[chosen]
        brute.append((kept[chosen] & accepted).sum() / accepted.sum() / clean[chosen].mean())
    assert found.intervals["oor"] == pytest.approx(np.quantile(brute, [0.025, 0.975]), abs=0.015)


def test_intervals_cover_the_true_oor() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for seed in range(200):
        n = 200
        clean, valid, kept = rng.random(n) < 0.9, rng.random(n) < 0.7, rng.random(n) < 0.45
        interval = score_with_intervals(
            clean_correct=clean, valid=valid, counterfactual_correct=kept, n_bootstrap=300, seed=seed
        ).intervals["oor"]
        covered += interval[0] <= 0.5 <= interval[1]
    assert 180 <= covered <= 199


def test_what_is_no_number_is_told_as_none() -> None:
    found = score_with_intervals(clean_correct=[1, 1], valid=[0, 0], counterfactual_correct=[0, 0], n_bootstrap=100)
    assert math.isnan(found.intervals["oor"][0])
    assert found.to_dict()["oor"] is None and found.to_dict()["intervals"]["oor"] == [None, None]
    with pytest.raises(InvalidInput, match="3 labels"):
        scores_by_class(["a", "b", "c"], clean_correct=[1, 1], valid=[0, 0], counterfactual_correct=[0, 0])
