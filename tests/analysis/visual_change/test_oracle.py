"""The wavelet VIF against its definition on the public steerable pyramid: two programs, one number."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from analysis.corruptions import CORRUPTIONS, corrupt
from analysis.visual_change.vif import VifReference, grey, vif
from tests.analysis.visual_change import oracle, pairs
from tests.analysis.visual_change.photographs import needs_photographs, photograph

TOLERANCE = 1e-9


@pytest.mark.parametrize("name", sorted(pairs.PAIRS))
def test_equals_the_definition_on_made_pictures(name: str) -> None:
    reference, other = pairs.make_pair(name)
    assert vif(reference, other) == pytest.approx(oracle.vif(reference, other), abs=TOLERANCE)


def difference(picture: np.ndarray, name: str, strength: float, seed: int) -> float:
    corrupted = corrupt(picture, name, CORRUPTIONS[name].parameter_at(strength), seed)
    return abs(VifReference(picture).vif(corrupted) - oracle.vif(grey(picture), grey(corrupted)))


@needs_photographs
@pytest.mark.parametrize("number", range(len(CORRUPTIONS)))
def test_equals_the_definition_on_a_photograph_a_corruption(number: int) -> None:
    name = sorted(CORRUPTIONS)[number]
    assert difference(photograph(4 * number), name, (number + 1) / (len(CORRUPTIONS) + 1), number) <= TOLERANCE


@needs_photographs
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CORRUPTIONS))
def test_equals_the_definition_on_a_hundred_photographs(name: str) -> None:
    strengths = np.random.default_rng(1).random(100)
    differences = [difference(photograph(pair), name, float(strengths[pair]), pair) for pair in range(100)]
    assert max(differences) <= TOLERANCE


def test_grey_is_opencvs_rounding_of_the_luminance() -> None:
    # Hand computed: 0.299 * 200 + 0.587 * 100 + 0.114 * 50 = 124.2; 0.299 * 10 + 0.587 * 250 + 0.114 * 3 = 150.082.
    colours = np.zeros((96, 96, 3), dtype=np.uint8)
    colours[:48], colours[48:] = (200, 100, 50), (10, 250, 3)
    assert set(np.unique(grey(colours)).tolist()) == {124, 150}
    picture = np.random.default_rng(3).integers(0, 256, (128, 160, 3), dtype=np.uint8)
    exact = picture.astype(np.int64) @ np.array([299, 587, 114])
    # OpenCV counts in 2^-15: nearer than that to a half, it may round the other way.
    is_tie = np.abs(exact % 1000 - 500) <= 1000 * 255 * 3 / 2**15
    assert np.array_equal(grey(picture)[~is_tie], (exact[~is_tie] + 500) // 1000)
    assert np.array_equal(grey(picture), cv2.cvtColor(picture[..., ::-1].copy(), cv2.COLOR_BGR2GRAY))
