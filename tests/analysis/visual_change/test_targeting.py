from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.corruptions import CORRUPTIONS, corrupt
from analysis.corruptions.registry import Corruption, apply_corruption, stream_seed
from analysis.errors import InvalidInput, UnknownName
from analysis.visual_change.targeting import (
    MAXIMUM_HALVINGS,
    MAXIMUM_STEPS,
    TOLERANCE,
    PilotMap,
    draw_targets,
    fit_pilot_map,
    reach_target,
    redrawn_seed,
)
from analysis.visual_change.vif import VifReference, grey
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


def dimmed(number: int) -> np.ndarray:
    """Scenes of falling contrast: the same noise changes the later ones more."""
    return (128 + (coloured(number).astype(np.float64) - 128) * (1 - number / 30)).astype(np.uint8)


@pytest.fixture(scope="module")
def learned() -> PilotMap:
    return fit_pilot_map("gaussian_noise", [dimmed(number) for number in range(20)], seed=1)


def test_a_picture_is_expected_to_change_as_pictures_like_it(learned: PilotMap) -> None:
    corruption, errors, own_errors = CORRUPTIONS["gaussian_noise"], [], []
    for number in range(20, 26):
        reference = VifReference(dimmed(number))
        own = learned.of_picture(reference.portrait)
        assert min(np.diff(own.changes)) >= 0 and min(own.changes) >= 0 and max(own.changes) <= 1
        for strength, expected, as_mean in zip(own.strengths, own.changes, learned.changes, strict=True):
            made = apply_corruption(corruption, dimmed(number), corruption.parameter_at(strength), number)
            change = reference.visual_change(made)
            errors.append(abs(as_mean - change))
            own_errors.append(abs(expected - change))
    assert np.mean(own_errors) < 0.7 * np.mean(errors)


def test_what_is_learned_is_a_ridge_regression_and_survives_storage(learned: PilotMap) -> None:
    pictures = [dimmed(number) for number in range(20)]
    portraits = np.array([VifReference(picture).portrait for picture in pictures])
    parameters = [CORRUPTIONS["gaussian_noise"].parameter_at(strength) for strength in learned.strengths]
    changes = np.array(
        [
            [VifReference(one).visual_change(corrupt(one, "gaussian_noise", value, 1 + i)) for value in parameters]
            for i, one in enumerate(pictures)
        ]
    )
    scores = (portraits - portraits.mean(axis=0)) / portraits.std(axis=0)
    # Ridge regression by its definition: least squares with further rows that want slopes of 0.
    centred = changes - changes.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    first = vectors[:, np.argsort(values)[-3:]]
    rows = np.vstack([scores, np.sqrt(5.0) * np.eye(12)])
    wanted = np.vstack([centred @ first @ first.T, np.zeros((12, len(parameters)))])
    slopes = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    assert np.reshape(learned.slopes, slopes.shape) == pytest.approx(slopes, abs=1e-9)
    assert PilotMap.from_dict(learned.to_dict()) == learned


def test_of_few_or_equal_pictures_nothing_is_learned() -> None:
    few = MAPS["gaussian_noise"]
    assert few.of_picture(VifReference(PICTURES[5]).portrait) is few
    equal = fit_pilot_map("gaussian_blur", [PICTURES[0]] * 12, seed=1)
    assert equal.of_picture(VifReference(PICTURES[5]).portrait).changes == pytest.approx(equal.changes, abs=1e-9)


def test_a_portrait_from_another_world_costs_tries_but_no_target(learned: PilotMap) -> None:
    strange = np.where(coloured(3) > 128, 255, 0).astype(np.uint8)
    reference = VifReference(strange)
    for target in (0.1, 0.4, 0.7):
        found = reach_target(strange, reference, CORRUPTIONS["gaussian_noise"], target, 5, learned)
        assert found.is_reached and abs(found.visual_change - target) <= TOLERANCE


def test_a_portrait_has_the_shares_of_the_information_and_the_greys() -> None:
    picture = PICTURES[2]
    energies, shares, rest = np.split(VifReference(picture).portrait, [4, 7])
    # Hand computed from the luminance; sums over bands from the public definition of VIF against itself.
    luminance = grey(picture)
    tones = [luminance.mean() / 255, luminance.std() / 255, (luminance < 25).mean(), (luminance > 230).mean()]
    assert rest[1:] == pytest.approx(tones, abs=1e-6)
    assert 0 < shares.sum() < 0.5 and np.isfinite(energies).all()
    # Less contrast, less energy; the shares of dark and bright pixels vanish.
    flat = VifReference((100 + picture.astype(np.float64) / 10).astype(np.uint8)).portrait
    assert (flat[:4] < energies).all() and flat[10:].tolist() == [0, 0]


def test_pilot_map_is_isotonic_even_when_single_measurements_dip() -> None:
    # Hand computed: means 0.1, 0.5, 0.3, 0.9 are pooled to 0.1, 0.4, 0.4, 0.9.
    from scipy.optimize import isotonic_regression

    assert isotonic_regression([0.1, 0.5, 0.3, 0.9]).x.tolist() == pytest.approx([0.1, 0.4, 0.4, 0.9])
    flat = PilotMap("x", "1", (0.0, 0.4, 0.6, 1.0), (0.1, 0.4, 0.4, 0.9), 0.9, 0.9)
    assert 0.39 <= flat.strength_for(0.4) <= 0.61


@names
def test_targets_over_the_whole_range_are_reached(name: str) -> None:
    pilot, rng = MAPS[name], np.random.default_rng(3)
    # Two of the pictures are not among those of the pilot, and reach somewhat less.
    targets = draw_targets(30, min(pilot.worst_reach, 0.97) - 0.04, rng)
    evaluations = []
    for i, target in enumerate(targets):
        picture = PICTURES[i % len(PICTURES)]
        reference = VifReference(picture)
        reached = reach_target(picture, reference, CORRUPTIONS[name], float(target), i, pilot)
        assert reached.is_reached, (target, reached.visual_change)
        assert abs(reached.visual_change - target) <= TOLERANCE
        # What is reported is what the picture has, and the picture can be made again from the parameter.
        assert reference.visual_change(reached.picture) == reached.visual_change
        assert np.array_equal(reached.picture, corrupt(picture, name, reached.parameter, reached.seed))
        assert reached.seed == i or CORRUPTIONS[name].redraws > 1
        assert reached.reach_low is reached.reach_high is None
        evaluations.append(reached.evaluations)
    assert np.mean(evaluations) < (3.5 if CORRUPTIONS[name].redraws == 1 else 6)


def _weak(intensities: np.ndarray, parameter: float, seed: int) -> np.ndarray:
    return CORRUPTIONS["gaussian_blur"].function(intensities, 0.5 + 0.5 * parameter, seed)


def made_up(function: Callable[[np.ndarray, float, int], np.ndarray], redraws: int = 1) -> Corruption:
    return Corruption(
        name="weak", label="Weak", family="blur", version="1", low=0, high=1, scale="linear", unit="",
        function=function, redraws=redraws,
    )  # fmt: skip


STRAIGHT = PilotMap("weak", "1", (0.0, 1.0), (0.0, 1.0), 1.0, 1.0)


def test_a_target_out_of_reach_gives_the_nearest_try_and_the_reachable_range() -> None:
    reference = VifReference(PICTURES[0])
    ends = [reference.visual_change(apply_corruption(made_up(_weak), PICTURES[0], t, 0)) for t in (0.0, 1.0)]
    reached = reach_target(PICTURES[0], reference, made_up(_weak), 0.9, 0, STRAIGHT)
    assert not reached.is_reached
    assert reached.parameter == 1.0
    assert (reached.reach_low, reached.reach_high) == tuple(ends)
    assert reached.visual_change == ends[1] < 0.9 - TOLERANCE
    # One try by the map, one at full strength, which decides, and one at the other end, for the record.
    assert reached.evaluations == 3
    weakest = reach_target(PICTURES[0], reference, made_up(_weak), 0.0, 0, STRAIGHT)
    assert not weakest.is_reached
    assert (weakest.parameter, weakest.reach_low) == (0.0, ends[0])


def test_where_the_map_says_full_strength_one_try_decides() -> None:
    # Both ends are measured all the same, so that the range can be told.
    pilot = PilotMap("weak", "1", (0.0, 1.0), (0.0, 0.5), 1.0, 1.0)
    reached = reach_target(PICTURES[0], VifReference(PICTURES[0]), made_up(_weak), 0.9, 0, pilot)
    assert not reached.is_reached
    assert reached.evaluations == 2


def _by_seed(intensities: np.ndarray, parameter: float, seed: int) -> np.ndarray:
    """Blurs for one seed in three, else hardly does anything."""
    return CORRUPTIONS["gaussian_blur"].function(intensities, 0.2 + 15 * parameter * (seed % 3 == 0), seed)


def test_a_seed_out_of_reach_is_drawn_again_at_most_five_times_in_all() -> None:
    corruption, reference = made_up(_by_seed, redraws=5), VifReference(PICTURES[1])
    outcomes = [reach_target(PICTURES[1], reference, corruption, 0.6, seed, STRAIGHT) for seed in range(30)]
    for seed, reached in enumerate(outcomes):
        draws = [redrawn_seed(seed, number) for number in range(5)]
        able = [draw for draw in draws if stream_seed(draw, "weak", "1") % 3 == 0]
        assert reached.is_reached == bool(able)
        assert reached.seed in draws
        if able:
            # The first that reaches it is taken, and makes the same picture again.
            assert reached.seed == able[0]
            again = apply_corruption(corruption, PICTURES[1], reached.parameter, reached.seed)
            assert np.array_equal(again, reached.picture)
        else:
            assert reached.reach_high < 0.6 - TOLERANCE
    assert {reached.seed == seed for seed, reached in enumerate(outcomes)} == {True, False}
    # 1 - (2/3)^5 = 0.87 of 30, four standard deviations either way.
    assert 18 <= sum(reached.is_reached for reached in outcomes) <= 30


def test_redrawn_seeds_differ_and_pass_through_a_double() -> None:
    seeds = [redrawn_seed(seed, number) for seed in (7, 8, 2**48 - 1) for number in range(5)]
    assert len(set(seeds)) == 15
    assert all(0 <= seed < 2**48 for seed in seeds)
    assert redrawn_seed(7, 0) == 7


def _winding(intensities: np.ndarray, parameter: float, seed: int) -> np.ndarray:
    """Visual change goes up, down, and up again, with a leap."""
    sigma = 0.2 + 3 * parameter + 1.2 * np.sin(9 * parameter) + (2.0 if parameter > 0.8 else 0.0)
    return CORRUPTIONS["gaussian_blur"].function(intensities, max(float(sigma), 0.15), seed)


@pytest.fixture(scope="module")
def scan() -> np.ndarray:
    """Visual change along the winding path, shape (400,)."""
    reference, corruption = VifReference(PICTURES[2]), made_up(_winding)
    return np.array(
        [reference.visual_change(apply_corruption(corruption, PICTURES[2], t, 0)) for t in np.linspace(0, 1, 400)]
    )


@pytest.mark.parametrize("target", np.linspace(0.05, 0.9, 18).tolist())
def test_a_winding_path_with_a_leap_is_searched_soundly(target: float, scan: np.ndarray) -> None:
    reached = reach_target(PICTURES[2], VifReference(PICTURES[2]), made_up(_winding), target, 0, STRAIGHT)
    if scan.min() <= target <= scan.max():
        leap = np.diff(scan).argmax()
        is_in_the_leap = scan[leap] + TOLERANCE < target < scan[leap + 1] - TOLERANCE
        assert reached.is_reached or (is_in_the_leap and np.abs(scan - target).min() > TOLERANCE)
    if reached.is_reached:
        assert abs(reached.visual_change - target) <= TOLERANCE


@given(seed=st.integers(0, 10_000), target=st.floats(0, 1), bend=st.floats(0.5, 2))
@settings(max_examples=25, deadline=None)
def test_a_wrong_pilot_costs_tries_not_truth(seed: int, target: float, bend: float) -> None:
    strengths = np.linspace(0, 1, 12)
    misleading = PilotMap("gaussian_noise", "1", tuple(strengths), tuple(strengths**bend), 1.0, 1.0)
    picture = PICTURES[seed % len(PICTURES)]
    reference = VifReference(picture)
    reached = reach_target(picture, reference, CORRUPTIONS["gaussian_noise"], target, seed, misleading)
    assert 1 <= reached.evaluations <= MAXIMUM_STEPS + MAXIMUM_HALVINGS + 3
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
    last = min(int(reach * 40), 39)
    # What exceeds the reach is met from it, within the tolerance.
    assert np.all((targets >= 0) & (targets <= reach + TOLERANCE + 1e-12))
    inner = targets[targets < last / 40]
    counts = np.bincount((inner * 40 + 1e-9).astype(int), minlength=last)[:last]
    quota = count // (last + 2)
    assert counts.size == 0 or (counts.min() >= quota and counts.max() <= count // (last + 1) + 1)
    # Whatever comes within the tolerance of a target of the last bin has at least its lower end.
    assert len(targets) - len(inner) >= quota
    assert np.all(targets[len(inner) :] - TOLERANCE >= last / 40 - 1e-12)


@pytest.mark.parametrize("reach", [0.95, 0.9502, 0.949, 0.9487, 0.9615, 0.9744, 0.9751, 0.999, 1.0, 0.51, 0.33])
def test_the_last_bin_of_either_kind_gets_its_share_however_little_of_it_is_in_reach(reach: float) -> None:
    # Each target is met as badly as is allowed, on either side, but never from beyond the best originals' reach.
    rng = np.random.default_rng(5)
    targets = draw_targets(2000, reach, rng)
    reaches = rng.uniform(reach, min(reach + 0.015, 1.0), len(targets))
    made = np.clip(targets + rng.uniform(-TOLERANCE, TOLERANCE, len(targets)), 0, np.maximum(reaches, 0))
    for bins in (40, 39):
        counts = np.bincount(np.minimum((made * bins).astype(int), bins - 1), minlength=bins)
        assert counts[: int(min(reach * bins, bins - 1)) + 1].min() >= 20, bins


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
