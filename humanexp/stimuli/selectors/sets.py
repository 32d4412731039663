from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Avg, Count, Q, QuerySet

from humanexp.core.errors import NotFound
from humanexp.core.storage import media_path
from humanexp.jobs import selectors as job_selectors
from humanexp.jobs.models import Job
from humanexp.stimuli.models import Stimulus, StimulusSet

if TYPE_CHECKING:
    import pandas as pd

    from analysis.generation import Original


def stimulus_sets() -> QuerySet[StimulusSet]:
    return StimulusSet.objects.select_related("source_set").annotate(n_stimuli=Count("stimuli")).order_by("-created_at")


def find_stimulus_set(name: str) -> StimulusSet | None:
    return StimulusSet.objects.select_related("source_set").filter(name=name).first()


def stimulus_set_by_name(name: str) -> StimulusSet:
    stimulus_set = find_stimulus_set(name)
    if stimulus_set is None:
        known = ", ".join(StimulusSet.objects.values_list("name", flat=True)) or "none yet"
        raise NotFound(f"There is no stimulus set named {name!r}. There are: {known}.")
    return stimulus_set


def stimulus_set_by_pk(pk: int) -> StimulusSet:
    return StimulusSet.objects.select_related("source_set").get(pk=pk)


def stimulus_by_pk(pk: int) -> Stimulus:
    stimulus = Stimulus.objects.filter(pk=pk).first()
    if stimulus is None:
        raise NotFound("There is no such stimulus.")
    return stimulus


def job_of(stimulus_set: StimulusSet) -> Job | None:
    """The newest generation job of a set."""
    return job_selectors.latest_for(stimulus_set.job_subject)


def jobs_of(stimulus_sets: list[StimulusSet]) -> dict[int, Job]:
    """The newest generation job of each set, by the set's key."""
    by_subject = {stimulus_set.job_subject: stimulus_set.pk for stimulus_set in stimulus_sets}
    jobs = Job.objects.filter(subject__in=list(by_subject)).order_by("pk")
    return {by_subject[job.subject]: job for job in jobs}


def originals_of(stimulus_set: StimulusSet) -> list[Original]:
    """Originals of a set as the analysis knows them, with absolute paths."""
    from analysis.generation import Original

    images = stimulus_set.source_set.images.order_by("key")
    return [
        Original(image.key, image.category, str(media_path(image.file)), image.sha256) for image in images.iterator()
    ]


def digests_by_key(stimulus_set: StimulusSet) -> dict[str, str]:
    return dict(stimulus_set.stimuli.order_by().values_list("key", "sha256"))


def manifest(stimulus_set: StimulusSet) -> pd.DataFrame:
    """All stimuli of a set, columns of the STIMULI schema; `file` is relative to MEDIA_ROOT."""
    from analysis.tables import STIMULI

    stimuli = stimulus_set.stimuli.select_related("source_image").order_by("corruption", "visual_change", "key")
    return STIMULI.frame(
        {
            "stimulus": stimulus.key,
            "original": stimulus.source_image.key,
            "category": stimulus.source_image.category,
            "corruption": stimulus.corruption,
            "corruption_version": stimulus.corruption_version or None,
            "parameter": stimulus.parameter,
            "seed": stimulus.seed,
            "target": stimulus.target,
            "visual_change": stimulus.visual_change,
            "metric": stimulus_set.metric,
            "size_px": stimulus_set.size_px,
            "evaluations": stimulus.evaluations,
            "reached": stimulus.reached,
            "sha256": stimulus.sha256,
            "file": stimulus.file,
        }
        for stimulus in stimuli.iterator(chunk_size=2000)
    )


def changes_by_corruption(stimulus_set: StimulusSet) -> dict[str, list[float]]:
    """Visual change of every corrupted stimulus, by function, in the set's order of functions."""
    changes: dict[str, list[float]] = {name: [] for name in stimulus_set.corruptions}
    corrupted = stimulus_set.stimuli.order_by().filter(corruption__in=list(changes))
    for name, change in corrupted.values_list("corruption", "visual_change").iterator():
        changes[name].append(change)
    return changes


def making_by_corruption(stimulus_set: StimulusSet) -> dict[str, tuple[int, float]]:
    """How many targets were not reached, and how many tries a stimulus took on average, by function."""
    rows = (
        stimulus_set.stimuli.order_by()
        .values("corruption")
        .annotate(missed=Count("pk", filter=Q(reached=False)), tries=Avg("evaluations"))
    )
    return {row["corruption"]: (row["missed"], row["tries"]) for row in rows}


def examples(stimulus_set: StimulusSet, corruption: str, levels: list[float]) -> list[Stimulus]:
    """For each level of visual change the nearest stimulus of a function; one stimulus once."""
    of_function = stimulus_set.stimuli.filter(corruption=corruption)
    chosen: dict[int, Stimulus] = {}
    for level in levels:
        below = of_function.filter(visual_change__lte=level).order_by("-visual_change").first()
        above = of_function.filter(visual_change__gt=level).order_by("visual_change").first()
        nearest = min(
            (stimulus for stimulus in (below, above) if stimulus is not None),
            key=lambda stimulus: abs(stimulus.visual_change - level),
            default=None,
        )
        if nearest is not None:
            chosen[nearest.pk] = nearest
    return list(chosen.values())
