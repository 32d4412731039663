from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction

from analysis.errors import UnknownName
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.jobs import selectors as job_selectors
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job, JobState
from humanexp.stimuli.models import SourceImage, SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.services.importing import check_new_name

JOB_KIND = "stimuli.generate"
SIZES_PX = range(96, 1025)
MOST_PER_CORRUPTION = 1_000_000


@transaction.atomic
def create_stimulus_set(
    *,
    source_set: SourceSet,
    name: str,
    corruptions: Sequence[str],
    count: int,
    seed: int = 0,
    size_px: int = 224,
    by: User | None = None,
) -> StimulusSet:
    """Describe a set of stimuli: `count` a corruption function, and one clean stimulus an original."""
    from analysis.generation import METRIC_NAME

    check_new_name(name, taken=StimulusSet.objects.filter(name=name).exists(), what="stimulus set")
    names = list(dict.fromkeys(corruptions))
    _check_numbers(names, count=count, seed=seed, size_px=size_px)
    _check_originals(source_set, size_px)
    if source_set.frozen_at is None:
        source_set.frozen_at = clock.now()
        source_set.save(update_fields=["frozen_at"])
    return StimulusSet.objects.create(
        name=name,
        source_set=source_set,
        corruptions=names,
        count_per_corruption=count,
        seed=seed,
        size_px=size_px,
        metric=METRIC_NAME,
        created_by=by,
    )


@transaction.atomic
def start_generation(*, stimulus_set: StimulusSet, by: User | None = None) -> Job:
    """Queue the set's job; one that failed or was cancelled goes on, one that waits or runs is left alone."""
    job = job_selectors.latest_for(stimulus_set.job_subject, JOB_KIND)
    if job is not None and not job.is_finished:
        return job
    if job is not None and job.state != JobState.DONE:
        return jobs.resume(job=job)
    return jobs.submit(JOB_KIND, subject=stimulus_set.job_subject, by=by, stimulus_set_id=stimulus_set.pk)


def store_pilots(*, stimulus_set: StimulusSet, pilots: Mapping[str, Mapping[str, Any]]) -> StimulusSet:
    """Keep the pilot maps: a resumed job must plan the very same stimuli."""
    stimulus_set.pilots = dict(pilots)
    stimulus_set.save(update_fields=["pilots"])
    return stimulus_set


@transaction.atomic
def store_stimuli(
    *, stimulus_set: StimulusSet, folder: str, image_ids: Mapping[str, int], rows: Iterable[Mapping[str, Any]]
) -> None:
    """Record made stimuli. A stimulus made a second time is the same one, so its row is written over."""
    fields = (
        *("source_image_id", "corruption", "corruption_version", "parameter", "seed", "target", "visual_change"),
        *("evaluations", "reached", "sha256", "file"),
    )
    Stimulus.objects.bulk_create(
        [
            Stimulus(
                stimulus_set=stimulus_set,
                key=row["stimulus"],
                source_image_id=image_ids[row["original"]],
                corruption=row["corruption"],
                corruption_version=row["corruption_version"] or "",
                parameter=row["parameter"],
                seed=row["seed"],
                target=row["target"],
                visual_change=row["visual_change"],
                evaluations=row["evaluations"],
                reached=row["reached"],
                sha256=row["sha256"],
                file=f"{folder}/{row['file']}",
            )
            for row in rows
        ],
        update_conflicts=True,
        unique_fields=["stimulus_set", "key"],
        update_fields=[field.removesuffix("_id") for field in fields],
        batch_size=500,
    )


def complete_stimulus_set(*, stimulus_set: StimulusSet) -> StimulusSet:
    """From now on studies may use the set."""
    stimulus_set.completed_at = clock.now()
    stimulus_set.save(update_fields=["completed_at"])
    return stimulus_set


def _check_numbers(corruptions: Sequence[str], *, count: int, seed: int, size_px: int) -> None:
    from analysis.corruptions import find_corruption

    if not corruptions:
        raise InvalidRequest("Choose at least one corruption function.", fields={"corruptions": "choose at least one"})
    for name in corruptions:
        try:
            find_corruption(name)
        except UnknownName as error:
            raise InvalidRequest(str(error), fields={"corruptions": str(error)}) from error
    if not 1 <= count <= MOST_PER_CORRUPTION:
        raise InvalidRequest(
            f"The number of stimuli a function must lie between 1 and {MOST_PER_CORRUPTION}, not {count}.",
            fields={"count": f"1 to {MOST_PER_CORRUPTION}"},
        )
    if size_px not in SIZES_PX:
        raise InvalidRequest(
            f"The size must lie between {SIZES_PX.start} and {SIZES_PX.stop - 1} px, not {size_px}: visual change is "
            "undefined for smaller pictures.",
            fields={"size_px": f"{SIZES_PX.start} to {SIZES_PX.stop - 1} px"},
        )
    if not 0 <= seed < 2**63:
        raise InvalidRequest(f"The seed must lie between 0 and 2^63 - 1, not {seed}.", fields={"seed": "0 or more"})


def _check_originals(source_set: SourceSet, size_px: int) -> None:
    from analysis.generation.originals import MAXIMUM_ENLARGEMENT

    if not source_set.images.exists():
        raise InvalidRequest(f"The set of pictures {source_set} is empty: import pictures first.")
    smallest = size_px / MAXIMUM_ENLARGEMENT
    too_small = [
        image
        for image in SourceImage.objects.filter(source_set=source_set).exclude(width_px=None)
        if min(image.width_px or 0, image.height_px or 0) < smallest
    ]
    if too_small:
        image = too_small[0]
        raise InvalidRequest(
            f"{len(too_small)} pictures of {source_set} are too small to be shown at {size_px} px, for example "
            f"{image.key} ({image.width_px} x {image.height_px} px). Choose a smaller size, or import larger pictures.",
            fields={"size_px": "larger than the pictures allow"},
        )
