from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from humanexp.core.errors import NotFound, existing
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import newest_by_subject
from humanexp.stimuli.models import Stimulus, StimulusSet

if TYPE_CHECKING:
    import pandas as pd


def stimulus_sets() -> QuerySet[StimulusSet]:
    """The newest first. They are not counted: a set may hold a million stimuli."""
    return StimulusSet.objects.select_related("source_set").order_by("-created_at")


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
    return existing(Stimulus.objects.filter(pk=pk).first(), "There is no such stimulus.")


def jobs_of(stimulus_sets: list[StimulusSet]) -> dict[int, Job]:
    """The newest generation job of each set, by the set's key."""
    by_subject = {stimulus_set.job_subject: stimulus_set.pk for stimulus_set in stimulus_sets}
    return {by_subject[subject]: job for subject, job in newest_by_subject(by_subject).items()}


def stimuli_of_curves(stimulus_set: StimulusSet) -> QuerySet[Stimulus]:
    """Stimuli that models are asked about, too: all but those of practice and plain pairs."""
    return stimulus_set.stimuli.exclude(corruption__in=stimulus_set.plain_functions)


def manifest(stimulus_set: StimulusSet) -> pd.DataFrame:
    """All stimuli of a set, columns of the STIMULI schema; `file` is relative to MEDIA_ROOT."""
    from analysis.tables import STIMULI

    return STIMULI.frame(manifest_rows(stimulus_set))


def manifest_rows(stimulus_set: StimulusSet) -> Iterator[dict[str, Any]]:
    """The stimuli of a set one by one, columns of the STIMULI schema."""
    stimuli = stimulus_set.stimuli.select_related("source_image").order_by("corruption", "visual_change", "key")
    for stimulus in stimuli.iterator(chunk_size=500):
        yield {
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
            "reach_low": stimulus.reach_low,
            "reach_high": stimulus.reach_high,
            "sha256": stimulus.sha256,
            "file": stimulus.file,
        }


def count_corrupted(stimulus_set: StimulusSet) -> int:
    """Stimuli of a set without the clean ones, through the index."""
    return Stimulus.objects.filter(stimulus_set=stimulus_set, corruption__in=stimulus_set.corruptions).count()
