"""What Prolific's REST API answers, as far as we read it, and what its words for states mean behind the port.

One list of submissions says where people sit and who they are (`ip`, `strata`): no field here takes that.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from humanexp.recruiters.port import OfferReport, SubmissionReport
from humanexp.recruiters.states import AssignmentState


def _whole(value: object) -> object:
    """Amounts are whole sub-units of a currency, which the service sometimes writes as 150.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _amounts(value: object) -> object:
    """Of a field that nothing but a client documents."""
    return value if isinstance(value, list) and all(isinstance(one, int | float) for one in value) else None


Cents = Annotated[int, BeforeValidator(_whole)]
Id = Annotated[str, Field(min_length=1)]


class Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Me(Reply):
    id: Id
    name: str = ""
    currency_code: str | None = None


class Workspace(Reply):
    id: Id
    title: str


class Project(Reply):
    id: Id
    title: str


class Balance(Reply):
    currency_code: str
    total_balance: Cents
    available_balance: Cents


class CompletionCode(Reply):
    code: str
    code_type: str
    actor: str = "participant"
    actions: list[dict[str, object]] = []


class StudyInList(Reply):
    id: Id
    internal_name: str | None = None
    #: no list of words is complete: an unknown one means that the study is in motion
    status: str
    total_available_places: int
    places_taken: int = 0
    reward: Cents


class Study(StudyInList):
    name: str
    external_study_url: str
    estimated_completion_time: int
    maximum_allowed_time: int | None = None
    completion_codes: list[CompletionCode] = []
    device_compatibility: list[str] = []
    filters: list[dict[str, object]] = []
    project: str = ""
    metadata: str | None = None


class Money(Reply):
    amount: Cents
    currency: str


class CostPart(Reply):
    rewards: Money
    fees: Money
    tax: Money


class StudyCost(Reply):
    rewards: CostPart
    bonuses: CostPart


class QuoteReply(Reply):
    total_cost: Cents


class RewardRecommendation(Reply):
    currency: str
    min_reward_per_hour: Cents
    recommended_reward_per_hour: Cents


class Filter(Reply):
    filter_id: Id
    title: str = ""
    type: str
    choices: Mapping[str, str] = {}


class Count(Reply):
    count: int


class Group(Reply):
    id: Id
    name: str
    participant_count: int = 0


class Member(Reply):
    participant_id: Id


class SubmissionInList(Reply):
    id: Id
    participant_id: Id
    status: str
    started_at: datetime | None = None
    completed_at: datetime | None = None
    #: the code that the person entered
    study_code: str | None = None
    return_requested: datetime | str | None = None


class Submission(Reply):
    id: Id
    participant: Id
    study_id: Id
    status: str
    started_at: datetime | None = None
    completed_at: datetime | None = None
    entered_code: str | None = None
    #: the only evidence of bonuses: amounts, without ids, dates or reasons; absent only in answers to actions
    bonus_payments: list[Cents] = []
    return_requested: datetime | str | None = None


class BonusesInList(Reply):
    """What a list of one study's submissions says beside the rest, in the reading of the service's own client.

    The published interface does not name the amounts there. None: they are not there, or are something else.
    """

    id: Id
    participant_id: Id
    bonus_payments: Annotated[list[Cents] | None, BeforeValidator(_amounts)] = None


class ReturnRequested(Reply):
    id: Id
    status: str


class BonusPlanReply(Reply):
    """The first step of a bonus payment. `study` and `amount` are compared with what was meant before the second."""

    id: Id
    study: Id
    amount: Cents
    fees: Cents
    vat: Cents
    total_amount: Cents


class Message(Reply):
    id: Id
    sender_id: Id
    body: str
    sent_at: datetime
    channel_id: str


class EventType(Reply):
    event_type: str
    description: str = ""


class HookSecret(Reply):
    id: Id
    value: str
    workspace_id: Id


class Subscription(Reply):
    id: Id
    event_type: str
    target_url: str
    is_enabled: bool
    workspace_id: Id


class NewSubscription(Subscription):
    """The specification says a list of results, the official client reads a bare object."""

    @model_validator(mode="before")
    @classmethod
    def _first(cls, found: Any) -> Any:
        return found["results"][0] if isinstance(found, dict) and found.get("results") else found


class Event(Reply):
    id: Id
    event_type: str
    resource_id: str
    status: str


#: Studies that nobody has seen yet; they cost nothing and can be thrown away.
DRAFTS = frozenset({"UNPUBLISHED"})
#: Nobody can take a place. STOP ends in either, and neither is final: more places open both again.
CLOSED = frozenset({"COMPLETED", "AWAITING REVIEW"})
#: A person has the place, and may be at work.
AT_WORK = frozenset({"RESERVED", "ACTIVE"})
DECIDED = frozenset({"APPROVED", "PARTIALLY APPROVED", "REJECTED"})
#: Nobody holds the place any more.
IN_VAIN = frozenset({"RETURNED", "TIMED-OUT"})
#: Nothing moves on from these by itself.
FINAL = DECIDED | IN_VAIN
#: Unreviewed submissions are approved after this.
REVIEWED_WITHIN = timedelta(days=21)
#: Others are in motion.
_STATES: Mapping[str, AssignmentState] = {
    "RESERVED": AssignmentState.OPENED,
    "ACTIVE": AssignmentState.OPENED,
    "TIMED-OUT": AssignmentState.TIMED_OUT,
    "AWAITING REVIEW": AssignmentState.SUBMITTED,
    "APPROVED": AssignmentState.APPROVED,
    "PARTIALLY APPROVED": AssignmentState.APPROVED,
    "REJECTED": AssignmentState.REJECTED,
    "RETURNED": AssignmentState.RETURNED,
}


def offer_report(study: StudyInList, counts: Mapping[str, int]) -> OfferReport:
    """`places_taken` leaves out who was rejected, returned the place, or ran out of time: their places are free."""
    free = max(0, study.total_available_places - study.places_taken)
    decided = sum(counts.get(word, 0) for word in DECIDED)
    listed = decided + counts.get("AWAITING REVIEW", 0)
    is_open = study.status == "ACTIVE"
    limit = study.maximum_allowed_time if isinstance(study, Study) else None
    return OfferReport(
        offer_id=study.id,
        annotation=study.internal_name or "",
        is_open=is_open and free > 0,
        places=study.total_available_places,
        available=free,
        pending=max(0, study.places_taken - listed + counts.get("REJECTED", 0)),
        completed=decided,
        expires_at=None,
        word=study.status,
        is_over=study.status in CLOSED,
        withheld=free if study.status == "AWAITING REVIEW" else 0,
        counts={word: count for word, count in counts.items() if count and word != "TOTAL"},
        moving=frozenset(counts) - FINAL - {"TOTAL"},
        time_limit=timedelta(minutes=limit) if limit else None,
    )


def submission_report(row: SubmissionInList | Submission, offer_id: str) -> SubmissionReport | None:
    """None of one in motion."""
    state = _STATES.get(row.status)
    at = row.completed_at or row.started_at
    if state is None or at is None:
        return None
    person, code = (
        (row.participant_id, row.study_code)
        if isinstance(row, SubmissionInList)
        else (row.participant, row.entered_code)
    )
    return SubmissionReport(
        submission_id=row.id,
        person_id=person,
        offer_id=offer_id,
        state=state,
        submitted_at=at,
        auto_approves_at=at + REVIEWED_WITHIN if state == AssignmentState.SUBMITTED else None,
        code=code or "",
        is_return_requested=bool(row.return_requested),
    )
