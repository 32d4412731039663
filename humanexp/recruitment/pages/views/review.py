"""Decisions about one submission: its pay, and a way back into its session."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from humanexp.core import clock
from humanexp.core.errors import ApplicationError, Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.core.selectors import user_of
from humanexp.participation.models import Session
from humanexp.recruitment import selectors, services
from humanexp.recruitment.models import AgreedText, Assignment, CallKind, Payment, RejectionProposal, WayBackKind
from humanexp.recruitment.pages.forms import ExclusionForm, RejectionForm
from humanexp.recruitment.pages.views.studies import refusals_told, study_page, whole_number
from humanexp.recruitment.services.settling import exclude_but_pay
from humanexp.screening import services as screening
from humanexp.screening.pages.review import place_of
from humanexp.studies.models import Study
from humanexp.studies.permissions import check, may
from humanexp.studies.roles import Action


@study_page("GET")
def agreed(request: HttpRequest, study: Study, digest: str) -> HttpResponse:
    """The words that people in the study have agreed to, as they were shown."""
    known = AgreedText.objects.filter(digest__in=study.sessions.values("consent_digest"))
    text = get_object_or_404(known, digest=digest)
    # rendered from a template, in which the study's own words were escaped
    context = {"study": study, "text": text, "html": SafeString(text.html)}
    return render(request, "recruitment/agreed.html", context)


@study_page("POST")
def decide(request: HttpRequest, study: Study, code: str) -> HttpResponse:
    """Pay a session's person, counting or not, and go on to the next session of the list that is looked through."""
    session = get_object_or_404(study.sessions, code=code)
    shown = request.POST.get("show", "")[:80]
    # before the decision: what is decided may leave the list
    following = place_of(session, shown).following
    try:
        done = _pay(request, session)
    except ApplicationError as error:
        messages.error(request, error.message)
        following = code
    else:
        messages.success(request, f"{session.participant.code}: {done}")
    query = f"?{urlencode({'show': shown})}" if shown else ""
    if following:
        return redirect(reverse("screening:session", args=[study.slug, following]) + query)
    return redirect(reverse("screening:review", args=[study.slug]) + query)


def _pay(request: HttpRequest, session: Session) -> str:
    study, user = session.study, user_of(request)
    if request.POST.get("decision") == "exclude":
        form = ExclusionForm(request.POST)
        if not form.is_valid():
            raise InvalidRequest(_("Say why the session does not count: choose a sentence, or write one."))
        if not may(user, Action.PAY, study):
            check(user, Action.REVIEW, study)
            screening.decide(session=session, accepted=False, written_reason=form.written_reason, by=user)
            return _("The session does not count. It is paid like the others, by who pays in this study.")
        exclude_but_pay(session=session, written_reason=form.written_reason, by=user)
        return _("The session does not count; the payment is on its way.")
    services.clear(assignment=get_object_or_404(Assignment, session=session), by=user)
    return _("The payment is on its way.")


@study_page("GET", "POST")
def assignment(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """One submission with its evidence, and a person's decision about it. The page with their worker id."""
    row = get_object_or_404(selectors.assignments_of(study), pk=pk)
    form = RejectionForm(row.environment, request.POST if request.POST.get("decision") == "reject" else None)
    status, is_read = 200, False
    if request.method == "POST":
        try:
            if (done := _decide(request, row, form)) is not None:
                messages.success(request, done)
                return redirect("recruitment:assignment", slug=study.slug, pk=row.pk)
            # A rejection is shown once more, with what it does, before it is one.
            is_read = form.is_valid()
            status = 200 if is_read else 422
        except ApplicationError as error:
            messages.error(request, error.message)
            status = error.status_code
    not_submitted = selectors.finished_not_submitted(study).filter(pk=row.pk)
    context = {
        "study": study,
        "assignment": row,
        "form": form,
        "is_read": is_read,
        "signs": selectors.signs_against(row),
        "needs_two": selectors.rejections_need_two(study),
        "proposal": selectors.proposal_on(row),
        "not_submitted": not_submitted.exists(),
        "bonus_reaches": selectors.reached_by_bonus(not_submitted).exists(),
        "can_override": row.override_until is not None and clock.now() < row.override_until,
        "payments": Payment.objects.filter(assignment=row),
        "rejection": row.calls.filter(kind=CallKind.REJECT).first(),
        "can_be_let_in": selectors.may_be_let_in(row),
        "ways_back": [
            (way, services.address_of(way) if way.kind == WayBackKind.LINK else "")
            for way in selectors.open_ways_back(row)
        ],
        "can_bonus": services.can_get_bonus(row),
        "can_be_written_to": row.campaign.capabilities.messages,
        "owed_cents": selectors.owed_cents(row),
        "cost_cents": row.campaign.reward_cents + services.reward_fee_cents(row),
    }
    return render(request, "recruitment/assignment.html", context, status=status)


def _decide(request: HttpRequest, row: Assignment, form: RejectionForm) -> str | None:
    """Carry out what the button says; None when the form needs correction, or another look."""
    user = user_of(request)
    match request.POST.get("decision"):
        case "pay":
            services.clear(assignment=row, by=user)
            return _("The payment is on its way.")
        case "override":
            services.override_rejection(assignment=row, by=user)
            return _("The rejection is being overridden; the payment is on its way.")
        case "reject" if form.is_valid():
            check(user, Action.REJECT, row.campaign.study)
            if request.POST.get("confirmed"):
                made = services.reject(assignment=row, by=user, **form.cleaned_data)
                if isinstance(made, RejectionProposal):
                    return _("Nothing is sent yet: another owner or payer has to agree.")
                return _("The rejection is on its way, with your reason.")
        case "agree" | "decline" as decision:
            return _second_opinion(row, user, decision)
    return None


def _second_opinion(row: Assignment, user: User, decision: str) -> str:
    proposal = selectors.proposal_on(row)
    if proposal is None:
        raise Conflict(_("No rejection of this work waits for a second person."))
    if decision == "agree":
        services.agree_to_rejection(proposal=proposal, by=user)
        return _("The rejection is on its way, with the reason that you have read.")
    services.decline_rejection(proposal=proposal, by=user)
    return _("It is not rejected. Paying it is the next decision.")


@study_page("GET", "POST")
def find_person(request: HttpRequest, study: Study) -> HttpResponse:
    """Whoever writes that they cannot get back in, by the id that they know. It is sent in a form: no log has it."""
    said = request.POST.get("who", "").strip()
    found = selectors.assignment_of_person(study, said) if said else None
    if found is not None:
        return redirect("recruitment:assignment", slug=study.slug, pk=found.pk)
    context = {"study": study, "said": said, "is_missing": request.method == "POST"}
    return render(request, "recruitment/find_person.html", context, status=422 if request.method == "POST" else 200)


@study_page("POST")
def let_in(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Release the session, make a personal link to it, or take either back."""
    row = get_object_or_404(selectors.assignments_of(study), pk=pk)
    by = user_of(request)
    with refusals_told(request):
        match request.POST.get("act"):
            case "release":
                services.release(assignment=row, by=by)
                done = _("Released. Ask the person to open the study again within half an hour, as they did at first.")
            case "link":
                services.make_personal_link(assignment=row, by=by)
                done = _("The personal link is made. Send it only to this person.")
            case "revoke":
                services.revoke(way=get_object_or_404(row.ways_back, pk=whole_number(request.POST.get("way"))), by=by)
                done = _("Taken back. It no longer lets anyone in.")
            case _:
                raise InvalidRequest
        messages.success(request, done)
    return redirect("recruitment:assignment", slug=study.slug, pk=row.pk)
