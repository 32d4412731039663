"""What becomes of people before they submit: listed by a recruiter, given back, or several sessions under one id.

Coming first is not owning: until an answer counts, whoever comes next with an id begins anew, and puts nobody out. The
first answer that counts decides which session stands for the id; the others count nowhere, and the researcher sees
them.

A recruiter that lists people at work is asked who holds a place before a session counts. Somebody who gives a place
back, at whatever time, has withdrawn, unless they have left before and keep their answers. Who ran out of time and has
finished all the same is counted, and owed for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NoReturn

from django.db import transaction
from django.db.models import Max, Q

from humanexp.core import clock
from humanexp.core.errors import AlreadyTookPart, RecruiterError
from humanexp.core.limits import Allowance
from humanexp.core.models import record
from humanexp.jobs import services as jobs
from humanexp.ledger.deliveries import RETURNED_WITHIN
from humanexp.ledger.models import CallKind, Payment
from humanexp.ledger.outbox import mark_as_taken_part, plan_about, plan_resuming, request_sending
from humanexp.participation import places, sessions
from humanexp.participation.endings import take_back
from humanexp.participation.models import Response, Session, SessionState
from humanexp.participation.openings import mark_submitted, revoke_tokens
from humanexp.participation.places import tie_rivals, verify_session
from humanexp.recruiters.models import Assignment, Campaign, Evidence, Hit
from humanexp.recruiters.people import assignment_of
from humanexp.recruiters.port import OfferReport, SubmissionReport
from humanexp.recruiters.registry import kind_of, recruiter_for
from humanexp.recruiters.states import LISTED, AssignmentState, WriteState, advance


def speaks_of_hits(campaign: Campaign) -> bool:
    """Whether its people know what a HIT is; others go back by the way out that their page offers."""
    return kind_of(campaign.environment).way == "hit"


def refuse_another(campaign: Campaign) -> NoReturn:
    """This person has had all their sessions; whoever holds a HIT hears what to do with it."""
    if not speaks_of_hits(campaign):
        raise AlreadyTookPart
    raise AlreadyTookPart(
        "You have already taken part in this study. Please return this HIT: that does you no harm. Thank you."
    )


def may_begin_anew(assignment: Assignment) -> bool:
    """Whether another session may be begun under this id: until an answer counts."""
    session = assignment.session
    return (
        session is not None
        and session.state == SessionState.OPEN
        and session.confirmed_at is None
        and session.left_at is None
    )


def may_go_on_elsewhere(assignment: Assignment) -> bool:
    """Whether another device may go on with the session: the recruiter lists the place as this person's and under way,
    and the window in which it was begun has been silent."""
    session = assignment.session
    if session is None or session.state != SessionState.OPEN or session.left_at is not None:
        return False
    is_at_work = session.is_verified and assignment.state == AssignmentState.OPENED
    return assignment.campaign.capabilities.lists_in_progress and is_at_work and _is_silent(session)


def go_on_elsewhere(assignment: Assignment) -> None:
    """The window in which it was begun is out; the device that goes on is checked like the first."""
    if assignment.session is None:
        return
    revoke_tokens(session=assignment.session)
    subject = f"session:{assignment.session.code}"
    record(action="go-on-elsewhere", subject=subject, study=assignment.session.study.slug)


def _is_silent(session: Session) -> bool:
    """No answer for a while. That a page was loaded tells nothing: a script loads it for ever."""
    latest = Response.objects.filter(session=session).aggregate(latest=Max("received_at"))["latest"]
    return (latest or session.opened_at) < clock.now() - sessions.SILENT_AFTER


def set_aside(assignment: Assignment) -> Session | None:
    """The session under this id goes on, gives up its slot, and counts nowhere unless its answers come first."""
    session = assignment.session
    if session is None:
        return None
    places.set_aside(session=session)
    assignment.session = None
    assignment.save(update_fields=["session"])
    return session


def keep_beside(aside: Session, session: Session) -> None:
    """Tie a session that was set aside, and all before it, to the one that was begun instead."""
    tie_rivals(session=session, rivals=[aside.pk, *aside.rivals.values_list("pk", flat=True)])
    record(action="begin-anew", subject=f"session:{session.code}", study=session.study.slug, beside=aside.code)


def own_rival(assignment: Assignment, secret: Session | None) -> Session | None:
    """The session beside the one that stands, whose secret the page shows."""
    is_beside = secret is not None and assignment.session is not None and secret.rival_of_id == assignment.session.pk
    return secret if is_beside and secret is not None and secret.state != SessionState.WITHDRAWN else None


@transaction.atomic
def decide(*, assignment: Assignment) -> Assignment:
    """Have the session stand for the id whose answers counted first; what was submitted stays as it is."""
    row = Assignment.objects.select_for_update(of=("self",)).select_related("session", "campaign").get(pk=assignment.pk)
    session = row.session
    if session is None or row.is_listed:
        return row
    began = Q(confirmed_at__isnull=False) & ~Q(state=SessionState.WITHDRAWN)
    rivals = Session.objects.filter(began, Q(rival_of=session) | Q(pk=session.pk))
    first = rivals.order_by("confirmed_at", "pk").first()
    if first is None or first == session:
        return row
    may_count = session.is_verified
    places.set_aside(session=session)
    row.session = first
    row.save(update_fields=["session"])
    tie_rivals(session=first, rivals=[session.pk, *session.rivals.values_list("pk", flat=True)])
    if may_count:
        verify_session(session=first)
    return row


def decide_all(*, campaign: Campaign) -> None:
    """The same of everybody under whose id several sessions were begun."""
    contested = campaign.assignments_taken.filter(session__rivals__confirmed_at__isnull=False).distinct()
    for row in contested:
        decide(assignment=row)


def assignment_behind(session: Session) -> Assignment | None:
    """Under which assignment a session was begun, after a look at which session stands for it now."""
    found = assignment_of(session)
    if found is None or not (session.rival_of_id or session.rivals.exists()):
        return found
    return decide(assignment=found)


def move_session(old: Assignment, new: Assignment) -> None:
    """A person's session goes on, or was submitted, under another assignment, and only there is it owed for."""
    if old.campaign.study_id != new.campaign.study_id:
        refuse_another(new.campaign)
    session = old.session
    old.session = None
    old.save(update_fields=["session"])
    new.session = session
    new.save(update_fields=["session"])
    if old.state == AssignmentState.OPENED:
        advance(old, AssignmentState.RETURNED)


#: Looks at the list of those at work beside the one of every minute: people are told of at once, and whoever invents
#: ids costs no more calls than this. No id is asked about by itself.
ASKING = Allowance(per_s=1 / 30, burst=4)
#: Whoever holds a place stands in the recruiter's list by then.
LISTED_WITHIN = timedelta(minutes=2)
#: All lists are read anew after this long.
WHOLE = timedelta(hours=1)
#: A submission may show later than its time says.
MARGIN = timedelta(hours=1)
#: The person reads it.
NOT_FINISHED = (
    "Your submission came without the completion code of the study, and here the study was not finished. Please return "
    "your place; returning has no consequences for you. If you did finish, write to us within 7 days."
)
RETURNED = "The person gave the place back: it is not paid."


def request_verification(*, campaign: Campaign) -> None:
    """Have the job runner ask soon who holds the places that were begun; committed with the caller's rows."""
    if campaign.capabilities.lists_in_progress:
        jobs.start("recruitment.verify", subject=f"campaign:{campaign.pk}", campaign_id=campaign.pk)


def verify_begun(*, campaign: Campaign) -> int:
    """Look for sessions that do not count yet in the recruiter's list; how many count now. Never call it in a
    transaction."""
    counted = 0
    offer = campaign.hits.exclude(hit_id="").first()
    if offer is None:
        return 0
    begun = campaign.assignments_taken.filter(
        state=AssignmentState.OPENED, session__is_verified__in=[False], person__isnull=False
    )
    rows = list(begun.select_related("person", "session"))
    if not rows or ASKING.spend(campaign.pk):
        return 0
    recruiter = recruiter_for(campaign.environment)
    long_ago = clock.now() - LISTED_WITHIN
    try:
        about = recruiter.offer(offer.hit_id)
        may_be_made_up = any(row.opened_at and row.opened_at < long_ago for row in rows)
        states = set(about.counts) if may_be_made_up else about.moving & set(about.counts)
        listed = list(recruiter.submissions(offer.hit_id, states=states)) if states else []
    except RecruiterError:
        return 0  # the next look tells the same, a little later
    named = {(one.submission_id, one.person_id): one.state for one in listed}
    for row in rows:
        state = named.get((row.assignment_id, row.person.worker_id if row.person else ""))
        if state == AssignmentState.OPENED:
            counted += _count(row, offer)
        elif state is None and row.opened_at and row.opened_at < long_ago:
            _refuse(row)
    return counted


@transaction.atomic
def _count(row: Assignment, hit: Hit) -> bool:
    """This person holds this place: the session counts, unless the person has had all theirs."""
    row = Assignment.objects.select_for_update(of=("self",)).select_related("person", "session").get(pk=row.pk)
    if row.hit_id is None:
        row.hit = hit
        row.save(update_fields=["hit"])
    counts = row.session is None or verify_session(session=row.session)
    if row.person is not None:
        mark_as_taken_part(person=row.person)
    return counts


@transaction.atomic
def _refuse(row: Assignment) -> None:
    """The list names nobody of this id: the ids were made up, or somebody else's."""
    row = Assignment.objects.select_for_update(of=("self",)).select_related("session").get(pk=row.pk)
    if row.state != AssignmentState.OPENED or row.session is None or row.session.is_verified:
        return
    _end(row.session)
    advance(row, AssignmentState.RETURNED)
    record(action="refuse-ticket", subject=f"assignment:{row.pk}", study=row.session.study.slug)


def store_standing(campaign: Campaign, hit: Hit, listed: Iterable[SubmissionReport]) -> int:
    """What a list says of those who have not submitted, or not for good; how many gave their place back.

    Only of people whom we know: of others nothing is stored.
    """
    told = {(one.submission_id, one.person_id): one for one in listed}
    rows = campaign.assignments_taken.filter(assignment_id__in=[submission for submission, _ in told])
    returned = reopened = 0
    for row in rows.select_related("person", "session"):
        report = told.get((row.assignment_id, row.person.worker_id if row.person else ""))
        if report is None:
            continue
        if report.state == AssignmentState.OPENED and row.session is not None and not row.session.is_verified:
            _count(row, hit)
        elif report.state == AssignmentState.RETURNED:
            was_submitted = row.state == AssignmentState.SUBMITTED
            if _give_back(row, hit):
                returned, reopened = returned + 1, reopened + was_submitted
        elif report.state == AssignmentState.TIMED_OUT and row.state == AssignmentState.OPENED:
            _run_out(row, hit, report)
    if reopened:
        plan_resuming(hit=hit)
    return returned


@transaction.atomic
def _give_back(row: Assignment, hit: Hit) -> bool:
    """A withdrawal, finished or not: out of the analysis at once, erased by its rule, and paid by no rule.

    Whoever has left and keeps the answers was asked to return the place: what they said of their answers holds.
    """
    row = Assignment.objects.select_for_update(of=("self",)).select_related("session", "person").get(pk=row.pk)
    is_kept = row.session is not None and row.session.left_at is not None
    if row.session is not None and row.session.state != SessionState.WITHDRAWN and not is_kept:
        _end(row.session)
    elif row.state == AssignmentState.RETURNED:
        return False
    if row.state != AssignmentState.RETURNED:
        advance(row, AssignmentState.RETURNED, evidence=Evidence.NONE, hit=row.hit or hit)
    for payment in Payment.objects.filter(assignment=row, state=WriteState.PLANNED):
        advance(payment, WriteState.REFUSED, last_error=RETURNED)
    if row.person is not None:
        mark_as_taken_part(person=row.person)
    record(action="returned", subject=f"assignment:{row.pk}", study=row.campaign.study.slug)
    return True


@transaction.atomic
def _run_out(row: Assignment, hit: Hit, report: SubmissionReport) -> None:
    """Whoever is still at work may finish: it counts, and is owed for."""
    _count(row, hit)
    row.refresh_from_db()
    advance(row, AssignmentState.TIMED_OUT, submitted_at=report.submitted_at)


def _end(session: Session) -> None:
    """With what was begun beside it under the same id."""
    for rival in session.rivals.exclude(state=SessionState.WITHDRAWN):
        take_back(session=rival)
    take_back(session=session)


def states_to_read(campaign: Campaign, hit: Hit, about: OfferReport) -> tuple[set[str], datetime | None]:
    """Of which of the recruiter's states the lists are read, and of whom that began since when; None: of everybody.

    Everybody once an hour. Whoever moves on from one state to the next changes at least one count, though not each of
    the two: with any change the lists of those who are still moving are read, too. Whoever has submitted since the
    last one that is known began at most the time limit earlier. A count of those who had moved on for good that falls
    says that somebody did all the same, whenever they began.
    """
    everybody = set(about.counts), None
    if hit.listed_at is None or not timedelta() <= clock.now() - hit.listed_at < WHOLE:
        return everybody
    words = {*about.counts, *hit.counts}
    changed = {word for word in words if about.counts.get(word) != hit.counts.get(word)}
    unknown = campaign.assignments_taken.filter(state=AssignmentState.OPENED, session__is_verified__in=[False])
    if not changed and not unknown.exists():
        return set(), clock.now()
    latest = hit.assignments_taken.filter(state__in=LISTED).aggregate(latest=Max("submitted_at"))["latest"]
    came_back = any(about.counts.get(word, 0) < hit.counts.get(word, 0) for word in changed - about.moving)
    if latest is None or about.time_limit is None or came_back:
        return everybody
    return (changed | about.moving) & set(about.counts), latest - MARGIN - about.time_limit


def ask_for_return(row: Assignment, found: SubmissionReport) -> None:
    """Somebody came back without having finished: they are asked to give the place back, once, and then waited for."""
    if not row.campaign.capabilities.lists_in_progress or not row.is_unmatched or row.person is None:
        return
    if found.is_return_requested:
        row.return_due_at = clock.now() + RETURNED_WITHIN
        row.save(update_fields=["return_due_at"])
        return
    if row.evidence not in (Evidence.UNFINISHED, Evidence.UNKNOWN):
        return
    if not row.calls.filter(kind=CallKind.RETURN).exists():
        plan_about(row, CallKind.RETURN, reason=NOT_FINISHED)
    request_sending(environment=row.environment)


def mark_finished(*, campaign: Campaign) -> None:
    """Sessions of people who ran out of time and finished count like submitted ones; what was cut short is weighed."""
    late = campaign.assignments_taken.filter(state=AssignmentState.TIMED_OUT, session__state=SessionState.COMPLETED)
    for row in late.select_related("session"):
        if row.session is not None:
            mark_submitted(session=row.session, at=row.submitted_at or clock.now())
            Assignment.objects.filter(pk=row.pk).update(evidence=Evidence.SESSION)
    cut_short = campaign.assignments_taken.filter(state=AssignmentState.TIMED_OUT, session__out_of_time=True)
    for row in cut_short.filter(evidence=Evidence.NONE).select_related("session"):
        if row.session is not None:
            Assignment.objects.filter(pk=row.pk).update(evidence=weigh_cut_short(row.session))


def weigh_cut_short(session: Session) -> Evidence:
    """What a session proves that the study ended for want of time. Without this, whoever opens the page and waits until
    the place is nearly over would be paid unseen."""
    if 2 * session.cursor < session.total:
        return Evidence.HALF_UNDONE
    return Evidence.NO_PICTURES if session.fetched is not None and not session.fetched else Evidence.OUT_OF_TIME
