"""What the pages for looking at a set show: histogram bars, pages of pictures, places in them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from humanexp.core.errors import InvalidRequest
from humanexp.jobs.models import Job
from humanexp.stimuli.models import Stimulus, StimulusSet
from humanexp.stimuli.selectors import coverage
from humanexp.stimuli.selectors.coverage import Bin, FunctionCoverage, coverage_of, stored_total
from humanexp.stimuli.selectors.sets import count_corrupted, jobs_of, stimulus_sets
from humanexp.stimuli.selectors.stimuli import Cursor, Filters, count_between, first_in_range

#: Pictures on a page, and of each function where all stand side by side.
PAGE = 48
ROW = 6


@dataclass(frozen=True)
class Bar:
    """One bin of the histogram: a link to its stimuli, in a drawing of 100 x 100."""

    bin: Bin
    x: float
    y: float
    width: float
    height: float
    query: str
    is_current: bool


@dataclass(frozen=True)
class Histogram:
    function: FunctionCoverage
    bars: list[Bar]
    minimum_y: float


@dataclass(frozen=True)
class FunctionRow:
    """A few stimuli of one function within the range that is looked at."""

    name: str
    label: str
    reach: float | None
    stimuli: list[Stimulus]
    #: within the range; None where only some of them are looked at
    count: int | None
    query: str


def histogram_of(stimulus_set: StimulusSet, filters: Filters) -> Histogram:
    """Stimuli of one function in each bin; the links keep category and target."""
    function = coverage.function_coverage(stimulus_set, filters.corruption)
    width = 100 / len(function.bins)
    bars = []
    for one in function.bins:
        height = 96 * one.count / function.highest
        in_range = one.low < filters.high - 1e-9 and one.high > filters.low + 1e-9
        is_current = in_range and (filters.low > 0 or filters.high < 1)
        there = query_of(replace(filters, low=one.low, high=one.high))
        bars.append(Bar(one, one.place * width, 100 - height, 0.84 * width, height, there, is_current))
    return Histogram(function, bars, 100 - 96 * function.minimum / function.highest)


def rows_of(stimulus_set: StimulusSet, filters: Filters) -> list[FunctionRow]:
    """Every function at the same visual change."""
    rows = []
    # A range ends before its upper end, but for 1.
    ends = (filters.low, filters.high if filters.includes_high else math.nextafter(filters.high, 0.0))
    for name in stimulus_set.corruptions:
        alone = replace(filters, corruption=name)
        is_part = bool(filters.category or filters.only)
        rows.append(
            FunctionRow(
                name=name,
                label=coverage.label_of(name),
                reach=stimulus_set.pilots.get(name, {}).get("reach"),
                stimuli=first_in_range(stimulus_set, alone, ROW),
                count=None if is_part else count_between(stimulus_set, name, ends)[0],
                query=query_of(alone),
            )
        )
    return rows


def query_of(filters: Filters, cursor: Cursor | None = None) -> str:
    """The address of a view of a set, without what says nothing."""
    parts = {
        "corruption": filters.corruption,
        "low": f"{filters.low:g}" if filters.low > 0 else "",
        "high": f"{filters.high:g}" if filters.high < 1 else "",
        "category": filters.category,
        "only": filters.only,
    }
    if cursor is not None:
        parts["before" if cursor.backwards else "after"] = f"{cursor.visual_change!r}~{cursor.pk}"
    return urlencode({name: value for name, value in parts.items() if value})


def cursor_of(after: str, before: str) -> Cursor | None:
    """The place named in an address; InvalidRequest when it is none."""
    text = after or before
    if not text:
        return None
    change, _, pk = text.partition("~")
    try:
        cursor = Cursor(float(change), int(pk), backwards=not after)
    except ValueError:
        cursor = Cursor(math.nan, 0)
    if not 0 <= cursor.visual_change <= 1 or not 0 < cursor.pk < 2**63:
        raise InvalidRequest(f"{text[:40]!r} is no place in a set: the first pictures are shown.")
    return cursor


def ends_of(stimuli: Iterable[Stimulus]) -> tuple[Cursor, Cursor] | None:
    """The places before the first and behind the last of some stimuli."""
    shown = list(stimuli)
    if not shown:
        return None
    first, last = shown[0], shown[-1]
    return Cursor(first.visual_change, first.pk, backwards=True), Cursor(last.visual_change, last.pk)


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


def set_rows() -> list[SetRow]:
    """Every set, the newest first."""
    sets = list(stimulus_sets())
    jobs = jobs_of(sets)
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
    return count_corrupted(stimulus_set)
