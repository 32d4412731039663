from __future__ import annotations

from functools import partial

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from humanexp.core.errors import InvalidRequest, NotFound
from humanexp.core.pages.rendering import FIGURE_KINDS, attached, drawn
from humanexp.stimuli import selectors
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.pages.side_by_side import comparison_json, comparison_page, write_file


@login_required
@require_GET
def compare(request: HttpRequest) -> HttpResponse:
    """Two sets side by side; without two names, the choice of them."""
    sets = list(selectors.stimulus_sets())
    chosen = [request.GET.get(side, "") for side in ("a", "b")]
    page = comparison_page(*_pair(request)) if all(chosen) and chosen[0] != chosen[1] else None
    context = {"sets": sets, "chosen_a": chosen[0], "chosen_b": chosen[1], "page": page}
    return render(request, "stimuli/comparison.html", context)


@login_required
@require_GET
def compare_json(request: HttpRequest) -> HttpResponse:
    """Every number of the page, unrounded."""
    return JsonResponse(comparison_json(*_pair(request)))


@login_required
@require_GET
def compare_file(request: HttpRequest, suffix: str) -> HttpResponse:
    """The page's drawings as a file for a paper."""
    if suffix not in FIGURE_KINDS:
        raise NotFound("The comparison comes as .svg, .pdf and .png.")
    a, b = _pair(request)
    content = drawn(suffix, partial(write_file, a, b))
    return attached(content, FIGURE_KINDS[suffix], f"{a.name}-{b.name}.{suffix}")


def _pair(request: HttpRequest) -> tuple[StimulusSet, StimulusSet]:
    a, b = (request.GET.get(side, "") for side in ("a", "b"))
    if not (a and b):
        raise InvalidRequest("Name two stimulus sets: ?a=NAME&b=NAME.")
    if a == b:
        raise InvalidRequest("Choose two different stimulus sets.")
    return selectors.stimulus_set_by_name(a), selectors.stimulus_set_by_name(b)
