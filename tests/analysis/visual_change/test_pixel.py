from __future__ import annotations

import numpy as np
import pytest

from analysis.corruptions import CORRUPTIONS, corrupt
from analysis.errors import PictureRefused
from analysis.visual_change.pixel import PixelVifReference
from analysis.visual_change.vif import VifReference, grey
from tests.analysis.visual_change import pairs
from tests.analysis.visual_change.photographs import needs_photographs, photograph

SCENE = pairs.scene(21, 120, 144)
COLOURED = np.stack([SCENE, np.roll(SCENE, 5, axis=0), 255 - SCENE], axis=-1)


def by_sewar(reference: np.ndarray, other: np.ndarray) -> float:
    from sewar.full_ref import vifp

    return float(vifp(reference, other))


@pytest.mark.parametrize("name", sorted(pairs.PAIRS))
def test_equals_sewar_on_made_pictures(name: str) -> None:
    reference, other = pairs.make_pair(name)
    assert PixelVifReference(reference).vif(other) == pytest.approx(by_sewar(reference, other), abs=1e-9)


@needs_photographs
@pytest.mark.parametrize("name", sorted(CORRUPTIONS))
def test_equals_sewar_on_a_photograph_a_corruption(name: str) -> None:
    number = sorted(CORRUPTIONS).index(name)
    picture = photograph(3 * number + 1)
    corrupted = corrupt(picture, name, CORRUPTIONS[name].parameter_at(0.5), number)
    expected = by_sewar(grey(picture), grey(corrupted))
    assert PixelVifReference(picture).vif(corrupted) == pytest.approx(expected, abs=1e-9)


def test_it_is_another_metric_than_the_wavelet_one() -> None:
    blurred = corrupt(COLOURED, "gaussian_blur", 1.5, 0)
    assert abs(PixelVifReference(COLOURED).vif(blurred) - VifReference(COLOURED).vif(blurred)) > 0.01


@pytest.mark.parametrize("metric", [VifReference, PixelVifReference])
def test_every_metric_is_0_on_the_picture_itself_grows_with_damage_and_refuses_what_it_cannot_judge(metric) -> None:
    reference = metric(COLOURED)
    changes = [reference.visual_change(corrupt(COLOURED, "gaussian_noise", sigma, 1)) for sigma in (0.02, 0.1, 0.5, 3)]
    assert reference.visual_change(COLOURED) == pytest.approx(0.0, abs=1e-9)
    assert 0 < changes[0] < changes[1] < changes[2] < changes[3] < 1
    assert reference.visual_change(np.zeros_like(COLOURED)) == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(PictureRefused, match="single grey level"):
        metric(np.full((100, 100, 3), 7, dtype=np.uint8))
    with pytest.raises(PictureRefused, match="one size"):
        reference.vif(COLOURED[:110])
    with pytest.raises(PictureRefused, match="96 px"):
        metric(COLOURED[:95])
