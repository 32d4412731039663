from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.corruptions import CORRUPTIONS, corrupt
from analysis.errors import PictureRefused
from analysis.visual_change.vif import METRIC, VifReference, _filter, _halve, _taps, grey, vif, visual_change
from tests.analysis.visual_change import pairs

REFERENCE = json.loads(Path(__file__).with_name("vif_reference.json").read_text())
SCENE = pairs.scene(21, 120, 144)
COLOURED = np.stack([SCENE, np.roll(SCENE, 5, axis=0), 255 - SCENE], axis=-1)


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_equals_the_public_implementation_to_1e_9(name: str) -> None:
    reference, other = pairs.make_pair(name)
    expected = REFERENCE[name]
    assert (pairs.digest(reference), pairs.digest(other)) == (expected["reference"], expected["other"])
    assert vif(reference, other) == pytest.approx(expected["vif"], abs=1e-9)


def test_there_are_stored_values_for_every_pair() -> None:
    assert set(REFERENCE) == set(pairs.PAIRS)
    assert len(REFERENCE) >= 12


def test_the_taps_are_those_of_a_low_pass_and_two_band_passes() -> None:
    taps = _taps()
    assert taps.lo0.shape == (5, 5)
    phases = {(row, column): phase for row, column, phase in taps.lo_phases}
    assert {place: phase.shape for place, phase in phases.items()} == {
        (0, 0): (5, 5), (0, 1): (5, 4), (1, 0): (4, 5), (1, 1): (4, 4)
    }  # fmt: skip
    assert all(band.shape == (7, 7) for band in taps.bands)
    assert taps.lo0.sum() == pytest.approx(1.0, abs=1e-3)
    assert sum(phase.sum() for phase in phases.values()) == pytest.approx(2.0, abs=1e-3)  # doubles at every scale
    assert all(abs(band.sum()) < 1e-6 for band in taps.bands)


@pytest.mark.parametrize(("height", "width"), [(96, 96), (97, 131), (112, 99)])
def test_halving_is_the_whole_filter_at_every_other_pixel(height: int, width: int) -> None:
    field = np.random.default_rng(height).normal(size=(height, width))
    whole = np.empty((9, 9))
    for row, column, phase in _taps().lo_phases:
        whole[row::2, column::2] = phase
    assert np.allclose(_halve(field), _filter(field, whole)[::2, ::2], rtol=0, atol=1e-12)


def test_the_licence_of_the_taps_lies_beside_them() -> None:
    folder = Path(__file__).parents[3] / "analysis" / "visual_change"
    assert "The MIT License" in (folder / "sp5_taps.LICENSE").read_text()


@given(seed=st.integers(0, 2**32 - 1), height=st.integers(96, 140), width=st.integers(96, 140))
@settings(max_examples=15, deadline=None)
def test_a_picture_has_vif_1_with_itself(seed: int, height: int, width: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    assert vif(picture, picture) == pytest.approx(1.0, abs=1e-9)
    assert visual_change(picture, picture) == pytest.approx(0.0, abs=1e-9)


@given(name=st.sampled_from(sorted(CORRUPTIONS)), t=st.floats(0, 1), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_visual_change_lies_in_0_1(name: str, t: float, seed: int) -> None:
    corruption = CORRUPTIONS[name]
    change = visual_change(COLOURED, corrupt(COLOURED, name, corruption.parameter_at(t), seed))
    assert 0.0 <= change <= 1.0


@pytest.mark.parametrize("name", sorted(CORRUPTIONS))
def test_visual_change_grows_with_strength(name: str) -> None:
    reference = VifReference(COLOURED)
    changes = [
        reference.visual_change(corrupt(COLOURED, name, CORRUPTIONS[name].parameter_at(t), 3))
        for t in np.linspace(0, 1, 15)
    ]
    assert min(np.diff(changes)) > -0.03
    assert changes[0] < 0.1
    assert changes[-1] > 0.75


def test_raised_contrast_is_no_visual_change() -> None:
    raised = np.clip((SCENE.astype(float) - 128) * 1.3 + 128, 0, 255).astype(np.uint8)
    assert vif(SCENE, raised) > 1.0
    assert visual_change(SCENE, raised) == 0.0


def test_a_kept_reference_gives_the_values_of_a_fresh_one() -> None:
    reference = VifReference(COLOURED)
    others = [corrupt(COLOURED, "gaussian_noise", sigma, 2) for sigma in (0.02, 0.3)]
    kept = [reference.vif(other) for other in [*others, *reversed(others)]]
    assert kept == [vif(COLOURED, other) for other in [*others, *reversed(others)]]


def test_colour_is_measured_on_the_rounded_luminance() -> None:
    levels = COLOURED.astype(float)
    luminance = np.rint(0.299 * levels[..., 0] + 0.587 * levels[..., 1] + 0.114 * levels[..., 2])
    ours = grey(COLOURED)
    # OpenCV computes in whole numbers; ties may fall to the other side.
    assert np.abs(ours - luminance).max() <= 1
    assert (ours != luminance).mean() < 0.002
    other = corrupt(COLOURED, "gaussian_blur", 2.0, 0)
    assert vif(COLOURED, other) == vif(ours, grey(other))


def test_views_with_unusual_strides_are_measured_alike() -> None:
    mirrored = COLOURED[:, ::-1]
    assert vif(mirrored, mirrored[..., ::-1][..., ::-1]) == pytest.approx(1.0, abs=1e-9)
    assert np.array_equal(grey(mirrored), grey(mirrored.copy()))


@pytest.mark.parametrize(
    ("picture", "reason"),
    [
        (SCENE.astype(np.float64), "uint8, not float64"),
        (SCENE.astype(np.uint16), "uint8, not uint16"),
        (SCENE.tolist(), "uint8, not list"),
        (SCENE[:95], "at least 96 px; this picture has 144 x 95 px"),
        (SCENE[:, :95], "at least 96 px"),
        (np.dstack([COLOURED, SCENE]), r"not \(120, 144, 4\)"),
        (SCENE[0], "shape"),
        (np.zeros((0, 144), dtype=np.uint8), "at least 96 px"),
    ],
)
def test_what_cannot_be_measured_is_refused_on_either_side(picture: np.ndarray, reason: str) -> None:
    with pytest.raises(PictureRefused, match=reason):
        vif(picture, SCENE)
    with pytest.raises(PictureRefused, match=reason):
        vif(SCENE, picture)
    with pytest.raises(PictureRefused, match=reason):
        visual_change(SCENE, picture)


def test_pictures_of_two_sizes_are_refused_either_way() -> None:
    smaller = SCENE[:100]
    for first, second in ((SCENE, smaller), (smaller, SCENE)):
        with pytest.raises(PictureRefused, match="one size"):
            vif(first, second)


@pytest.mark.parametrize(
    "constant",
    [
        np.full((100, 100), 77, dtype=np.uint8),
        np.full((100, 100, 3), 77, dtype=np.uint8),
        np.tile(np.array([[[40, 0, 0], [0, 0, 105]]], dtype=np.uint8), (100, 50, 1)),
    ],
)
def test_a_constant_reference_is_refused_but_a_constant_ruin_is_not(constant: np.ndarray) -> None:
    with pytest.raises(PictureRefused, match="single grey level"):
        VifReference(constant)
    assert visual_change(SCENE[:100, :100], constant) == pytest.approx(1.0, abs=1e-4)


def test_the_metric_has_a_name() -> None:
    assert METRIC == "vif-wavelet"
