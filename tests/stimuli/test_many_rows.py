"""What is asked for every shard must not take longer in a set of 100,000 stimuli than in a small one."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

import pytest
from django.db import connection

from humanexp.stimuli.models import SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.selectors.sets import digests_of, image_ids_of, places_by_original
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generated_sets import _sampled
from humanexp.stimuli.services.generation import create_stimulus_set, store_stimuli

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

FUNCTIONS = ["gaussian_noise", "gaussian_blur", "shot_noise", "defocus_blur"]


def filled(source_set: SourceSet, count: int) -> StimulusSet:
    made = create_stimulus_set(
        Described(
            source_set=source_set,
            name=f"rows-{count}",
            corruptions=FUNCTIONS,
            count=count // 4,
            sampling="uniform",
            size_px=112,
        )
    )
    images = itertools.cycle(source_set.images.values_list("pk", flat=True))
    rng = random.Random(count)

    def rows() -> Iterator[Stimulus]:
        for number in range(count):
            key = f"{rng.getrandbits(64):016x}"
            yield Stimulus(
                stimulus_set=made,
                key=key,
                source_image_id=next(images),
                corruption=FUNCTIONS[number % 4],
                corruption_version="1",
                parameter=0.5,
                seed=number,
                visual_change=rng.random(),
                sha256="0" * 64,
                file=f"stimuli/{made.name}/{key[:2]}/{key}.png",
            )

    waiting = rows()
    while batch := list(itertools.islice(waiting, 5000)):
        Stimulus.objects.bulk_create(batch)
    return made


def steps_of(action: Callable[[], object]) -> int:
    """Instructions of SQLite's virtual machine: what work is, whatever else the machine does."""
    counted = itertools.count()

    def count() -> int:
        next(counted)
        return 0

    connection.ensure_connection()
    connection.connection.set_progress_handler(count, 1)
    try:
        action()
    finally:
        connection.connection.set_progress_handler(None, 0)
    return next(counted)


def test_looking_up_and_storing_a_shard_does_not_slow_down(source_set: SourceSet) -> None:
    took: dict[str, list[int]] = {"look up": [], "originals": [], "exists": [], "store": []}
    for count in (2_000, 100_000):
        stimulus_set = filled(source_set, count)
        some = list(stimulus_set.stimuli.order_by("pk")[count // 2 : count // 2 + 16].values())
        keys = [row["key"] for row in some]
        rows = [{**row, "stimulus": row["key"], "original": "cat-0", "file": row["key"]} for row in some]
        assert len(digests_of(stimulus_set, keys)) == 16
        took["look up"].append(steps_of(lambda one=stimulus_set, keys=keys: digests_of(one, keys)))
        took["originals"].append(steps_of(lambda: image_ids_of([source_set], ["cat-0", "dog-1"])))
        took["exists"].append(steps_of(lambda one=stimulus_set: one.stimuli.exists()))
        took["store"].append(
            steps_of(lambda one=stimulus_set, rows=rows: store_stimuli(stimulus_set=one, folder="x", rows=rows))
        )
    for what, (few, many) in took.items():
        assert 0 < many < 1.1 * few, f"{what}: {few} steps in a small set, {many} in a large one"


def test_a_sample_of_many_is_drawn_in_one_pass_and_grouped_by_original(source_set: SourceSet) -> None:
    stimulus_set = filled(source_set, 100_000)
    drawn = list(_sampled(places_by_original(stimulus_set), 100_000, 500, seed=1))
    assert len(drawn) == len({pk for _, pk in drawn}) == 500
    originals = [original for original, _ in drawn]
    assert [key for key, _ in itertools.groupby(originals)] == sorted(set(originals))
    # Every original has an eighth of the stimuli; the sample's shares differ by no more than chance allows.
    assert all(30 < originals.count(original) < 100 for original in set(originals))
