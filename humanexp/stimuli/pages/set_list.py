"""The list of stimulus sets: sizes and coverage from what is stored, not from counting."""

from __future__ import annotations

from dataclasses import dataclass

from humanexp.jobs.models import Job
from humanexp.stimuli import selectors
from humanexp.stimuli.coverage import FunctionCoverage, coverage_of, stored_total
from humanexp.stimuli.models import StimulusSet


@dataclass(frozen=True)
class SetRow:
    stimulus_set: StimulusSet
    job: Job | None
    size: int
    #: None while the set grows
    functions: list[FunctionCoverage] | None

    @property
    def n_even(self) -> int:
        return sum(function.is_even for function in self.functions or [])


def rows() -> list[SetRow]:
    """Every set, the newest first."""
    sets = list(selectors.stimulus_sets())
    jobs = selectors.jobs_of(sets)
    return [
        SetRow(
            one,
            jobs.get(one.pk),
            size_of(one, jobs.get(one.pk)),
            coverage_of(one) if one.completed_at and one.coverage else None,
        )
        for one in sets
    ]


def size_of(stimulus_set: StimulusSet, job: Job | None = None) -> int:
    """Corrupted stimuli: stored for a complete set, as its job reports while it grows, else counted."""
    stored = stored_total(stimulus_set)
    if stored is not None:
        return stored
    if job is not None and not job.is_finished:
        return job.done
    return selectors.count_corrupted(stimulus_set)
