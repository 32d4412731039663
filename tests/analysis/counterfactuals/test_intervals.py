from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from analysis.claims.robustness import NO_VALIDATED, NONE_RIGHT
from analysis.counterfactuals.score import score_with_intervals, scores_by_class
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
    found = scores_by_class(labels, **everything)
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


@pytest.mark.parametrize("n", [3, 20, 150])
def test_intervals_of_shares_are_exact(n: int) -> None:
    found = score_with_intervals(**columns((n - 1, n - 1, 1), n))
    for name, (k, of) in {
        "sa": (n - 1, n), "vr": (n - 1, n), "ca": (1, n - 1), "sa_validated": (n - 1, n - 1)
    }.items():  # fmt: skip
        oracle = binomtest(k, of).proportion_ci(0.95, "exact")
        assert found.intervals[name] == pytest.approx((oracle.low, oracle.high), abs=1e-12)


def test_ratio_of_two_pictures_by_hand() -> None:
    """Both right and accepted, one kept: CA 1/2 [.0126, .9874], SA 1 [.1581, 1]; half counts leave no correlation.

    Lower: .0126 x .9874 / (.5 + sqrt(.25 - .0126 x .9874)) = .01242 / .98742 = .01258. Upper: with
    .1581 x 1.8419 = .29123, (.5 + sqrt(.25 - .01242 x .29123)) / .29123 = .99637 / .29123 = 3.4212.
    """
    found = score_with_intervals(clean_correct=[1, 1], valid=[1, 1], counterfactual_correct=[1, 0])
    assert found.intervals["ca"] == pytest.approx((0.0126, 0.9874), abs=1e-4)
    assert found.intervals["sa"] == pytest.approx((0.1581, 1.0), abs=1e-4)
    assert found.intervals["oor"] == pytest.approx((0.01258, 3.4212), abs=2e-4)
    assert found.intervals["oor_validated"] == pytest.approx((0.01258, 3.4212), abs=2e-4)


@pytest.mark.parametrize("kept_if", [(0.3, 0.05), (1.0, 0.0), (0.2, 0.6)])
def test_with_many_pictures_the_ratio_has_the_interval_of_the_delta_method(kept_if: tuple[float, float]) -> None:
    rng = np.random.default_rng(3)
    n = 40_000
    valid, clean = rng.random(n) < 0.7, rng.random(n) < 0.6
    kept = rng.random(n) < np.where(clean, *kept_if)
    found = score_with_intervals(clean_correct=clean, valid=valid, counterfactual_correct=kept)
    one = found.score
    influence = valid * (kept - one.ca) / one.vr / one.ca - (clean - one.sa) / one.sa
    half = 1.96 * influence.std() / np.sqrt(n) * one.oor
    low, high = found.intervals["oor"]
    assert (high - low) / 2 == pytest.approx(half, rel=0.03)
    assert (high + low) / 2 == pytest.approx(one.oor, abs=0.1 * half)


def test_intervals_cover_the_true_oor() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(200):
        n = 40
        clean, valid, kept = rng.random(n) < 0.9, rng.random(n) < 0.7, rng.random(n) < 0.45
        found = score_with_intervals(clean_correct=clean, valid=valid, counterfactual_correct=kept)
        low, high = found.intervals["oor"]
        covered += low <= 0.5 <= high
    assert covered >= 186


def test_intervals_survive_empty_cells() -> None:
    same = score_with_intervals(clean_correct=[1, 0] * 5, valid=[1] * 10, counterfactual_correct=[1, 0] * 5)
    assert same.score.oor == 1.0
    assert same.intervals["oor"][0] < 1 < same.intervals["oor"][1]
    alone = score_with_intervals(clean_correct=[1], valid=[1], counterfactual_correct=[1])
    assert all(low < high for low, high in alone.intervals.values()) and alone.reasons == {}
    nothing = score_with_intervals(clean_correct=[1, 1], valid=[1, 1], counterfactual_correct=[0, 0])
    assert nothing.intervals["oor"][0] == 0 < nothing.intervals["oor"][1]
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        score_with_intervals(clean_correct=[1], valid=[1], counterfactual_correct=[1], level=1)


def test_what_is_no_number_is_told_as_none_with_its_reason() -> None:
    found = score_with_intervals(clean_correct=[1, 1], valid=[0, 0], counterfactual_correct=[0, 0])
    assert math.isnan(found.intervals["oor"][0])
    told = found.to_dict()
    assert told["oor"] is None and told["intervals"]["oor"] == [None, None]
    assert told["reasons"]["oor"] == NO_VALIDATED
    blind = score_with_intervals(clean_correct=[0, 0], valid=[1, 1], counterfactual_correct=[1, 1]).to_dict()
    low, high = blind["intervals"]["oor"]
    assert blind["oor"] is None and high is None and 0 < low < 1
    assert blind["reasons"] == {"oor": NONE_RIGHT, "oor_validated": NONE_RIGHT}
    with pytest.raises(InvalidInput, match="3 labels"):
        scores_by_class(["a", "b", "c"], clean_correct=[1, 1], valid=[0, 0], counterfactual_correct=[0, 0])
