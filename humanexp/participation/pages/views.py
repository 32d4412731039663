from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from humanexp.core.errors import ApplicationError, NotFound, existing
from humanexp.core.languages import begin_in
from humanexp.core.pages.rendering import render_part
from humanexp.core.selectors import user_of
from humanexp.participation import tallies
from humanexp.participation.models import Session
from humanexp.participation.pages.live import live_page
from humanexp.participation.pages.own_result import own_curve_page, shares_tables
from humanexp.participation.selectors import own_results
from humanexp.participation.selectors.own_results import OwnResult, own_result_behind, result_on_card
from humanexp.participation.selectors.sessions import undoable
from humanexp.participation.services.leaving import make_card, take_card_back, undo_withdrawal
from humanexp.studies.facts import KEPT_DAYS, StudyFacts, language_of_study
from humanexp.studies.selectors import study_for

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
        "kept_days": own_results.KEPT_DAYS,
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
