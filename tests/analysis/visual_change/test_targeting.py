from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.corruptions import CORRUPTIONS, Corruption, corrupt
from analysis.errors import InvalidInput, UnknownName
from analysis.visual_change import TOLERANCE, PilotMap, VifReference, draw_targets, fit_pilot_map, reach_target
from analysis.visual_change.targeting import MAXIMUM_STEPS
from tests.analysis.visual_change import pairs


def coloured(seed: int) -> np.ndarray:
    grey = pairs.scene(seed, 128, 128)
    return np.stack([grey, np.roll(grey, 3, axis=0), np.roll(grey, 4, axis=1)], axis=-1)


PICTURES = [coloured(seed) for seed in range(6)]
MAPS = {name: fit_pilot_map(name, PICTURES[:4], seed=1) for name in CORRUPTIONS}

names = pytest.mark.parametrize("name", sorted(CORRUPTIONS))


@names
def test_pilot_map_rises_and_is_the_mean_of_what_was_measured(name: str) -> None:
    pilot = MAPS[name]
    assert min(np.diff(pilot.changes)) >= 0
    measured = np.array(
        [
            [
                VifReference(picture).visual_change(corrupt(picture, name, CORRUPTIONS[name].parameter_at(t), 1 + i))
                for t in pilot.strengths
            ]
            for i, picture in enumerate(PICTURES[:4])
        ]
    )
    # Isotonic means by their definition: the largest of all lower, smallest of all upper, averages.
    mean, n = measured.mean(axis=0), len(pilot.strengths)
    isotonic = [max(min(mean[low : high + 1].mean() for high in range(k, n)) for low in range(k + 1)) for k in range(n)]
    assert pilot.changes == pytest.approx(isotonic, abs=1e-12)
    assert pilot.spreads == pytest.approx(measured.std(axis=0), abs=1e-12)
    assert pilot.worst_reach <= pilot.reach <= 1
    assert pilot.version == CORRUPTIONS[name].version


@names
def test_pilot_map_is_its_own_inverse_where_it_rises(name: str) -> None:
    pilot = MAPS[name]
    for change in np.linspace(pilot.changes[1] + 1e-3, pilot.changes[-1] - 1e-3, 9):
        assert pilot.change_at(pilot.strength_for(float(change))) == pytest.approx(change, abs=1e-6)


def test_pilot_map_survives_storage() -> None:
    pilot = MAPS["gaussian_blur"]
    assert PilotMap.from_dict(pilot.to_dict()) == pilot


def test_pilot_map_is_isotonic_even_when_single_measurements_dip() -> None:
    # Hand computed: means 0.1, 0.5, 0.3, 0.9 are pooled to 0.1, 0.4, 0.4, 0.9.
    from scipy.optimize import isotonic_regression

    assert isotonic_regression([0.1, 0.5, 0.3, 0.9]).x.tolist() == pytest.approx([0.1, 0.4, 0.4, 0.9])
    flat = PilotMap("x", "1", (0.0, 0.4, 0.6, 1.0), (0.1, 0.4, 0.4, 0.9), 0.9, 0.9)
    assert 0.39 <= flat.strength_for(0.4) <= 0.61


@names
def test_targets_over_the_whole_range_are_reached(name: str) -> None:
    pilot, rng = MAPS[name], np.random.default_rng(3)
    targets = draw_targets(30, pilot.worst_reach, rng)
    evaluations = []
    for i, target in enumerate(targets):
        picture = PICTURES[i % len(PICTURES)]
        reference = VifReference(picture)
        reached = reach_target(picture, reference, CORRUPTIONS[name], float(target), i, pilot)
        assert reached.is_reached, (target, reached.visual_change)
        assert abs(reached.visual_change - target) <= TOLERANCE
        # What is reported is what the picture has, and the picture can be made again from the parameter.
        assert reference.visual_change(reached.picture) == reached.visual_change
        assert np.array_equal(reached.picture, corrupt(picture, name, reached.parameter, i))
        evaluations.append(reached.evaluations)
    assert np.mean(evaluations) < 3.5


def _weak(intensities: np.ndarray, parameter: float, seed: int) -> np.ndarray:
    return CORRUPTIONS["gaussian_blur"].function(intensities, 0.5 + 0.5 * parameter, seed)


def test_a_target_out_of_reach_gives_the_strongest_try_and_says_so() -> None:
    weak = Corruption(
        name="weak", label="Weak", family="blur", version="1", low=0, high=1, scale="linear", unit="", function=_weak
    )
    pilot = PilotMap("weak", "1", (0.0, 1.0), (0.0, 1.0), 1.0, 1.0)
    reference = VifReference(PICTURES[0])
    reached = reach_target(PICTURES[0], reference, weak, 0.9, 0, pilot)
    assert not reached.is_reached
    assert reached.parameter == 1.0
    assert reached.evaluations <= MAXIMUM_STEPS + 1
    assert reached.visual_change < 0.9 - TOLERANCE
    weakest = reach_target(PICTURES[0], reference, weak, 0.0, 0, pilot)
    assert not weakest.is_reached
    assert weakest.parameter == 0.0


@given(seed=st.integers(0, 10_000), target=st.floats(0, 1), bend=st.floats(0.5, 2))
@settings(max_examples=25, deadline=None)
def test_a_wrong_pilot_costs_tries_not_truth(seed: int, target: float, bend: float) -> None:
    strengths = np.linspace(0, 1, 12)
    misleading = PilotMap("gaussian_noise", "1", tuple(strengths), tuple(strengths**bend), 1.0, 1.0)
    picture = PICTURES[seed % len(PICTURES)]
    reference = VifReference(picture)
    reached = reach_target(picture, reference, CORRUPTIONS["gaussian_noise"], target, seed, misleading)
    assert 1 <= reached.evaluations <= MAXIMUM_STEPS + 1
    assert reference.visual_change(reached.picture) == reached.visual_change
    assert reached.is_reached == (abs(reached.visual_change - target) <= TOLERANCE)
    # Beyond 0.9 some pictures end; elsewhere seven tries come near in spite of the map.
    assert abs(reached.visual_change - target) <= 4 * TOLERANCE or target > 0.9


@given(count=st.integers(0, 400), reach=st.floats(0.05, 1), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_targets_fill_all_reachable_bins_alike(count: int, reach: float, seed: int) -> None:
    targets = draw_targets(count, reach, np.random.default_rng(seed))
    assert len(targets) == count
    assert np.all(np.diff(targets) >= 0)
    assert np.all((targets >= 0) & (targets <= reach))
    counts = np.bincount(np.minimum((targets * 40).astype(int), 39), minlength=40)
    filled = max(1, sum((j + 0.5) / 40 <= reach for j in range(40)))
    assert counts[filled:].sum() == 0
    assert counts[:filled].max() - counts[:filled].min() <= 1


def test_targets_come_from_the_generator_alone() -> None:
    first, second, other = (draw_targets(50, 0.9, np.random.default_rng(seed)) for seed in (4, 4, 5))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_impossible_requests_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one picture"):
        fit_pilot_map("gaussian_blur", [], seed=0)
    with pytest.raises(UnknownName):
        fit_pilot_map("fog", PICTURES[:1], seed=0)
    with pytest.raises(InvalidInput, match="reach"):
        draw_targets(5, 0.0, np.random.default_rng(0))
