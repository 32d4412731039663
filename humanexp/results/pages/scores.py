"""The page that sets models beside people on several sets of pictures, and its files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from humanexp.core import ownership
from humanexp.core.errors import InvalidRequest, NotFound
from humanexp.core.models import User, record
from humanexp.core.ownership import Right
from humanexp.core.pages.rendering import attached
from humanexp.core.selectors import user_of
from humanexp.results.charts.agreement import benchmark_table
from humanexp.results.published_sets import ScoredSet
from humanexp.results.templatetags.results import printed_table
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.models import Action
from humanexp.studies.permissions import studies_with

if TYPE_CHECKING:
    from humanexp.results.scorecard import Scorecard

#: Sets beside each other: more of them fit neither a page nor the time that somebody waits for one.
MOST_SETS = 6


@dataclass(frozen=True)
class Choice:
    """A set that can be chosen."""

    name: str
    title: str
    chosen: bool


@login_required
@require_GET
def scores(request: HttpRequest) -> HttpResponse:
    """Which sets, and what everybody scores on them."""
    from humanexp.results.scorecard import scorecard
    from humanexp.results.scorecard_tables import drop_table, factor_tables, score_table

    found = _sets(request.user, Action.SEE)
    chosen = _chosen(request, found)
    context: dict[str, object] = {
        "choices": [Choice(name, _title(one), name in chosen) for name, one in found.items()],
        "most": MOST_SETS,
        "query": "&".join(f"on={name}" for name in chosen),
    }
    if chosen:
        card = scorecard([found[name] for name in chosen])
        tables = [score_table(card), *([drop_table(card)] if card.drops else []), *factor_tables(card)]
        tables += [benchmark_table(card.standings)] if card.standings else []
        context |= {"card": card, "tables": [printed_table(one) for one in tables]}
        exportable = _sets(request.user, Action.EXPORT)
        context["may_export"] = all(name in exportable for name in chosen)
    return render(request, "results/scores.html", context)


@login_required
@require_GET
def scores_file(request: HttpRequest, suffix: str) -> HttpResponse:
    """The same as a file; every number and every picture's answers for whoever may export, which is recorded."""
    from humanexp.results.scorecard import scorecard

    found = _sets(request.user, Action.SEE if suffix == "pdf" else Action.EXPORT)
    chosen = _chosen(request, found)
    if not chosen or suffix not in _FILES:
        raise NotFound("There is no such file: choose sets first.")
    card = scorecard([found[name] for name in chosen])
    kind, content = _FILES[suffix]
    if suffix != "pdf":
        for one in (found[name].study for name in chosen):
            if one is not None:
                record(action="export", subject=f"scores.{suffix}", study=one.slug, by=user_of(request))
    return attached(content(card), kind, f"scores.{suffix}")


def _sets(user: User | AnonymousUser, action: Action) -> dict[str, ScoredSet]:
    """Sets with answers that this user may look at: studies with pictures, and stimuli without a study."""
    studies = studies_with(user, action).filter(stimulus_set__completed_at__isnull=False)
    found = {
        one.slug: ScoredSet(one.stimulus_set, one)
        for one in studies.select_related("stimulus_set__source_set").order_by("slug")
        if one.stimulus_set is not None
    }
    bare = StimulusSet.objects.filter(evaluations__completed_at__isnull=False, studies=None).distinct().order_by("name")
    for made in bare.select_related("source_set"):
        if ownership.may(user, Right.READ, made):
            found.setdefault(made.name, ScoredSet(made))
    return found


def _chosen(request: HttpRequest, found: dict[str, ScoredSet]) -> list[str]:
    names = list(dict.fromkeys(request.GET.getlist("on")))
    unknown = [name for name in names if name not in found]
    if unknown:
        raise NotFound("There is no such set of pictures, or it belongs to someone else.")
    if len(names) > MOST_SETS:
        raise InvalidRequest(f"At most {MOST_SETS} sets stand beside each other here: choose fewer, or use `score`.")
    return names


def _title(one: ScoredSet) -> str:
    if one.file is not None and one.file.title:
        return one.file.title
    return one.study.title if one.study is not None else "pictures without a study"


def _json(card: Scorecard) -> str:
    return json.dumps(card.to_json(), indent=1)


def _csv(card: Scorecard) -> str:
    return card.by_picture().to_csv(index=False)


def _pdf(card: Scorecard) -> bytes:
    from analysis.documents.pdf import to_pdf
    from analysis.documents.value import draw_figures
    from humanexp.results.scorecard import scorecard_document

    document = scorecard_document(card, title="Models next to people")
    return to_pdf(document, draw_figures(document))


#: Kind of the file and what writes it, by suffix.
_FILES: dict[str, tuple[str, Callable[[Scorecard], str | bytes]]] = {
    "json": ("application/json", _json),
    "csv": ("text/csv", _csv),
    "pdf": ("application/pdf", _pdf),
}
