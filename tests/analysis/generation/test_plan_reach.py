from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.corruptions import CORRUPTIONS, corrupt
from analysis.generation.plan import field_seed, order_originals, pilot_originals, plan_stimuli
from analysis.generation.reach_survey import SurveyShard, cut_survey, survey_shard, survey_sizes, with_survey
from analysis.generation.shards import PilotShard, fit_pilot_shard, prepare_reference
from analysis.original import Original
from analysis.visual_change.targeting import PilotMap
from tests.analysis.generation.originals import write_originals

NAMES = ("brightness", "color_jitter", "gaussian_noise")
ARGUMENTS = {"count": 120, "seed": 3, "size_px": 128}


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[Original]:
    return write_originals(tmp_path_factory.mktemp("reach"), {"cat": 14, "dog": 13})


@pytest.fixture(scope="module")
def pilots(originals: list[Original]) -> dict[str, PilotMap]:
    chosen = tuple(pilot_originals(originals, 3))[:8]
    return {name: fit_pilot_shard(PilotShard(name, chosen, 128, 3)) for name in NAMES}


@pytest.fixture(scope="module")
def shards(originals: list[Original], pilots: dict[str, PilotMap]) -> list[SurveyShard]:
    return list(cut_survey(originals, pilots, **ARGUMENTS))


def made_up(reach: float, worst: float, name: str = "brightness") -> PilotMap:
    return PilotMap(name, CORRUPTIONS[name].version, (0.0, 1.0), (0.0, reach), reach, worst)


def test_only_what_the_high_targets_need_is_surveyed() -> None:
    # 4,000 targets up to 0.9, a third of them above 0.6: two and a half originals each.
    sizes = survey_sizes({"brightness": made_up(0.9, 0.6)}, count=4000, n_originals=50_000)
    assert sizes["brightness"] == pytest.approx(2.5 * 4000 / 3, rel=0.1)
    assert survey_sizes({"brightness": made_up(0.9, 0.6)}, count=4000, n_originals=58) == {"brightness": 58}
    assert survey_sizes({"brightness": made_up(0.9, 0.9)}, count=4000, n_originals=58) == {}
    # Along a random direction reach depends on the direction.
    assert survey_sizes({"color_jitter": made_up(0.9, 0.6, "color_jitter")}, count=4000, n_originals=58) == {}


def test_the_survey_measures_full_strength_with_the_seed_of_the_highest_target(
    originals: list[Original], pilots: dict[str, PilotMap], shards: list[SurveyShard]
) -> None:
    outcome = survey_shard(shards[0])
    original = order_originals(originals, 3)[0]
    picture, reference = prepare_reference(original, 128)
    for name in ("brightness", "gaussian_noise"):
        seed = field_seed(3, original, name, 0)
        full = reference.visual_change(corrupt(picture, name, CORRUPTIONS[name].parameter_at(1.0), seed))
        assert 0 <= full - outcome.reaches[name][0] < 1e-4
    assert "color_jitter" not in outcome.reaches
    surveyed = with_survey(pilots, [outcome])
    plan = next(one for one in plan_stimuli(originals, surveyed, **ARGUMENTS) if one.original == original)
    for name in ("brightness", "gaussian_noise"):
        highest = max((r for r in plan.requests if r.corruption == name), key=lambda r: r.target or 0)
        assert highest.seed == field_seed(3, original, name, 0)


def test_targets_go_to_originals_that_reach_them(
    originals: list[Original], pilots: dict[str, PilotMap], shards: list[SurveyShard]
) -> None:
    assert [shard.first for shard in shards] == [0, 8, 16, 24]
    surveyed = with_survey(pilots, map(survey_shard, reversed(shards)))
    order = order_originals(originals, 3)
    for name in ("brightness", "gaussian_noise"):
        reaches = dict(zip((o.key for o in order), surveyed[name].survey, strict=True))
        assert len(reaches) == len(originals)
        assert surveyed[name].reach == pytest.approx(np.quantile(list(reaches.values()), 0.6))
        uses = dict.fromkeys(reaches, 0)
        for plan in plan_stimuli(originals, surveyed, **ARGUMENTS):
            for request in plan.requests:
                if request.corruption == name:
                    uses[plan.original.key] += 1
                    assert request.target is not None
                    assert min(request.target, surveyed[name].reach) <= reaches[plan.original.key]
        assert max(uses.values()) - min(uses.values()) <= 1
    assert surveyed["color_jitter"] == pilots["color_jitter"]


def test_the_survey_survives_storage_and_shapes_the_plan(
    originals: list[Original], pilots: dict[str, PilotMap], shards: list[SurveyShard]
) -> None:
    surveyed = with_survey(pilots, map(survey_shard, shards))
    stored = json.loads(json.dumps({name: pilot.to_dict() for name, pilot in surveyed.items()}))
    restored = {name: PilotMap.from_dict(values) for name, values in stored.items()}
    assert restored == surveyed
    assert list(plan_stimuli(originals, restored, **ARGUMENTS)) == list(plan_stimuli(originals, surveyed, **ARGUMENTS))
    assert list(plan_stimuli(originals, pilots, **ARGUMENTS)) != list(plan_stimuli(originals, surveyed, **ARGUMENTS))


def test_originals_that_were_not_surveyed_count_as_the_weakest_pilot() -> None:
    originals = [Original(f"o{k:03d}", "cat", "", f"{k}") for k in range(100)]
    order = order_originals(originals, 0)
    pilot = replace(made_up(0.9, 0.5), survey=(0.95,) * 30)
    plan = plan_stimuli(originals, {"brightness": pilot}, count=200, seed=0, size_px=128)
    surveyed = {original.key for original in order[:30]}
    highest = {
        one.original.key: max(r.target for r in one.requests if r.target is not None)
        for one in plan
        if len(one.requests) > 1
    }
    assert all(key in surveyed for key, target in highest.items() if target > 0.5)
    assert max(highest.values()) > 0.88


def test_a_picture_that_is_gone_is_named(shards: list[SurveyShard], tmp_path: Path) -> None:
    from analysis.errors import PictureRefused

    lost = replace(shards[0].originals[0], path=str(tmp_path / "lost.png"))
    with pytest.raises(PictureRefused, match="lost.png"):
        survey_shard(replace(shards[0], originals=(lost,), corruptions=(("brightness",),)))
