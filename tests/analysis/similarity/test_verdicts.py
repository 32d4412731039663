from __future__ import annotations

import warnings

import numpy as np
import pytest

from analysis.errors import InvalidInput
from analysis.similarity import holm, verdict_of


def test_hand_computed_correction() -> None:
    """0.01 x 4, 0.02 x 3, 0.03 x 2 (raised to 0.06 by the one before it), 0.04 x 1 (likewise)."""
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_equals_statsmodels() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.stats.multitest import multipletests
    p = np.random.default_rng(0).random(91) ** 3
    assert holm(p.tolist()) == pytest.approx(multipletests(p, method="holm")[1].tolist())


def test_no_probability_is_refused() -> None:
    with pytest.raises(InvalidInput):
        holm([1.2])


def test_three_words() -> None:
    assert verdict_of(equivalent=True, different=True) == "equivalent"
    assert verdict_of(equivalent=False, different=True) == "different"
    assert verdict_of(equivalent=False, different=False) == "undecided"
