"""Pages of participants at work, of their own result, and of who is where."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.own_performance import OwnWindow
from humanexp.core.errors import ApplicationError, NotFound, existing
from humanexp.core.languages import begin_in
from humanexp.core.pages.rendering import render_part
from humanexp.core.selectors import user_of
from humanexp.participation import own_curves, tallies
from humanexp.participation.endings import make_card, take_card_back, undo_withdrawal
from humanexp.participation.models import Session
from humanexp.participation.own_curves import AnswerGroup, OwnResult, own_result_behind, result_on_card
from humanexp.participation.pages.live import live_page
from humanexp.participation.sessions import undoable
from humanexp.studies.facts import KEPT_DAYS, StudyFacts, language_of_study
from humanexp.studies.selectors import study_for


@dataclass(frozen=True, kw_only=True)
class ShareRow:
    label: str
    of_ten: int


@dataclass(frozen=True, kw_only=True)
class SharesTable:
    """What stands of one task: `names` where pictures were named, else they were compared."""

    names: bool
    answers: int
    rows: tuple[ShareRow, ...]


def shares_tables(found: OwnResult) -> tuple[SharesTable, ...]:
    """A table a task; none of somebody who sees a curve instead."""
    return tuple(
        SharesTable(
            names=one.task == "categorisation",
            answers=one.answers,
            rows=tuple(ShareRow(label=_label(one.task, part), of_ten=part.of_ten) for part in one.parts),
        )
        for one in found.shares
    )


def _label(task: str, part: AnswerGroup) -> str:
    amounts = (_("hardly changed"), _("changed a little"), _("changed a lot"), _("changed very much"))
    right = (_("changed in the same way"), _("changed in different ways"))
    kinds = {"categorisation": amounts, "discrimination": right}.get(task, ())
    if part.end - part.first >= len(kinds):
        return _("all together")
    first, last = kinds[part.first], kinds[part.end - 1]
    return first if first == last else _("%(first)s to %(last)s") % {"first": first, "last": last}


#: Pixels of the picture of a curve: its frame, and where the axes begin.
FRAME_WIDTH, FRAME_HEIGHT, ORIGIN_X, ORIGIN_Y, AXIS_X, AXIS_Y = 640, 400, 60, 350, 560, 320
#: Networks in order: lines are told apart by their dashes, too.
LINES = ("people", "network-1", "network-2", "network-3")


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One window of the person's own curve, in pixels."""

    x: int
    y: int
    top: int
    bottom: int


@dataclass(frozen=True, kw_only=True)
class Line:
    """An earlier curve, in pixels."""

    name: str
    is_people: bool
    #: which style draws it
    style: str
    points: str


@dataclass(frozen=True, kw_only=True)
class WindowRow:
    """One window in words: amounts of change and shares in percent."""

    start: int
    end: int
    rate: int
    lower: int
    upper: int


@dataclass(frozen=True, kw_only=True)
class OwnCurvePage:
    """A person's own curve next to earlier ones, as a picture and its table."""

    pictures: int
    whole: WindowRow
    rows: tuple[WindowRow, ...]
    dots: tuple[Dot, ...]
    own_points: str
    lines: tuple[Line, ...]
    title: str
    is_like_guessing: bool
    card_key: str


def own_curve_page(found: OwnResult) -> OwnCurvePage | None:
    """None of somebody who was promised no curve."""
    performance = found.performance
    if performance is None:
        return None
    lines = found.earlier.lines if found.earlier else ()
    styles = iter(LINES[1:])
    dots = tuple(
        Dot(x=_x(one.middle), y=_y(one.rate), top=_y(one.upper), bottom=_y(one.lower)) for one in performance.windows
    )
    return OwnCurvePage(
        pictures=found.pictures,
        whole=_row(performance.all),
        rows=tuple(_row(one) for one in performance.windows),
        dots=dots,
        own_points=" ".join(f"{dot.x},{dot.y}" for dot in dots),
        lines=tuple(
            Line(
                name=one.name.rpartition(":")[2],
                is_people=one.kind == "people",
                style=LINES[0] if one.kind == "people" else next(styles),
                points=" ".join(f"{_x(v)},{_y(rate)}" for v, rate in zip(one.visual_change, one.rate, strict=True)),
            )
            for one in lines
        ),
        title=found.earlier.title if found.earlier else "",
        is_like_guessing=performance.is_like_guessing,
        card_key=(found.promise.card_key if found.promise else None) or "",
    )


def _row(window: OwnWindow) -> WindowRow:
    return WindowRow(
        start=round(100 * window.start),
        end=round(100 * window.end),
        rate=round(100 * window.rate),
        lower=math.floor(100 * window.lower),
        upper=math.ceil(100 * window.upper),
    )


def _x(change: float) -> int:
    return round(ORIGIN_X + AXIS_X * change)


def _y(share: float) -> int:
    return round(ORIGIN_Y - AXIS_Y * share)


#: Rows of a page.
WITHDRAWN_SHOWN = 50


@never_cache
def run(request: HttpRequest) -> HttpResponse:
    """The shell of the experiment: the same for everybody, it holds nothing about any session."""
    return run_shell(request, StudyFacts(shows_code=True, contact=settings.CONTACT))


def run_shell(
    request: HttpRequest,
    facts: StudyFacts,
    *,
    way_out: str = "",
    finished: str = "",
    entry: str = "",
    first_page: str = "",
) -> HttpResponse:
    """The page that a participant works on, in the words of a study.

    `way_out`: the call that tells a page whose session has ended where its person goes; empty where nobody waits.
    `finished`: the call that says that somebody has finished; empty where they submit elsewhere.
    `entry`, `first_page`: name and address of the page where they agreed, whose place this one takes in their tab.
    """
    api = reverse("participation:run-session").removesuffix("session/")
    calls = {"api": api, "wayOut": way_out, "finished": finished, "entry": entry}
    config = {name: value for name, value in calls.items() if value}
    context = {"run_config": config, "facts": facts, "first_page": first_page}
    return render(request, "participation/run/run.html", context)


@csrf_exempt  # no cookie is set or read: the signed address is all that this page goes by
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def own_result(request: HttpRequest) -> HttpResponse:
    """How often a participant was right, by amount of change; a signed address leads here, and looking stores nothing.

    Who was promised a curve can make a card of it there, and take the card back.
    """
    try:
        session, found = own_result_behind(request.GET.get("of", ""))
    except NotFound:
        page = render(request, "participation/run/own_result.html", {"result": None}, status=404)
    else:
        page = _shown_result(request, session, found)
    page["Referrer-Policy"] = "no-referrer"
    return page


def _shown_result(request: HttpRequest, session: Session, found: OwnResult) -> HttpResponse:
    if request.method == "POST":
        if found.promise is not None and found.performance and found.performance.windows:
            act = take_card_back if "take-back" in request.POST else make_card
            act(curve=found.promise)
        return HttpResponseRedirect(f"{request.get_full_path()}#card", status=303)
    begin_in(request, language_of_study(session.study))
    context = {
        "result": found,
        "tables": shares_tables(found),
        "curve": own_curve_page(found),
        "study": session.study,
        "kept_days": own_curves.KEPT_DAYS,
        "site": settings.PUBLIC_URL.rstrip("/"),
    }
    return render(request, "participation/run/own_result.html", context)


@require_safe
@never_cache
def card(request: HttpRequest, key: str) -> HttpResponse:
    """What a participant shares: their own curve, with no name, for whoever has the address."""
    try:
        session, found = result_on_card(key)
    except NotFound:
        return render(request, "participation/run/card.html", {"curve": None}, status=404)
    begin_in(request, language_of_study(session.study))
    context = {"curve": own_curve_page(found), "address": f"{settings.PUBLIC_URL.rstrip('/')}{request.path}"}
    return render(request, "participation/run/card.html", context)


@login_required
@require_POST
def count_again(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Have something counted over all answers, and go back to where it is shown."""
    study = study_for(request.user, slug)
    tallies.request_tally(study=study, name=key, by=user_of(request))
    return redirect(tallies.kind_called(key).url_name, slug=study.slug)


@login_required
def live(request: HttpRequest, slug: str) -> HttpResponse:
    """Where each participant is, and where people stop; the numbers refresh by themselves."""
    study = study_for(request.user, slug)
    page = live_page(study, show=request.GET.get("show", ""), number=request.GET.get("page", "1"))
    context = {"study": study, "live": page, "standings": list(page.counts.items())}
    return render_part(request, "participation/live.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def withdrawn(request: HttpRequest, slug: str) -> HttpResponse:
    """Who took their answers back, until when that can be undone, and the form that does it."""
    study = study_for(request.user, slug)
    page = Paginator(undoable(study), WITHDRAWN_SHOWN).get_page(request.GET.get("page"))
    context: dict[str, Any] = {"study": study, "page": page, "kept_days": KEPT_DAYS}
    if request.method == "GET":
        return render(request, "participation/withdrawn.html", context)
    code, reason = request.POST.get("session", ""), request.POST.get("reason", "")
    found = undoable(study).filter(code=code).first()
    session = existing(found, "There is no withdrawn session with this code whose answers are still there.")
    try:
        undo_withdrawal(session=session, by=user_of(request), reason=reason)
    except ApplicationError as error:
        context |= {"refused": code, "reason": reason, "complaint": error.message}
        return render(request, "participation/withdrawn.html", context, status=422)
    told = "%(code)s counts again. Its earlier links are void: the person continues by a personal link or a release."
    messages.success(request, told % {"code": code})
    return redirect("participation:withdrawn", slug=slug)
