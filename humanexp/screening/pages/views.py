"""The pages of screening."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from humanexp.core.errors import existing
from humanexp.core.pages.rendering import attached
from humanexp.core.selectors import user_of
from humanexp.participation.answers import session_rows, unfetched_answers
from humanexp.participation.endings import clear_text
from humanexp.participation.models import Session
from humanexp.participation.sessions import rivals_of
from humanexp.participation.set_ups import closing_answers
from humanexp.participation.tallies import whole_tally
from humanexp.screening import selectors, services
from humanexp.screening.pages import evidence
from humanexp.screening.pages.evidence import evidence_of, portrait_of
from humanexp.screening.pages.review import TIMING, golds_of, place_of, review_of, timing_page
from humanexp.studies.models import Origin, Study
from humanexp.studies.selectors import visible_to


class DecisionForm(forms.Form):
    accepted = forms.TypedChoiceField(
        label="Does this session count?",
        choices=[("yes", "It counts"), ("no", "It does not count")],
        coerce=lambda value: value == "yes",
        widget=forms.RadioSelect,
    )
    written_reason = forms.CharField(
        label="Why",
        min_length=10,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="It is stored with the verdict and exported with the results. Payment does not depend on it.",
    )


#: Sessions on a page of what was said at the end.
COMMENTS_SHOWN = 50


@login_required
@require_GET
def review(request: HttpRequest, slug: str) -> HttpResponse:
    """Which finished sessions count, which do not, and why."""
    study = _study(request, slug)
    number = request.GET.get("page", "1")
    found = review_of(study, shown=_shown(request), page=int(number) if number.isdecimal() else 1)
    template = "screening/_sessions.html" if getattr(request, "htmx", False) else "screening/review.html"
    return render(request, template, {"study": study, "review": found})


@login_required
@require_GET
def golds(request: HttpRequest, slug: str) -> HttpResponse:
    """How the gold pictures do, over all sessions: a part of the review page that comes after it."""
    study = _study(request, slug)
    template = "screening/_golds_card.html" if getattr(request, "htmx", False) else "screening/golds.html"
    return render(request, template, {"study": study, "golds": golds_of(study)})


@login_required
@require_http_methods(["GET", "POST"])
def comments(request: HttpRequest, slug: str) -> HttpResponse:
    """What participants said at the end, and which of their texts exports may have."""
    study = _study(request, slug)
    if request.method == "POST":
        given, said = request.POST, closing_answers(study)
        found = said.filter(session__code=given.get("session", "")).first()
        answers = existing(found, "There is nothing here that was said at the end of this session.")
        is_cleared = given.get("act") == "clear"
        clear_text(session=answers.session, text=given.get("text", ""), is_cleared=is_cleared, by=user_of(request))
        number = given.get("page", "")
        return redirect(f"{request.path}?page={number if number.isdecimal() else 1}#{answers.session.code}")
    page = Paginator(closing_answers(study), COMMENTS_SHOWN).get_page(request.GET.get("page"))
    return render(request, "screening/comments.html", {"study": study, "page": page})


@login_required
@require_POST
def judge(request: HttpRequest, slug: str) -> HttpResponse:
    """Judge every finished session, by the study's rules."""
    verdicts = services.judge_soon(study=_study(request, slug), by=user_of(request))
    if verdicts is None:
        messages.info(request, "The sessions are being judged; the page Jobs shows the progress.")
    else:
        text = "%(n)d session is judged." if len(verdicts) == 1 else "%(n)d sessions are judged."
        messages.success(request, text % {"n": len(verdicts)})
    return redirect("screening:review", slug=slug)


@login_required
def session(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    """One session's evidence, the history of its verdicts, its neighbours in the list, and a person's decision."""
    study = _study(request, slug)
    found = _session(study, code)
    form = DecisionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        services.decide(session=found, by=user_of(request), **form.cleaned_data)
        messages.success(request, "Your decision is stored next to the rules' verdict.")
        return redirect(request.get_full_path())
    history = selectors.history(found)
    rows, withdrawn = session_rows(found), selectors.withdrawn_golds(study)
    context: dict[str, Any] = {
        "study": study,
        "session": found,
        "verdict": history[0] if history else None,
        "history": history,
        "evidence": evidence_of(rows, history[0].evidence if history else [], withdrawn=withdrawn),
        "portrait": portrait_of(rows, withdrawn=withdrawn, space=study.space),
        "unfetched": unfetched_answers(Session.objects.filter(pk=found.pk)).get(found.pk),
        "rivals": rivals_of(found),
        "place": place_of(found, _shown(request)),
        "form": form,
        "panels": [
            {"template": panel.template, "facts": panel.facts_of(found, user_of(request))}
            for panel in evidence.panels()
        ],
    }
    return render(request, "screening/session.html", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def return_to_rules(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    services.return_to_rules(session=_session(_study(request, slug), code), by=user_of(request))
    messages.success(request, "The rules' verdict holds again.")
    return redirect("screening:session", slug=slug, code=code)


@login_required
@require_GET
def timing(request: HttpRequest, slug: str) -> HttpResponse:
    """How well the study's pictures were timed, for everybody and for each participant."""
    study = _study(request, slug)
    return render(request, "screening/timing.html", {"study": study, "page": timing_page(study)})


@login_required
@require_GET
def timing_certificate(request: HttpRequest, slug: str) -> HttpResponse:
    """The certificate as a file."""
    study = _study(request, slug)
    content = whole_tally(study, TIMING.name)
    return attached(content, "application/json", f"{study.slug}-timing-certificate.json")


def _shown(request: HttpRequest) -> str:
    """How the list is narrowed."""
    return request.GET.get("show", "")[:80]


def _study(request: HttpRequest, slug: str) -> Study:
    found = visible_to(request.user).filter(slug=slug, origin=Origin.COLLECTED).first()
    return existing(found, f"There is no study {slug!r} whose sessions could be reviewed.")


def _session(study: Study, code: str) -> Session:
    finished = study.sessions.select_related("participant", "study").filter(state__in=selectors.JUDGED_STATES)
    return existing(finished.filter(code=code).first(), "There is no finished session with this code.")
