"""States of recruitment as data: which arrows exist, and the one function that follows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db import models, transaction

from humanexp.core.errors import IllegalTransition


class CampaignState(models.TextChoices):
    LIVE = "live", "recruiting"
    STOPPING = "stopping", "being stopped"
    STOPPED = "stopped", "stopped"


CAMPAIGN_TRANSITIONS: Mapping[str, frozenset[str]] = {
    CampaignState.LIVE: frozenset({CampaignState.STOPPING}),
    CampaignState.STOPPING: frozenset({CampaignState.STOPPED}),
    # links alone: nobody else was told of the end, and no money was given back
    CampaignState.STOPPED: frozenset({CampaignState.LIVE}),
}


class HitState(models.TextChoices):
    PLANNED = "planned", "being published"
    OPEN = "open", "open"
    #: nobody can take a place: expired, or every one is taken; people may still be at work
    CLOSED = "closed", "closed"
    #: never published
    CANCELLED = "cancelled", "cancelled"


HIT_TRANSITIONS: Mapping[str, frozenset[str]] = {
    HitState.PLANNED: frozenset({HitState.OPEN, HitState.CANCELLED}),
    HitState.OPEN: frozenset({HitState.CLOSED}),
    # a returned place, or an extension, opens it again
    HitState.CLOSED: frozenset({HitState.OPEN}),
    HitState.CANCELLED: frozenset(),
}


class AssignmentState(models.TextChoices):
    #: said by the frame alone; a recruiter lists nothing before submission
    OPENED = "opened", "under way"
    #: given back, or left behind for another assignment
    RETURNED = "returned", "returned"
    #: the recruiter has ended it because its time was over, whatever was done in it
    TIMED_OUT = "timed-out", "out of time"
    SUBMITTED = "submitted", "submitted"
    APPROVED = "approved", "approved"
    REJECTED = "rejected", "rejected"


#: What the recruiter has listed: the only assignments that anybody is paid for.
LISTED = (AssignmentState.SUBMITTED, AssignmentState.APPROVED, AssignmentState.REJECTED)

#: Without a place at the recruiter any more, and without a decision.
GONE = (AssignmentState.RETURNED, AssignmentState.TIMED_OUT)

ASSIGNMENT_TRANSITIONS: Mapping[str, frozenset[str]] = {
    AssignmentState.OPENED: frozenset({AssignmentState.RETURNED, AssignmentState.TIMED_OUT, *LISTED}),
    # a worker may return a HIT and accept it again with the same assignment id
    AssignmentState.RETURNED: frozenset({AssignmentState.OPENED, AssignmentState.TIMED_OUT, *LISTED}),
    # at some recruiters a person can still give back what they have submitted, or what has run out of time
    AssignmentState.TIMED_OUT: frozenset({AssignmentState.RETURNED, *LISTED}),
    AssignmentState.SUBMITTED: frozenset(
        {AssignmentState.RETURNED, AssignmentState.APPROVED, AssignmentState.REJECTED}
    ),
    AssignmentState.APPROVED: frozenset(),
    # within 30 days a rejection can be overridden
    AssignmentState.REJECTED: frozenset({AssignmentState.APPROVED}),
}


class WriteState(models.TextChoices):
    PLANNED = "planned", "planned"
    #: sent at least once; until the other side has been asked, nobody knows whether it took effect
    SENDING = "sending", "on its way"
    CONFIRMED = "confirmed", "confirmed"
    REFUSED = "refused", "refused"
    #: it may have taken effect, nothing shows that it has, and it cannot be asked about: a person decides
    PARKED = "parked", "waits for a person"


#: Promised, and the sender has something to do or to ask.
UNFINISHED = (WriteState.PLANNED, WriteState.SENDING)
#: Promised, and what became of it is not known here yet.
UNSETTLED = (*UNFINISHED, WriteState.PARKED)

WRITE_TRANSITIONS: Mapping[str, frozenset[str]] = {
    # straight to confirmed: the other side had done it already (automatic approval)
    # parked: this database was restored, and may have forgotten that it was sent
    WriteState.PLANNED: frozenset({WriteState.SENDING, WriteState.CONFIRMED, WriteState.REFUSED, WriteState.PARKED}),
    # back to planned: certainly not carried out, for want of money
    WriteState.SENDING: frozenset({WriteState.PLANNED, WriteState.CONFIRMED, WriteState.REFUSED, WriteState.PARKED}),
    # a person has it paid again, or has found it paid; or it is seen to be paid, late
    WriteState.PARKED: frozenset({WriteState.PLANNED, WriteState.CONFIRMED}),
    # a person has found in the books that the other side never did it
    WriteState.CONFIRMED: frozenset({WriteState.PLANNED}),
    # a person has removed the cause and asks for another try
    WriteState.REFUSED: frozenset({WriteState.PLANNED, WriteState.CONFIRMED}),
}


class ProposalState(models.TextChoices):
    WAITING = "waiting", "waits for a second person"
    AGREED = "agreed", "agreed"
    DECLINED = "declined", "declined"


PROPOSAL_TRANSITIONS: Mapping[str, frozenset[str]] = {
    ProposalState.WAITING: frozenset({ProposalState.AGREED, ProposalState.DECLINED}),
    ProposalState.AGREED: frozenset(),
    ProposalState.DECLINED: frozenset(),
}


class DifferenceState(models.TextChoices):
    OPEN = "open", "open"
    #: the sides have come to agree by themselves
    EQUAL = "equal", "gone"
    #: the ledger has taken over what the recruiter says
    ADOPTED = "adopted", "adopted"
    #: a person knows why, and nothing has to change
    EXPLAINED = "explained", "explained"
    #: paid there by somebody else who uses the account
    NOT_OURS = "not-ours", "not ours"


#: What a person can make of a difference.
RESOLUTIONS = (DifferenceState.ADOPTED, DifferenceState.EXPLAINED, DifferenceState.NOT_OURS)
# Whatever was said about it: other figures open it again.
DIFFERENCE_TRANSITIONS: Mapping[str, frozenset[str]] = {
    DifferenceState.OPEN: frozenset({DifferenceState.EQUAL, *RESOLUTIONS}),
    DifferenceState.EQUAL: frozenset({DifferenceState.OPEN}),
    **{resolution: frozenset({DifferenceState.OPEN}) for resolution in RESOLUTIONS},
}


Row = TypeVar("Row", bound=models.Model)


@transaction.atomic
def advance(row: Row, to: str, **facts: Any) -> Row:
    """Move a row along one of its arrows and store `facts` with it; the lock keeps two from moving it at once."""
    locked: Any = type(row)._default_manager.select_for_update().get(pk=row.pk)
    if to not in locked.TRANSITIONS[locked.state]:
        raise IllegalTransition(f"{type(row).__name__} {row.pk} is {locked.state} and cannot become {to}.")
    locked.state = to
    for name, value in facts.items():
        setattr(locked, name, value)
    locked.save(update_fields=["state", *facts])
    row.refresh_from_db()
    return row
