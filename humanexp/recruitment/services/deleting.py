from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, NotFound
from humanexp.core.models import User
from humanexp.experiments.models import Participant, Response
from humanexp.recruitment.models import Assignment, Campaign, Payment, RecruitedPerson, Rejection
from humanexp.recruitment.states import LISTED, AssignmentState, CampaignState, WriteState


@dataclass(frozen=True, kw_only=True)
class Deletion:
    """What goes, or went, with a participant; payments stay in the books without the person."""

    code: str
    sessions: int
    answers: int
    worker_ids: int
    payments_kept: int


def what_goes(*, code: str) -> Deletion:
    """What `delete_participant` would remove. Raises NotFound."""
    participants = Participant.objects.filter(code=code)
    if not participants.exists():
        raise NotFound(f"There is no participant {code}.")
    return Deletion(
        code=code,
        sessions=sum(participant.sessions.count() for participant in participants),
        answers=Response.objects.filter(session__participant__in=participants).count(),
        worker_ids=RecruitedPerson.objects.filter(participant__in=participants).count(),
        payments_kept=Payment.objects.filter(assignment__person__participant__in=participants).count(),
    )


@transaction.atomic
def delete_participant(*, code: str, by: User | None = None) -> Deletion:
    """Remove a person: worker ids, sessions, answers, verdicts. The ledger keeps what was paid, to nobody by name.

    Refused while money is owed: a person who is deleted cannot be paid.
    """
    deletion = what_goes(code=code)
    owed = Assignment.objects.filter(person__participant__code=code, state=AssignmentState.SUBMITTED)
    unsettled = (WriteState.PLANNED, WriteState.SENDING)
    waiting = Payment.objects.filter(assignment__person__participant__code=code, state__in=unsettled)
    refusals = Rejection.objects.filter(assignment__person__participant__code=code, state__in=unsettled)
    # A plain link lists who has finished; nobody is owed anything through it.
    if owed.exclude(environment="link").exists() or waiting.exists() or refusals.exists():
        raise Conflict(f"{code} has not been paid yet: run settle and sync first, then delete.")
    offered = _open_compensation(code)
    if offered is not None:
        raise Conflict(
            f"{code} is offered a compensation and has not taken it: wait until it is paid or over, at the latest on "
            f"{offered.launched_at + timedelta(seconds=offered.lifetime_s):%d %B %Y}, then delete."
        )
    for participant in Participant.objects.filter(code=code):
        RecruitedPerson.objects.filter(participant=participant).delete()
        participant.sessions.all().delete()
        participant.delete()
    record(
        action="delete-participant",
        subject=f"participant:{code}",
        by=by,
        sessions=deletion.sessions,
        answers=deletion.answers,
    )
    return deletion


def _open_compensation(code: str) -> Campaign | None:
    """A HIT that pays this person and that they can still take."""
    offered = Campaign.objects.filter(compensates__person__participant__code=code).exclude(state=CampaignState.STOPPED)
    untaken = offered.exclude(assignments_taken__state__in=LISTED)
    return next((one for one in untaken if one.launched_at + timedelta(seconds=one.lifetime_s) > clock.now()), None)
