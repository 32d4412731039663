from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db.models import Count, F, FloatField, QuerySet, Value
from django.db.models.functions import Cast, Floor

from analysis.tables.stimuli import STIMULI
from analysis.visual_change.coverage import NARROW_BINS
from humanexp.core.errors import NotFound, existing
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import newest_by_subject
from humanexp.stimuli.models import Sampling, Stimulus, StimulusSet

if TYPE_CHECKING:
    import pandas as pd

#: {function: {level, or None for a set without levels: {number of the narrow bin: stimuli}}}
Counted = dict[str, dict[int | None, dict[int, int]]]
_WITH_LEVELS = frozenset({Sampling.LEVELS, Sampling.IMPORTED})
_KEEP_S = 24 * 3600
#: The measure of a set of published pictures whose originals are not at hand: its stimuli have no Δv.
NOT_MEASURED = "not measured"


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


def counted_changes(stimulus_set: StimulusSet) -> Counted:
    """Stimuli in narrow bins of visual change, by function and level; the database counts, no row is read.

    A complete set never changes, so its counts are kept.
    """
    if stimulus_set.completed_at is None:
        return _count(stimulus_set)
    key = f"stimuli-counted-changes:{stimulus_set.pk}:{stimulus_set.completed_at.timestamp()}"
    kept: Counted | None = cache.get(key)
    if kept is None:
        kept = _count(stimulus_set)
        cache.set(key, kept, _KEEP_S)
    return kept


def has_levels(stimulus_set: StimulusSet) -> bool:
    """Whether the parameter of the set's stimuli is a published level."""
    return stimulus_set.sampling in _WITH_LEVELS


def _count(stimulus_set: StimulusSet) -> Counted:
    place = Floor(F("visual_change") * Value(float(NARROW_BINS), output_field=FloatField()))
    groups = ["corruption", "place", *(["parameter"] if has_levels(stimulus_set) else [])]
    rows: Any = (
        stimulus_set.stimuli.filter(corruption__in=stimulus_set.corruptions)
        .order_by()
        .annotate(place=Cast(place, FloatField()))
        .values(*groups)
        .annotate(n=Count("pk"))
    )
    counted: Counted = {name: {} for name in stimulus_set.corruptions}
    for row in rows:
        level = round(row["parameter"]) if "parameter" in row else None
        counted[row["corruption"]].setdefault(level, {})[int(row["place"])] = row["n"]
    return counted
