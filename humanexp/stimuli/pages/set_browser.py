"""Looking at the stimuli of a set: by function and visual change, and one by one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET

from analysis.corruptions import find_corruption
from analysis.corruptions.registry import Corruption
from analysis.errors import UnknownName
from humanexp.core.errors import InvalidRequest, NotFound
from humanexp.core.storage import current_path
from humanexp.jobs.models import Job
from humanexp.stimuli.models import Stimulus, StimulusSet
from humanexp.stimuli.pages.forms import BrowseForm
from humanexp.stimuli.selectors import coverage
from humanexp.stimuli.selectors.coverage import Bin, FunctionCoverage, coverage_of, stored_total
from humanexp.stimuli.selectors.sets import (
    Cursor,
    Filters,
    categories_of,
    clean_stimulus,
    count_between,
    count_corrupted,
    first_in_range,
    jobs_of,
    nearest_of_original,
    neighbours,
    page_of_stimuli,
    stimulus_by_pk,
    stimulus_of,
    stimulus_set_by_name,
    stimulus_sets,
)
from humanexp.stimuli.services.set_files import stimulus_thumbnail

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


_KEPT_S = 3600
#: Stimuli shown on either side of one, and of the same picture.
_NEIGHBOURS = 3


@login_required
@require_GET
def browse(request: HttpRequest, name: str) -> HttpResponse:
    """The stimuli of one function by visual change; for htmx the pictures alone."""
    found = stimulus_set_by_name(name)
    form = BrowseForm(found, categories_of(found), request.GET)
    filters = form.filters()
    refusals = [str(error) for errors in form.errors.values() for error in errors]
    try:
        cursor = cursor_of(request.GET.get("after", ""), request.GET.get("before", ""))
    except InvalidRequest as error:
        cursor = None
        refusals.append(error.message)
    context: dict[str, Any] = {
        "stimulus_set": found,
        "form": form,
        "filters": filters,
        "refusals": refusals,
        "whole_query": query_of(Filters(filters.corruption)),
    }
    if filters.corruption == "all":
        context["rows"] = rows_of(found, filters)
    else:
        page = page_of_stimuli(found, filters, cursor, PAGE)
        ends = ends_of(page.stimuli)
        context["page"] = page
        if ends:
            context["lower_query"] = query_of(filters, ends[0]) if page.has_lower else ""
            context["higher_query"] = query_of(filters, ends[1]) if page.has_higher else ""
        if filters.corruption != "none":
            context["histogram"] = histogram_of(found, filters)
    # Back and forward ask for a whole page, also through htmx.
    htmx = getattr(request, "htmx", None)
    template = "stimuli/_browse.html" if htmx and not htmx.history_restore_request else "stimuli/browse.html"
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@login_required
@require_GET
def stimulus(request: HttpRequest, name: str, key: str) -> HttpResponse:
    """One stimulus beside its original, with all that made it, and what stands near it."""
    found = stimulus_set_by_name(name)
    one = stimulus_of(found, key)
    below, above = neighbours(one, _NEIGHBOURS)
    image = one.source_image
    is_clean = one.corruption == "none"
    level = 0.5 if is_clean else one.visual_change
    others = [
        nearest[0]
        for other in found.corruptions
        if other != one.corruption and (nearest := nearest_of_original(found, image, other, level))
    ]
    own = [] if is_clean else nearest_of_original(found, image, one.corruption, level, 2 * _NEIGHBOURS + 1)
    context = {
        "stimulus_set": found,
        "stimulus": one,
        "original": clean_stimulus(found, image),
        "corruption": _corruption_of(one),
        "label": coverage.label_of(one.corruption),
        "is_clean": is_clean,
        "below": below,
        "above": above,
        "others": [(coverage.label_of(other.corruption), other) for other in others],
        "own": own,
        "range_query": query_of(Filters(one.corruption)),
    }
    return render(request, "stimuli/stimulus.html", context)


def _corruption_of(one: Stimulus) -> Corruption | None:
    """The very version that made a stimulus: another one may count its parameter in another unit."""
    try:
        return find_corruption(one.corruption, one.corruption_version)
    except UnknownName:
        return None


@login_required
@require_GET
@cache_control(private=True, max_age=_KEPT_S)
def picture(request: HttpRequest, pk: int) -> HttpResponse:
    """A stimulus, byte for byte as it is shown in a trial."""
    return HttpResponse(_path(pk).read_bytes(), content_type="image/png")


@login_required
@require_GET
@cache_control(private=True, max_age=_KEPT_S)
def small(request: HttpRequest, pk: int) -> HttpResponse:
    """A thumbnail for overviews: a twentieth of the bytes, and not what anybody is shown."""
    return HttpResponse(stimulus_thumbnail(_path(pk)), content_type="image/jpeg")


def _path(pk: int) -> Path:
    path = current_path(stimulus_by_pk(pk).file)
    if not path.is_file():
        raise NotFound("The file of this stimulus is missing: run verify_stimuli.")
    return path
