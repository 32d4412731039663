from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.counterfactuals.score import score
from analysis.errors import InvalidInput, TooFewResponses

#: OOR paper, Table 11 (ResNet-18, nine classes, 150 pictures each) as counts.
CLEAN_CORRECT = [140, 145, 128, 127, 137, 144, 141, 144, 140]
VALID = [143, 141, 121, 118, 144, 72, 115, 131, 117]
COUNTERFACTUAL_CORRECT = [24, 43, 21, 29, 37, 43, 49, 25, 37]


def columns() -> dict[str, np.ndarray]:
    def first(counts: list[int]) -> np.ndarray:
        return np.concatenate([np.arange(150) < count for count in counts])

    return {
        "clean_correct": first(CLEAN_CORRECT),
        "valid": first(VALID),
        "counterfactual_correct": first(COUNTERFACTUAL_CORRECT),
    }


def test_reproduces_table_11() -> None:
    found = score(**columns())
    assert found.n == 1350 and found.n_valid == 1102
    assert found.sa == 1246 / 1350
    assert found.vr == 1102 / 1350
    assert found.ca == 308 / 1102
    assert round(100 * found.sa, 2) == 92.30
    assert round(100 * found.vr, 2) == 81.63
    assert round(100 * found.oor, 2) == 30.28


def test_answers_to_rejected_counterfactuals_count_for_nothing() -> None:
    base = columns()
    changed = dict(base, counterfactual_correct=base["counterfactual_correct"] | ~base["valid"])
    assert score(**changed).ca == score(**base).ca


def test_second_form_takes_the_clean_accuracy_of_the_validated() -> None:
    found = score(
        clean_correct=[True, True, False, True],
        valid=[True, False, True, False],
        counterfactual_correct=[True, True, True, False],
    )
    assert (found.sa, found.vr, found.ca, found.sa_validated) == (0.75, 0.5, 1.0, 0.5)
    assert found.oor == pytest.approx(4 / 3)
    assert found.oor_validated == 2.0


def test_nothing_validated_gives_no_number() -> None:
    found = score(clean_correct=[True], valid=[False], counterfactual_correct=[False])
    assert math.isnan(found.ca) and math.isnan(found.oor) and found.vr == 0.0


def test_bad_columns_are_refused() -> None:
    with pytest.raises(InvalidInput, match="2, 1 and 1"):
        score(clean_correct=[1, 0], valid=[1], counterfactual_correct=[1])
    with pytest.raises(InvalidInput, match="valid"):
        score(clean_correct=[1], valid=[2], counterfactual_correct=[1])
    with pytest.raises(TooFewResponses):
        score(clean_correct=[], valid=[], counterfactual_correct=[])
