"""One participant or submission: its pay beside the evidence, a way back, everything stored, and its deletion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from humanexp.core import clock
from humanexp.core.errors import ApplicationError, Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.core.selectors import user_of
from humanexp.ledger.bonuses import can_get_bonus
from humanexp.ledger.models import CallKind, Payment, RejectionProposal
from humanexp.ledger.owed import finished_not_submitted, owed_cents, reached_by_bonus
from humanexp.ledger.pages.money import refusals_told, study_page, whole_number
from humanexp.ledger.rejections import (
    agree_to_rejection,
    decline_rejection,
    pay_states,
    proposal_on,
    proposed_sessions,
    reject,
    rejection_proposed,
    rejections_need_two,
    signs_against,
    unpaid_sessions,
)
from humanexp.ledger.settlement import clear, exclude_but_pay, override_rejection, reward_fee_cents
from humanexp.participation.models import Participant, Session
from humanexp.recruiters import registry
from humanexp.recruiters.models import Assignment
from humanexp.recruiters.people import assignment_of_person, assignments_of
from humanexp.recruiters.states import AssignmentState, WriteState
from humanexp.recruiting.models import AgreedText, WayBackKind
from humanexp.recruiting.pages.forms import ExclusionForm, RejectionForm
from humanexp.recruiting.people import can_be_written_to
from humanexp.recruiting.personal_data import (
    Deletion,
    delete_participant,
    personal_data,
    take_personal_data,
    what_goes,
    why_not_yet,
)
from humanexp.recruiting.ways_back import address_of, make_personal_link, may_be_let_in, open_ways_back, release, revoke
from humanexp.screening import services
from humanexp.screening.pages.evidence import Narrowing, Panel, SessionTag
from humanexp.screening.pages.review import place_of
from humanexp.studies.models import Action, Study
from humanexp.studies.permissions import check, may

UNPAID, PROPOSED = "unpaid", "proposed"


def facts_of(session: Session, user: User) -> dict[str, Any]:
    """What the decision about a session's pay needs; `assignment` is None where nobody recruited the person."""
    assignment = assignments_of(session.study).filter(session=session).first()
    if assignment is None or not registry.asks(assignment.campaign.environment, "reward"):
        return {"assignment": assignment}
    reward = assignment.calls.exclude(state=WriteState.REFUSED).filter(kind=CallKind.REWARD).first()
    fee_cents = reward_fee_cents(assignment)
    return {
        "assignment": assignment,
        "reward": reward,
        "currency": assignment.campaign.currency,
        "reward_cents": assignment.campaign.reward_cents,
        "cost_cents": assignment.campaign.reward_cents + fee_cents,
        "is_open": assignment.state == AssignmentState.SUBMITTED and reward is None,
        "proposal": proposal_on(assignment),
        "form": ExclusionForm(),
    }


def marks_of(sessions: Sequence[Session]) -> Mapping[int, SessionTag]:
    """The state of pay, for those whom a recruiter pays."""
    states = pay_states(sessions)
    marks = {
        pk: SessionTag(text=_WORDS[state][0], tone=_WORDS[state][1]) for pk, state in states.items() if state in _WORDS
    }
    proposed = SessionTag(text="rejection waits for a second person", tone="bad")
    return marks | dict.fromkeys(rejection_proposed(sessions), proposed)


_WORDS: Mapping[str, tuple[str, str]] = {
    AssignmentState.SUBMITTED: ("not approved yet", "warn"),
    AssignmentState.APPROVED: ("approved", "plain"),
    AssignmentState.REJECTED: ("rejected", "bad"),
}


PANEL = Panel(
    template="recruitment/_pay_panel.html",
    facts_of=facts_of,
    marks_of=marks_of,
    narrowings=(
        Narrowing(key=UNPAID, label="Not approved yet", narrow=unpaid_sessions),
        Narrowing(key=PROPOSED, label="Rejection proposed", narrow=proposed_sessions),
    ),
)


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
            raise InvalidRequest("Say why the session does not count: choose a sentence, or write one.")
        if not may(user, Action.PAY, study):
            check(user, Action.REVIEW, study)
            services.decide(session=session, accepted=False, written_reason=form.written_reason, by=user)
            return "The session does not count. It is paid like the others, by who pays in this study."
        exclude_but_pay(session=session, written_reason=form.written_reason, by=user)
        return "The session does not count; the payment is on its way."
    clear(assignment=get_object_or_404(Assignment, session=session), by=user)
    return "The payment is on its way."


@study_page("GET", "POST")
def assignment(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """One submission with its evidence, and a person's decision about it. The page with their worker id."""
    row = get_object_or_404(assignments_of(study), pk=pk)
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
    not_submitted = finished_not_submitted(study).filter(pk=row.pk)
    context = {
        "study": study,
        "assignment": row,
        "form": form,
        "is_read": is_read,
        "signs": signs_against(row),
        "needs_two": rejections_need_two(study),
        "proposal": proposal_on(row),
        "is_decided_here": registry.asks(row.campaign.environment, "reward"),
        "not_submitted": not_submitted.exists(),
        "bonus_reaches": reached_by_bonus(not_submitted).exists(),
        "can_override": row.override_until is not None and clock.now() < row.override_until,
        "payments": Payment.objects.filter(assignment=row),
        "rejection": row.calls.filter(kind=CallKind.REJECT).first(),
        "can_be_let_in": may_be_let_in(row),
        "ways_back": [(way, address_of(way) if way.kind == WayBackKind.LINK else "") for way in open_ways_back(row)],
        "can_bonus": can_get_bonus(row),
        "can_be_written_to": can_be_written_to(row),
        "owed_cents": owed_cents(row),
        "cost_cents": row.campaign.reward_cents + reward_fee_cents(row),
    }
    return render(request, "recruitment/assignment.html", context, status=status)


def _decide(request: HttpRequest, row: Assignment, form: RejectionForm) -> str | None:
    """Carry out what the button says; None when the form needs correction, or another look."""
    user = user_of(request)
    match request.POST.get("decision"):
        case "pay":
            clear(assignment=row, by=user)
            return "The payment is on its way."
        case "override":
            override_rejection(assignment=row, by=user)
            return "The rejection is being overridden; the payment is on its way."
        case "reject" if form.is_valid():
            check(user, Action.REJECT, row.campaign.study)
            if request.POST.get("confirmed"):
                made = reject(assignment=row, by=user, **form.cleaned_data)
                if isinstance(made, RejectionProposal):
                    return "Nothing is sent yet: another owner or payer has to agree."
                return "The rejection is on its way, with your reason."
        case "agree" | "decline" as decision:
            return _second_opinion(row, user, decision)
    return None


def _second_opinion(row: Assignment, user: User, decision: str) -> str:
    proposal = proposal_on(row)
    if proposal is None:
        raise Conflict("No rejection of this work waits for a second person.")
    if decision == "agree":
        agree_to_rejection(proposal=proposal, by=user)
        return "The rejection is on its way, with the reason that you have read."
    decline_rejection(proposal=proposal, by=user)
    return "It is not rejected. Paying it is the next decision."


@study_page("GET", "POST")
def find_person(request: HttpRequest, study: Study) -> HttpResponse:
    """Whoever writes that they cannot get back in, by the id that they know. It is sent in a form: no log has it."""
    said = request.POST.get("who", "").strip()
    found = assignment_of_person(study, said) if said else None
    if found is not None:
        return redirect("recruitment:assignment", slug=study.slug, pk=found.pk)
    context = {"study": study, "said": said, "is_missing": request.method == "POST"}
    return render(request, "recruitment/find_person.html", context, status=422 if request.method == "POST" else 200)


@study_page("POST")
def let_in(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Release the session, make a personal link to it, or take either back."""
    row = get_object_or_404(assignments_of(study), pk=pk)
    by = user_of(request)
    with refusals_told(request):
        match request.POST.get("act"):
            case "release":
                release(assignment=row, by=by)
                done = "Released. Ask the person to open the study again within half an hour, as they did at first."
            case "link":
                make_personal_link(assignment=row, by=by)
                done = "The personal link is made. Send it only to this person."
            case "revoke":
                revoke(way=get_object_or_404(row.ways_back, pk=whole_number(request.POST.get("way"))), by=by)
                done = "Taken back. It no longer lets anyone in."
            case _:
                raise InvalidRequest
        messages.success(request, done)
    return redirect("recruitment:assignment", slug=study.slug, pk=row.pk)


#: Tables whose rows a page names, by the words for them; the others are counted together.
_NAMED = {
    "experiments_session": "sessions",
    "experiments_response": "answers",
    "recruitment_recruitedperson": "ids at recruiters",
    "recruitment_call": "payments and messages",
    "core_auditevent": "lines of the record",
}


@study_page("GET", "POST")
def person(request: HttpRequest, study: Study, code: str) -> HttpResponse:
    """What is stored about somebody who took part in this study, and the two things that they can ask for."""
    _check(study, code)
    typed, complaint = "", ""
    if request.method == "POST":
        typed = request.POST.get("code", "").strip().upper()
        if typed != code:
            complaint = "Type the code exactly as it stands above: nothing was deleted."
        else:
            try:
                gone = delete_participant(code=code, by=user_of(request))
            except ApplicationError as error:
                complaint = error.message
            else:
                for level, words in _told(gone):
                    messages.add_message(request, level, words)
                return redirect("recruitment:monitor", slug=study.slug)
    data = personal_data(code)
    counts = dict(data.counts)
    context = {
        "study": study,
        "code": code,
        "others": [one.title for one in data.studies if one.pk != study.pk],
        "counts": [(words, counts[table]) for table, words in _NAMED.items() if counts.get(table)],
        "further": sum(count for table, count in counts.items() if table not in _NAMED),
        "goes": what_goes(code=code),
        "why_not_yet": why_not_yet(code),
        "typed": typed,
        "complaint": complaint,
    }
    return render(request, "recruitment/person.html", context, status=400 if complaint else 200)


@study_page("POST")
def person_json(request: HttpRequest, study: Study, code: str) -> HttpResponse:
    """All of it as a file."""
    _check(study, code)
    data = take_personal_data(code=code, study=study, by=user_of(request))
    response = JsonResponse(data.to_dict(), encoder=DjangoJSONEncoder, json_dumps_params={"indent": 1})
    response["Content-Disposition"] = f'attachment; filename="{code}.json"'
    return response


def _check(study: Study, code: str) -> None:
    if not Participant.objects.filter(code=code, sessions__study=study).exists():
        raise Http404


def _told(gone: Deletion) -> list[tuple[int, str]]:
    """What was deleted, and what is left for a person to do."""
    told = [(messages.SUCCESS, f"{gone.code} is deleted, with all sessions and answers.")]
    if gone.left_in:
        files = ", ".join(gone.left_in)
        told.append((messages.WARNING, f"These files still hold a code of the person: {files}."))
    if not gone.is_journal_empty:
        told.append(
            (
                messages.WARNING,
                (
                    "Somebody was reading the database: its journal may hold the id until web and run_jobs are "
                    "restarted."
                ),
            )
        )
    return told
