"""The preset of the five published levels, from a command to what its page would compare."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from analysis.corruptions.imagenet_c import LEVELS
from analysis.visual_change.coverage import level_spreads
from humanexp.stimuli.models import Sampling, SourceSet, StimulusSet
from humanexp.stimuli.selectors.sets import counted_changes
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generated_sets import make_stimuli
from humanexp.stimuli.services.generation import create_stimulus_set
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder

pytestmark = pytest.mark.django_db


def made(source_set: SourceSet, size_px: int) -> StimulusSet:
    """Not as a job: a runner's heart beats in a second thread, which the tests' database in memory does not bear."""
    stimulus_set = create_stimulus_set(
        Described(
            source_set=source_set, name="levels", corruptions=list(LEVELS), sampling=Sampling.LEVELS, size_px=size_px
        )
    )
    make_stimuli(stimulus_set, lambda *_told: None)
    return stimulus_set


@pytest.mark.verify
def test_every_picture_is_made_at_every_level_of_the_nine_functions(source_set: SourceSet) -> None:
    stimulus_set = made(source_set, 112)
    n_originals = source_set.images.count()
    assert stimulus_set.sampling == Sampling.LEVELS
    assert set(stimulus_set.corruptions) == set(LEVELS)
    assert len(LEVELS) == 9
    for by_level in counted_changes(stimulus_set).values():
        assert {level: sum(bins.values()) for level, bins in by_level.items()} == dict.fromkeys(
            range(1, 6), n_originals
        )
    assert set(stimulus_set.stimuli.exclude(corruption="none").values_list("corruption_version", flat=True)) == {
        LEVELS[name].version for name in LEVELS
    }


@pytest.mark.slow
def test_photographs_change_more_from_level_to_level(settings) -> None:  # noqa: ANN001
    reference = os.environ.get("REFERENCE_DATA")
    if not reference:
        pytest.skip("REFERENCE_DATA names no folder with real data")
    settings.COMPUTE = "processes:2"
    photos = import_images(source=Path(reference) / "photos16", order=ImportOrder(name="photos16")).source_set
    for name, by_level in counted_changes(made(photos, 224)).items():
        medians = [one.median for one in level_spreads(by_level)]
        assert medians == sorted(medians), name
        assert 0.2 < medians[0] < medians[4] < 0.95, name
