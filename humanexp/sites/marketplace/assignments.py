"""Assignments: the groups of HITs that a worker sees, accept, return, submit; the requester approves or rejects."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median

from django.db import transaction
from django.db.models import Q

from humanexp.sites.marketplace.accounts import is_blocked_by
from humanexp.sites.marketplace.errors import (
    AlreadyTaken,
    AssignmentClosed,
    Blocked,
    EmptySubmission,
    InvalidAssignmentState,
    NotFound,
    NothingAvailable,
)
from humanexp.sites.marketplace.hits import require_funds
from humanexp.sites.marketplace.models.people import Worker
from humanexp.sites.marketplace.models.work import (
    HIT,
    Assignment,
    HITQuerySet,
    HITType,
    UploadedFile,
    is_taking_a_place,
)
from humanexp.sites.marketplace.qualifications import profile_of
from humanexp.sites.marketplace.question import RESERVED_FIELDS, read_question
from humanexp.sites.marketplace.question_form import QuestionForm, answers_to_xml, fields_to_xml
from humanexp.sites.marketplace.requirements import Action, require, unmet
from humanexp.sites.marketplace.states import OVERRIDE_DAYS, AssignmentState, HITState
from humanexp.sites.marketplace.work import work_in_hand
from humanexp.sites.rows import change, first_or

#: Submissions from which a median is shown.
_ENOUGH = 5
#: Submissions that are looked at for all medians of a page.
_LATEST = 2_000
_MINUTES = re.compile(r"\b([1-9][0-9]{0,2})\s*min(?:\b|ute)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Group:
    """The HITs of one type that this worker could still take."""

    hit_type: HITType
    hits: int
    #: Free places in them.
    available: int
    expires_at: datetime
    can_preview: bool
    can_accept: bool
    #: Half of those who did it took less; None while too few have.
    median_seconds: int | None = None

    @property
    def stated_minutes(self) -> int | None:
        """As the requester says in title or description: "about 7 minutes". The API has no field for it."""
        said = _MINUTES.search(f"{self.hit_type.title} {self.hit_type.description}")
        return int(said[1]) if said else None

    @property
    def cents_per_hour(self) -> int | None:
        """At the median of those who did it; until enough have, at the time that the requester states."""
        seconds = self.median_seconds or 60 * (self.stated_minutes or 0)
        return round(self.hit_type.reward_cents * 3600 / seconds) if seconds else None


def takeable_hits(worker: Worker | None, now: datetime) -> HITQuerySet:
    """Open HITs that this worker has not got and has not done, of requesters who have not blocked the worker.

    Qualifications are another question.
    """
    hits = HIT.objects.counted(now).open(now)
    if worker is None:
        return hits
    hits = hits.exclude(requester__in=worker.blocks.values("requester"))
    return hits.exclude(pk__in=Assignment.objects.filter(is_taking_a_place(now), worker=worker).values("hit"))


def median_times(hit_types: Iterable[int]) -> dict[int, int]:
    """Seconds from acceptance to submission, by HIT type, over the latest submissions; types with few are left out."""
    taken: dict[int, list[float]] = defaultdict(list)
    submitted = Assignment.objects.filter(hit__hit_type__in=list(hit_types), submitted_at__isnull=False)
    times = submitted.order_by("-submitted_at").values_list("hit__hit_type_id", "accepted_at", "submitted_at")
    for hit_type, accepted_at, submitted_at in times[:_LATEST]:
        if submitted_at is not None:
            taken[int(hit_type)].append((submitted_at - accepted_at).total_seconds())
    return {hit_type: max(1, round(median(seconds))) for hit_type, seconds in taken.items() if len(seconds) >= _ENOUGH}


def groups_for(worker: Worker | None, now: datetime, order: str = "") -> list[Group]:
    """Newest first unless `order` is "reward" or "hour"; groups hidden from this worker are not there."""
    profile = profile_of(worker, now)
    by_type: dict[int, list[HIT]] = {}
    for hit in takeable_hits(worker, now).select_related(None).defer("question", "external_url"):
        by_type.setdefault(hit.hit_type_id, []).append(hit)
    groups = []
    times = median_times(by_type)
    for hit_type in HITType.objects.filter(pk__in=by_type).select_related("requester").order_by("-pk"):
        if unmet(hit_type.requirements, profile, Action.DISCOVER):
            continue
        hits = by_type[hit_type.pk]
        groups.append(
            Group(
                hit_type=hit_type,
                hits=len(hits),
                available=sum(hit.n_available for hit in hits),
                expires_at=max(hit.expires_at for hit in hits),
                can_preview=not unmet(hit_type.requirements, profile, Action.PREVIEW),
                can_accept=not unmet(hit_type.requirements, profile, Action.ACCEPT),
                median_seconds=times.get(hit_type.pk),
            )
        )
    if order == "reward":
        groups.sort(key=lambda group: -group.hit_type.reward_cents)
    if order == "hour":
        groups.sort(key=lambda group: -(group.cents_per_hour or 0))
    return groups


def hit_type_by_id(hit_type_id: str) -> HITType:
    return first_or(HITType.objects.select_related("requester").filter(hit_type_id=hit_type_id), NotFound())


def hit_type_by_group(group_id: str) -> HITType:
    """By the id of the group or of the type: both stand in links that clients make."""
    named = Q(group_id=group_id) | Q(hit_type_id=group_id)
    types = HITType.objects.filter(named) if group_id.isalnum() else HITType.objects.none()
    return first_or(types, NotFound())


def hit_by_id(hit_id: str, now: datetime) -> HIT:
    return first_or(HIT.objects.counted(now).filter(hit_id=hit_id), NotFound())


@dataclass(frozen=True, kw_only=True)
class SentFile:
    """A file in a worker's form."""

    name: str
    content: bytes


@transaction.atomic
def accept_from_group(*, worker: Worker, hit_type: HITType, now: datetime) -> Assignment:
    """The group's next HIT, or the one of this group that the worker has in hand: a second click changes nothing."""
    in_hand = work_in_hand(worker, now).filter(hit__hit_type=hit_type).first()
    if in_hand is not None:
        return in_hand
    _require_qualified(worker, hit_type, now)
    for pk in takeable_hits(worker, now).filter(hit_type=hit_type).order_by("pk").values_list("pk", flat=True)[:20]:
        try:
            return accept(worker=worker, hit=HIT.objects.get(pk=pk), now=now)
        except NothingAvailable:
            continue  # somebody else was faster; with SQLite this cannot happen
    raise NothingAvailable


@transaction.atomic
def accept(*, worker: Worker, hit: HIT, now: datetime) -> Assignment:
    """A place on this HIT for this worker; the one in hand when it was accepted before."""
    HIT.objects.select_for_update().get(pk=hit.pk)
    earlier = Assignment.objects.filter(worker=worker, hit=hit, returned_at=None, abandoned_at=None).first()
    if earlier is not None:
        state = earlier.state(now)
        if state is AssignmentState.ACCEPTED:
            return earlier
        if state is not AssignmentState.ABANDONED:
            raise AlreadyTaken
        change(earlier, abandoned_at=earlier.deadline_at)
    _require_qualified(worker, hit.hit_type, now)
    if not HIT.objects.counted(now).open(now).filter(pk=hit.pk).exists():
        raise NothingAvailable
    return Assignment.objects.create(
        hit=hit,
        worker=worker,
        reward_cents=hit.hit_type.reward_cents,
        fee_cents=hit.fee_cents,
        accepted_at=now,
        deadline_at=now + timedelta(seconds=hit.hit_type.assignment_duration_seconds),
    )


def _require_qualified(worker: Worker, hit_type: HITType, now: datetime) -> None:
    if is_blocked_by(hit_type.requester, worker):
        raise Blocked
    require(hit_type.requirements, profile_of(worker, now), Action.ACCEPT)


@transaction.atomic
def give_back(*, assignment: Assignment, now: datetime) -> Assignment:
    """The place is free again; twice equals once."""
    assignment = Assignment.objects.select_for_update().get(pk=assignment.pk)
    state = assignment.state(now)
    if state in (AssignmentState.RETURNED, AssignmentState.ABANDONED):
        return assignment
    if state is not AssignmentState.ACCEPTED:
        raise AssignmentClosed("This work has been submitted; it cannot be returned.")
    return change(assignment, returned_at=now)


@transaction.atomic
def submit(
    *,
    assignment_id: str,
    fields: Mapping[str, Sequence[str]],
    files: Mapping[str, SentFile] | None = None,
    now: datetime,
) -> Assignment:
    """Store a worker's answer, once. The same assignment again changes nothing: the first answer stands."""
    locked = Assignment.objects.select_for_update(of=("self",)).select_related("hit__hit_type")
    assignment = first_or(
        locked.filter(assignment_id=assignment_id) if assignment_id.isalnum() else locked.none(),
        NotFound("No work with this assignmentId was accepted here. A preview cannot be submitted: accept first."),
    )
    if assignment.submitted_at is not None:
        return assignment
    if assignment.state(now) is not AssignmentState.ACCEPTED:
        raise AssignmentClosed
    named = {name: values for name, values in fields.items() if name not in RESERVED_FIELDS}
    if not named and not files:
        raise EmptySubmission
    return change(
        assignment,
        answer=_answer(assignment, named, files or {}),
        submitted_at=now,
        auto_approves_at=now + timedelta(seconds=assignment.hit.hit_type.auto_approval_delay_seconds),
    )


def _answer(assignment: Assignment, fields: Mapping[str, Sequence[str]], files: Mapping[str, SentFile]) -> str:
    """A page's fields as they are; a QuestionForm's as its questions ask."""
    question = None if assignment.hit.external_url else read_question(assignment.hit.question)
    if not isinstance(question, QuestionForm):
        # A name sent more than once (check boxes) is one answer, its values joined as on MTurk.
        return fields_to_xml((name, "|".join(values)) for name, values in fields.items())
    answers = list(question.accepted(fields, {name: len(sent.content) for name, sent in files.items()}))
    for number, one in enumerate(answers):
        if one.identifier in files and one.free_text is None and not one.selections:
            sent = files[one.identifier]
            stored = UploadedFile.objects.create(
                assignment=assignment, question_identifier=one.identifier, name=sent.name, content=sent.content
            )
            answers[number] = replace(one, file_key=stored.key)
    return answers_to_xml(answers)


@transaction.atomic
def approve(*, assignment: Assignment, feedback: str | None, override_rejection: bool, now: datetime) -> Assignment:
    """Submitted work; or rejected work, with the override, for 30 days and while the HIT is there."""
    state = assignment.state(now)
    overriding = state is AssignmentState.REJECTED and override_rejection
    if state is not AssignmentState.SUBMITTED and not overriding:
        allowed = "Submitted, Rejected" if override_rejection else "Submitted"
        raise _wrong_state(assignment, state, allowed)
    if overriding:
        hit = HIT.objects.counted(now).get(pk=assignment.hit_id)
        if hit.state(now) is HITState.DISPOSED:
            raise InvalidAssignmentState("The HIT has been deleted; its rejections cannot be overridden any more.")
        if assignment.submitted_at is None or assignment.submitted_at < now - timedelta(days=OVERRIDE_DAYS):
            raise InvalidAssignmentState("A rejection can be overridden for 30 days after the submission.")
        # A submitted assignment's money is on hold; a rejected one's was set free.
        require_funds(requester=hit.requester, cost_cents=assignment.cost_cents, now=now)
    said = {} if feedback is None else {"requester_feedback": feedback}
    return change(assignment, approved_at=now, **said)


@transaction.atomic
def reject(*, assignment: Assignment, feedback: str, now: datetime) -> Assignment:
    """Submitted work only; the worker reads the feedback."""
    state = assignment.state(now)
    if state is not AssignmentState.SUBMITTED:
        raise _wrong_state(assignment, state, "Submitted")
    return change(assignment, rejected_at=now, requester_feedback=feedback)


def _wrong_state(assignment: Assignment, state: AssignmentState, allowed: str) -> InvalidAssignmentState:
    return InvalidAssignmentState(
        f"This operation can be called with a status of: {allowed}. "
        f"Assignment {assignment.assignment_id} has the status {state}."
    )
