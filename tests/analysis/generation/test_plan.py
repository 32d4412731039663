from __future__ import annotations

import itertools
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.corruptions import CORRUPTIONS
from analysis.errors import InvalidInput, UnknownName
from analysis.generation.plan import Sampling, order_originals, pilot_originals, plan_stimuli
from analysis.original import Original
from analysis.visual_change.targeting import PilotMap


def pilot(name: str, reach: float = 0.95) -> PilotMap:
    return PilotMap(name, "1", (0.0, 1.0), (0.0, reach), reach, reach)


def make_originals(per_category: dict[str, int]) -> list[Original]:
    return [
        Original(f"{category}-{i}", category, f"/{category}/{i}.png", f"{category}{i}")
        for category, count in per_category.items()
        for i in range(count)
    ]


PILOTS = {name: pilot(name) for name in ("gaussian_blur", "gaussian_noise", "uniform_noise")}


@given(count=st.integers(1, 150), originals=st.integers(1, 40), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_counts_are_exact_and_shared_evenly(count: int, originals: int, seed: int) -> None:
    plans = plan_stimuli(make_originals({"cat": originals}), PILOTS, count=count, seed=seed, size_px=224)
    requests = [request for plan in plans for request in plan.requests]
    assert Counter(request.corruption for request in requests) == {"none": originals, **dict.fromkeys(PILOTS, count)}
    assert len({request.stimulus for request in requests}) == len(requests)
    assert len({request.file for request in requests}) == len(requests)
    for name in PILOTS:
        shares = [sum(request.corruption == name for request in plan.requests) for plan in plans]
        assert max(shares) - min(shares) <= 1
    assert all(plan.requests[0].corruption == "none" and plan.requests[0].target is None for plan in plans)


def test_each_function_fills_its_range_evenly() -> None:
    pilots = {"gaussian_blur": pilot("gaussian_blur", 0.945), "gaussian_noise": pilot("gaussian_noise", 0.485)}
    plans = plan_stimuli(make_originals({"cat": 30, "dog": 30}), pilots, count=380, seed=1, size_px=224)
    for name, bins in (("gaussian_blur", 38), ("gaussian_noise", 20)):
        targets = np.array([r.target for plan in plans for r in plan.requests if r.corruption == name])
        counts = np.bincount((targets * 40).astype(int), minlength=40)
        assert counts[bins:].sum() == 0
        assert set(counts[:bins].tolist()) <= {380 // bins, 380 // bins + 1}


def test_an_originals_targets_lie_one_in_each_stretch_of_the_range() -> None:
    plans = plan_stimuli(make_originals({"cat": 12, "dog": 8}), PILOTS, count=100, seed=5, size_px=224)
    for name in PILOTS:
        rising = sorted(r.target for plan in plans for r in plan.requests if r.corruption == name)
        for plan in plans:
            ranks = sorted(rising.index(r.target) for r in plan.requests if r.corruption == name)
            # Five stretches of twenty targets: one in each.
            assert [rank // 20 for rank in ranks] == [0, 1, 2, 3, 4]


def test_functions_give_an_original_different_targets() -> None:
    plans = plan_stimuli(make_originals({"cat": 60}), PILOTS, count=60, seed=2, size_px=224)
    gaps = []
    for plan in plans:
        blur, gaussian, uniform = (r.target for r in plan.requests[1:])
        gaps += [abs(blur - gaussian), abs(blur - uniform), abs(gaussian - uniform)]
    assert min(gaps) > 0.2


def test_every_stretch_of_visual_change_holds_all_categories_in_proportion() -> None:
    plans = plan_stimuli(make_originals({"cat": 40, "dog": 40, "knife": 20}), PILOTS, count=100, seed=3, size_px=224)
    for quarter in range(4):
        categories = Counter(
            plan.original.category
            for plan in plans
            for request in plan.requests
            if request.corruption == "gaussian_noise" and int(request.target / 0.2376) == quarter
        )
        assert abs(categories["cat"] - categories["dog"]) <= 3
        assert 3 <= categories["knife"] <= 7


def test_the_plan_is_a_function_of_seed_and_originals_alone() -> None:
    originals = make_originals({"cat": 9, "dog": 4})
    first = list(plan_stimuli(originals, PILOTS, count=40, seed=7, size_px=224))
    again = list(plan_stimuli(originals[::-1], dict(reversed(PILOTS.items())), count=40, seed=7, size_px=224))
    assert first == again
    names = {r.stimulus for plan in first for r in plan.requests if r.corruption != "none"}
    other_seed = plan_stimuli(originals, PILOTS, count=40, seed=8, size_px=224)
    other_size = plan_stimuli(originals, PILOTS, count=40, seed=7, size_px=256)
    for other in (other_seed, other_size):
        assert names.isdisjoint(r.stimulus for plan in other for r in plan.requests)


def test_seeds_differ_between_stimuli_and_survive_a_double() -> None:
    plans = plan_stimuli(make_originals({"cat": 20}), PILOTS, count=200, seed=1, size_px=224)
    seeds = [r.seed for plan in plans for r in plan.requests if r.corruption != "none"]
    assert len(set(seeds)) == 600
    assert all(int(float(seed)) == seed for seed in seeds)


def test_known_digests_are_written_into_the_plan() -> None:
    (plan,) = plan_stimuli(make_originals({"cat": 1}), {}, count=0, seed=1, size_px=224)
    name = plan.requests[0].stimulus
    assert plan.with_digests({name: "abc"}).requests[0].sha256 == "abc"
    assert plan.with_digests({}).requests[0].sha256 is None


def test_pilot_pictures_come_from_all_categories() -> None:
    chosen = pilot_originals(make_originals({"cat": 50, "dog": 50, "knife": 50, "oven": 50}), seed=4)
    assert len(chosen) == 20
    assert set(Counter(original.category for original in chosen).values()) <= {4, 5, 6}
    assert len(pilot_originals(make_originals({"cat": 3}), seed=4)) == 3


def test_order_is_a_permutation() -> None:
    originals = make_originals({"cat": 13, "dog": 5})
    assert sorted(order_originals(originals, 3), key=lambda o: o.key) == sorted(originals, key=lambda o: o.key)


@pytest.mark.parametrize(("sampling", "traversed"), [("uniform", np.log), ("uniform-parameter", np.asarray)])
def test_uniform_samplings_draw_the_logarithm_of_the_parameter_or_itself(
    sampling: Sampling, traversed: Callable[[Any], Any]
) -> None:
    originals = make_originals({"cat": 30, "dog": 30})
    # The parameter of shot noise falls as it damages more.
    names = ["gaussian_noise", "shot_noise"]
    plan = plan_stimuli(originals, {}, corruptions=names, count=600, seed=4, size_px=224, sampling=sampling)
    for name in names:
        requests = [request for one in plan for request in one.requests if request.corruption == name]
        corruption = CORRUPTIONS[name]
        assert len(requests) == 600
        assert all(request.target is None and request.version == corruption.version for request in requests)
        strengths = traversed([r.parameter for r in requests]) - traversed(corruption.low)
        strengths = strengths / (traversed(corruption.high) - traversed(corruption.low))
        # Uniform over the domain: Kolmogorov's distance at the level of 1 in 10,000.
        assert np.abs(np.sort(strengths) - (np.arange(600) + 0.5) / 600).max() < 2.2 / np.sqrt(600)
        assert len({r.stimulus for r in requests}) == len({r.seed for r in requests}) == 600
    shares = [len(one.requests) for one in plan]
    assert set(shares) == {21}
    first, second = (
        [np.mean([traversed(r.parameter) for r in one.requests if r.corruption == name]) for one in plan]
        for name in names
    )
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(60)


def test_every_original_at_each_published_level() -> None:
    originals = make_originals({"cat": 3})
    names = ["defocus_blur", "frost"]
    plan = plan_stimuli(originals, {}, corruptions=names, count=0, seed=1, size_px=224, sampling="imagenet-c-levels")
    assert len(plan) == 3 + 2 * 3 * 5
    for one in plan:
        assert [(r.corruption, r.parameter) for r in one.requests[1:]] == [
            (name, level) for name in names for level in (1, 2, 3, 4, 5)
        ]
        assert {r.version for r in one.requests[1:]} == {"imagenet-c-1"}
        assert len({r.seed for r in one.requests}) == 11
    with pytest.raises(InvalidInput, match="no levels of uniform_noise.*shot_noise"):
        plan_stimuli(
            originals, {}, corruptions=["uniform_noise"], count=1, seed=1, size_px=224, sampling="imagenet-c-levels"
        )


def test_a_plan_costs_a_few_bytes_a_stimulus_and_can_be_walked_through_again() -> None:
    originals = make_originals({"cat": 500, "dog": 500})
    pilots = {name: pilot(name) for name in sorted(CORRUPTIONS)}
    count = 5000
    tracemalloc.start()
    plan = plan_stimuli(originals, pilots, count=count, seed=1, size_px=224)
    kept, peak = tracemalloc.get_traced_memory()
    walked = sum(len(one.requests) for one in itertools.islice(plan, 100))
    _, walking = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert walked == 100 * (1 + 5 * len(pilots))
    assert len(plan) == 1000 + len(pilots) * count
    # 700,000 stimuli then take under 20 MB, and planning them under 50 MB more.
    assert kept / len(plan) < 25
    assert peak < kept + 70 * count + 2_000_000
    assert walking < peak + 1_000_000
    first, again = (hash(next(iter(plan)).requests) for _ in range(2))
    assert first == again


def test_pictures_cut_differently_have_different_names() -> None:
    originals = make_originals({"cat": 2})
    names = [
        {r.stimulus for one in plan_stimuli(originals, PILOTS, count=4, seed=0, size_px=224, framing=framing)
         for r in one.requests}
        for framing in ("whole", "imagenet")
    ]  # fmt: skip
    assert names[0].isdisjoint(names[1])


def test_impossible_plans_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no sampling named 'odd'"):
        plan_stimuli(make_originals({"cat": 1}), PILOTS, count=1, seed=0, size_px=224, sampling="odd")
    with pytest.raises(InvalidInput, match="frost has no pilot map"):
        plan_stimuli(make_originals({"cat": 1}), PILOTS, corruptions=["frost"], count=1, seed=0, size_px=224)
    with pytest.raises(UnknownName, match="fog"):
        plan_stimuli(
            make_originals({"cat": 1}), {}, corruptions=["fog"], count=1, seed=0, size_px=224, sampling="uniform"
        )
    with pytest.raises(InvalidInput, match="no original"):
        plan_stimuli([], PILOTS, count=1, seed=0, size_px=224)
    with pytest.raises(InvalidInput, match="At least one stimulus"):
        plan_stimuli(make_originals({"cat": 1}), PILOTS, count=0, seed=0, size_px=224)
