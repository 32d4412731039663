"""What participants see, and which of them a browser plays: there are no passwords."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.conf import settings
from django.contrib import messages as notes
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from humanexp.addresses import is_from_this_machine
from humanexp.sites.panel import actions
from humanexp.sites.panel.actions import make_people
from humanexp.sites.panel.errors import invalid, not_found
from humanexp.sites.panel.models import Message, Participant, Study, Submission, now, now as panel_now
from humanexp.sites.panel.progress import catch_up
from humanexp.sites.panel.states import AT_WORK, DRAFTS, SubmissionStatus
from humanexp.sites.panel.studies import one, open_to, why_closed, work_in_hand

Arguments = ParamSpec("Arguments")
_PLAYED = "participant"


def controls_are_open(request: HttpRequest) -> bool:
    return settings.PANEL_OPEN_TO_OTHERS or is_from_this_machine(request)


def played(request: HttpRequest) -> Participant | None:
    return Participant.objects.filter(participant_id=request.session.get(_PLAYED, "")).first()


def play(request: HttpRequest, participant: Participant) -> None:
    request.session[_PLAYED] = participant.participant_id


def as_participant(
    view: Callable[Concatenate[HttpRequest, Participant, Arguments], HttpResponse],
) -> Callable[..., HttpResponse]:
    """A page of the person that this browser plays, in one transaction; others choose a person first."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Arguments.args, **kwargs: Arguments.kwargs) -> HttpResponse:
        person = played(request)
        if person is None:
            return redirect("people")
        catch_up(panel_now())
        with transaction.atomic():
            return view(request, person, *args, **kwargs)

    return guarded


def visitor(request: HttpRequest) -> dict[str, Any]:
    """What every page shows."""
    return {"person": played(request), "controls_are_open": controls_are_open(request)}


def people(request: HttpRequest) -> HttpResponse:
    """Whom to play."""
    if request.method == "POST":
        chosen = request.POST.get("participant", "")
        if chosen:
            person = one(Participant.objects.filter(participant_id=chosen), "participant")
        else:
            person = make_people(1, is_scripted=False)[0]
        play(request, person)
        return redirect("studies-page")
    playable = Participant.objects.filter(is_scripted=False).order_by("pk")
    return render(request, "panel/people.html", {"playable": playable})


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    return redirect("studies-page" if played(request) else "people")


@require_safe
@as_participant
def studies(request: HttpRequest, person: Participant) -> HttpResponse:
    page = {"studies": open_to(person), "in_hand": work_in_hand(person)}
    return render(request, "panel/studies.html", page)


@require_safe
@as_participant
def study(request: HttpRequest, person: Participant, study_id: str) -> HttpResponse:
    found = one(Study.objects.exclude(status__in=DRAFTS).filter(study_id=study_id), "study")
    in_hand = work_in_hand(person)
    if in_hand is not None and in_hand.study_id == found.pk:
        return redirect("submission-page", submission_id=in_hand.submission_id)
    return render(request, "panel/study.html", {"study": found, "why_closed": why_closed(found, person)})


@require_POST
@as_participant
def reserve(request: HttpRequest, person: Participant, study_id: str) -> HttpResponse:
    found = one(Study.objects.filter(study_id=study_id), "study")
    submission = actions.reserve(person, found, now())
    return redirect("submission-page", submission_id=submission.submission_id)


def _own(person: Participant, submission_id: str) -> Submission:
    rows = person.submissions.select_related("participant", "study__project__workspace__researcher")
    return one(rows.filter(submission_id=submission_id), "submission")


@require_safe
@as_participant
def submission(request: HttpRequest, person: Participant, submission_id: str) -> HttpResponse:
    found = _own(person, submission_id)
    page = {
        "submission": found,
        "is_at_work": found.status in AT_WORK,
        "can_return": found.status in (*AT_WORK, SubmissionStatus.AWAITING_REVIEW),
        "no_code": actions.NO_CODE,
    }
    return render(request, "panel/submission.html", page)


@require_POST
@as_participant
def start(request: HttpRequest, person: Participant, submission_id: str) -> HttpResponse:
    return HttpResponseRedirect(actions.start(_own(person, submission_id), now()))


@require_POST
@as_participant
def give_back(request: HttpRequest, person: Participant, submission_id: str) -> HttpResponse:
    actions.give_back(_own(person, submission_id), now())
    notes.success(request, "You have returned the study. This has no consequences for you.")
    return redirect("submission-page", submission_id=submission_id)


@require_POST
@as_participant
def finish(request: HttpRequest, person: Participant, submission_id: str) -> HttpResponse:
    code = request.POST.get("code", "").strip() or actions.NO_CODE
    actions.finish(_own(person, submission_id), code, now())
    return redirect("submission-page", submission_id=submission_id)


@require_safe
@as_participant
def complete(request: HttpRequest, person: Participant) -> HttpResponse:
    """Where studies send people back to, with their code.

    Who has been here before, comes too late or has given the place away reads what became of it.
    """
    code = request.GET.get("cc", "").strip()
    found = work_in_hand(person)
    if found is None or not found.study.has_code(code):
        earlier = person.submissions.select_related("study").order_by("-pk")
        meant = next((one for one in earlier if one.entered_code == code or one.study.has_code(code)), None)
        if meant is not None:
            return redirect("submission-page", submission_id=meant.submission_id)
    if found is None:
        raise not_found("study that you are working on")
    actions.finish(found, code, now())
    return redirect("submission-page", submission_id=found.submission_id)


@as_participant
def messages(request: HttpRequest, person: Participant) -> HttpResponse:
    taken = Study.objects.filter(submissions__participant=person).distinct().order_by("-pk")
    if request.method == "POST":
        body = request.POST.get("body", "").strip()[:5000]
        if not body:
            raise invalid("message", "Write something first.")
        about = one(taken.filter(study_id=request.POST.get("study", "")), "study")
        Message.objects.create(
            researcher=about.project.workspace.researcher,
            participant=person,
            study=about,
            body=body,
            is_from_participant=True,
            sent_at=now(),
        )
        notes.success(request, "Your message was sent.")
        return redirect("messages-page")
    sent = person.messages.select_related("study", "researcher").order_by("-sent_at")
    return render(request, "panel/messages.html", {"sent": sent, "taken": taken})


@require_safe
@as_participant
def earnings(request: HttpRequest, person: Participant) -> HttpResponse:
    rows = []
    totals: dict[str, int] = {}
    for one_of_them in person.submissions.select_related("study__project__workspace").order_by("-pk"):
        currency = one_of_them.study.project.workspace.currency
        paid = list(one_of_them.payments.filter(paid_at__isnull=False))
        rewards = sum(payment.amount_cents for payment in paid if payment.plan_id is None)
        bonuses = sum(payment.amount_cents for payment in paid if payment.plan_id is not None)
        totals[currency] = totals.get(currency, 0) + rewards + bonuses
        rows.append({"submission": one_of_them, "currency": currency, "reward": rewards, "bonus": bonuses})
    page: dict[str, Any] = {"rows": rows, "totals": totals}
    return render(request, "panel/earnings.html", page)
