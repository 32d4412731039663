from __future__ import annotations

from typing import Any

from django.core.cache import cache
from django.db.models import Count, F, FloatField, Value
from django.db.models.functions import Cast, Floor

from humanexp.stimuli.models import Sampling, StimulusSet

#: {function: {level, or None for a set without levels: {number of the narrow bin: stimuli}}}
Counted = dict[str, dict[int | None, dict[int, int]]]

_WITH_LEVELS = frozenset({Sampling.LEVELS, Sampling.IMPORTED})
_KEEP_S = 24 * 3600


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
    from analysis.visual_change.comparison import NARROW_BINS

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
