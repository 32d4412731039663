"""Polling: what the recruiter lists is the truth about HITs and assignments. Twice is once.

Events that recruiters post say "look now", once; what there is to see, the lists say.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q

from humanexp.core import clock
from humanexp.core.errors import Conflict, KeysRefused, NotAtRecruiter, RecruiterError, TokenRefused, WrongCurrency
from humanexp.core.models import record
from humanexp.jobs import services as jobs
from humanexp.ledger.delivery import pause, resume
from humanexp.ledger.outbox import Report, mark_as_taken_part
from humanexp.ledger.settlement import adopt_approval
from humanexp.participation.models import Session, SessionState
from humanexp.participation.openings import mark_submitted, receipt_is_valid, withdraw_session
from humanexp.participation.places import release_slot, verify_session
from humanexp.participation.sessions import session_for_token
from humanexp.recruiters.campaigns import campaigns_with_hits, hits_to_ask_about, listed_by_hit, unfinished_campaigns
from humanexp.recruiters.models import Assignment, Campaign, Evidence, Hit, Pause, RecruiterAccount
from humanexp.recruiters.people import person_for
from humanexp.recruiters.port import OfferReport, Recruiter, SubmissionReport
from humanexp.recruiters.registry import account_of, currency_of, recruiter_for, those
from humanexp.recruiters.states import LISTED, AssignmentState, HitState, advance
from humanexp.recruiting.attendance import (
    ask_for_return,
    assignment_behind,
    decide_all,
    mark_finished,
    move_session,
    states_to_read,
    store_standing,
    weigh_cut_short,
)
from humanexp.recruiting.models import HookEvent
from humanexp.studies.models import Population, Study

#: Deliveries are repeated for a day.
REMEMBERED = timedelta(days=2)


def hear(*, environment: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether this delivery comes for the first time. An event that is signed and delivered anew is looked at again.

    Raises NotFound where nobody tells, and NotAllowed for a forged event.
    """
    account = account_of(environment)
    hint = account.kind.told(account, headers, body)
    digest = hashlib.sha256(hint.delivery.encode()).hexdigest()
    with transaction.atomic():
        is_waited_for = HookEvent.objects.filter(environment=environment, looked_at=None).exists()
        _, is_new = HookEvent.objects.get_or_create(
            environment=environment, digest=digest, defaults={"campaign": _campaign_of(environment, hint.about)}
        )
        if is_new and not is_waited_for:  # else the job that was asked for looks at this one, too
            jobs.submit("recruitment.listen", subject=f"recruiter:{environment}")
    return is_new


def told_campaigns(environment: str) -> list[Campaign]:
    """Campaigns that were told of since the last call; taken before they are looked at, so that none waits for ever."""
    now = clock.now()
    HookEvent.objects.filter(environment=environment, received_at__lt=now - REMEMBERED).delete()
    waiting = list(HookEvent.objects.filter(environment=environment, looked_at=None))
    HookEvent.objects.filter(pk__in=[event.pk for event in waiting]).update(looked_at=now)
    if not waiting:
        return []
    keys = {event.campaign_id for event in waiting}
    here = [campaign for campaign in unfinished_campaigns() if campaign.environment == environment]
    return [campaign for campaign in here if None in keys or campaign.pk in keys]


def _campaign_of(environment: str, about: str) -> Campaign | None:
    """Whose offer or submission this is; one that is not known yet may be of any."""
    is_it = Q(hits__hit_id=about) | Q(assignments_taken__assignment_id=about)
    return Campaign.objects.filter(is_it, environment=environment).order_by("-pk").first() if about else None


#: So many HITs are asked about one by one, each for itself; more are read from the recruiter's list.
FEW = 5
#: So many HITs in a row without a reply: nobody is there.
MOST_IN_VAIN = 3
#: A submission in the last second is listed a little later.
GRACE = timedelta(minutes=30)


@dataclass
class SyncReport(Report):
    """What one round of polling found."""

    hits: int = 0
    #: newly listed assignments, those without a session of ours among them
    submitted: int = 0
    unmatched: int = 0
    approved: int = 0
    rejected: int = 0
    returned: int = 0


def sync(*, study: Study | None = None) -> SyncReport:
    """Ask every recruiter about its open HITs and store what has changed. Never call it in a transaction."""
    return _sync(unfinished_campaigns(study))


def listen() -> SyncReport:
    """Look at once at what the recruiters' queues and events tell of. Polling finds the same, a little later."""
    report = SyncReport()
    for environment in those(vouches=True):
        if not Campaign.objects.filter(environment=environment).exclude(hit_type_id="").exists():
            continue
        try:
            told = recruiter_for(environment).hints()
        except RecruiterError as error:
            report.remarks.append(error.message)
            continue
        campaigns = {one.pk: one for one in told_campaigns(environment)}
        if told:
            campaigns |= {one.pk: one for one in campaigns_with_hits(environment, told)}
        report.add(_sync(campaigns.values()))
    return report


def _sync(campaigns: Iterable[Campaign]) -> SyncReport:
    report = SyncReport()
    for campaign in campaigns:
        try:
            _sync_campaign(campaign, recruiter_for(campaign.environment), report)
        except RecruiterError as error:
            if isinstance(error, KeysRefused):
                pause(campaign.environment, Pause.KEYS, error.message)
            report.remark(error.message)
    return report


def refresh_balance(*, environment: str) -> int | None:
    """Ask for the money left in the account, and remember the answer for the pages. Keys that work end their pause."""
    cents = recruiter_for(environment).balance_cents()
    resume(environment, Pause.KEYS)
    RecruiterAccount.objects.update_or_create(
        environment=environment,
        defaults={"balance_cents": cents, "balance_at": clock.now(), "currency": currency_of(environment)},
    )
    return cents


def _sync_campaign(campaign: Campaign, recruiter: Recruiter, report: SyncReport) -> None:
    decide_all(campaign=campaign)
    in_vain = unread = 0
    hits = hits_to_ask_about(campaign)
    described = _described(hits, recruiter)
    known = listed_by_hit(campaign)
    for hit in hits:
        try:
            # The HIT first: once it is closed, the list that follows is complete.
            about = recruiter.offer(hit.hit_id) if described is None else described.get(hit.hit_id)
            if about is None:
                raise NotAtRecruiter
            listed = _listed(campaign, hit, about, recruiter, lacks=known[hit.pk].lacks(about))
        except NotAtRecruiter:  # removed by its age, or these keys are another account's: the others go on
            report.remarks.append(
                f"{campaign.environment} no longer lists the offer {hit.hit_id}: nothing new is learned of it."
            )
            continue
        except KeysRefused:
            raise
        except RecruiterError as error:  # no reply, or a bad one: it is about this HIT alone
            in_vain, unread = in_vain + 1, unread + 1
            if in_vain == MOST_IN_VAIN:
                raise
            report.remark(error.message)
            continue
        in_vain = 0
        if listed:
            _store_listed(campaign, hit, listed, report)
        _store_hit(hit, about)
        report.hits += 1
    if recruiter.capabilities.vouches:
        try:
            refresh_balance(environment=campaign.environment)
        except WrongCurrency as error:  # no balance is shown; people are looked after all the same
            report.remark(error.message)
    if unread:
        return  # who is missing may stand in a list that was not read
    mark_finished(campaign=campaign)
    report.returned += _give_up_lost(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(synced_at=clock.now())


def _listed(
    campaign: Campaign, hit: Hit, about: OfferReport, recruiter: Recruiter, *, lacks: bool
) -> list[SubmissionReport]:
    """What may be new in the recruiter's lists; where it counts by states, of those states that have changed."""
    if not recruiter.capabilities.lists_in_progress:
        return list(recruiter.submissions(hit.hit_id)) if lacks else []
    began_at = clock.now()
    states, since = states_to_read(campaign, hit, about)
    listed = list(recruiter.submissions(hit.hit_id, states=states, since=since)) if states else []
    if since is None:
        kept = [found for found in _decliners(campaign, listed) if found.state == AssignmentState.SUBMITTED]
        ends = [found.auto_approves_at for found in kept if found.auto_approves_at is not None]
        facts = {"listed_at": began_at, "places_kept": len(kept), "kept_until": min(ends, default=None)}
        Hit.objects.filter(pk=hit.pk).update(**facts)
    return listed


def _decliners(campaign: Campaign, listed: Sequence[SubmissionReport]) -> list[SubmissionReport]:
    """Places of people who did not agree, or could not take part: nothing of them is kept here."""
    site = campaign.site
    codes = {row.code for row in site.codes.values() if row.code and row.paid == "nothing"} if site else set()
    came = [found for found in listed if found.code in codes]
    ours = campaign.assignments_taken.filter(assignment_id__in=[found.submission_id for found in came])
    known = set(ours.values_list("assignment_id", "person__worker_id"))
    return [found for found in came if (found.submission_id, found.person_id) not in known]


def _described(hits: Sequence[Hit], recruiter: Recruiter) -> Mapping[str, OfferReport] | None:
    """Of many HITs, what the recruiter's own list says, page by page; None of a few, each of which is asked about."""
    if len(hits) <= FEW:
        return None
    return {about.offer_id: about for about in recruiter.offers([hit.hit_id for hit in hits])}


def _store_listed(campaign: Campaign, hit: Hit, listed: Sequence[SubmissionReport], report: SyncReport) -> None:
    report.returned += store_standing(campaign, hit, [found for found in listed if found.state not in LISTED])
    listed = [found for found in listed if found.state in LISTED]
    nobodies = {(found.submission_id, found.person_id) for found in _decliners(campaign, listed)}
    # Of this HIT's alone: a study of a thousand people in HITs of nine asks about more than a hundred.
    ids = [found.submission_id for found in listed]
    rows = list(campaign.assignments_taken.filter(assignment_id__in=ids).select_related("person"))
    known = {(row.assignment_id, row.person.worker_id): row.state for row in rows if row.person is not None}
    # People who had themselves deleted stay forgotten.
    forgotten = {row.assignment_id for row in rows if row.person is None and row.is_listed}
    for found in listed:
        is_new = known.get((found.submission_id, found.person_id)) != found.state
        is_nobody = (found.submission_id, found.person_id) in nobodies
        if is_new and not is_nobody and found.submission_id not in forgotten:
            _store_assignment(campaign, hit, found, report)


def _store_hit(hit: Hit, about: OfferReport) -> None:
    facts = {
        "available": about.available,
        "pending": about.pending,
        "completed": about.completed,
        # an offer without an end of its own has the one at which somebody closed it
        "expires_at": about.expires_at or (hit.expires_at if about.is_over else None),
        "counts": dict(about.counts),
    }
    state = HitState.OPEN if about.is_open else HitState.CLOSED
    if hit.state != state or any(getattr(hit, name) != value for name, value in facts.items()):
        _change_hit(hit, state, facts)


@transaction.atomic
def _change_hit(hit: Hit, state: HitState, facts: Mapping[str, Any]) -> None:
    # Two may poll at once (the job runner and a command): the second finds the first one's state.
    hit = Hit.objects.select_for_update().get(pk=hit.pk)
    if hit.state != state:
        advance(hit, state, **facts)
    else:
        Hit.objects.filter(pk=hit.pk).update(**facts)


@transaction.atomic
def _store_assignment(campaign: Campaign, hit: Hit, found: SubmissionReport, report: SyncReport) -> None:
    row = _row_of(campaign, hit, found)
    if not row.is_listed:
        _bring_back_session(row, found)
        evidence = _verified(row, weigh(row, found))
        advance(
            row,
            AssignmentState.SUBMITTED,
            hit=hit,
            evidence=evidence,
            submitted_at=found.submitted_at,
            auto_approves_at=found.auto_approves_at,
        )
        report.submitted += 1
        report.unmatched += row.is_unmatched
        _give_up_namesakes(row, report)
        ask_for_return(row, found)
        if row.session is not None and row.session.state == SessionState.COMPLETED:
            mark_submitted(session=row.session, at=found.submitted_at)
    if found.state == AssignmentState.APPROVED and row.state != AssignmentState.APPROVED:
        adopt_approval(assignment=row)
        advance(row, AssignmentState.APPROVED, decided_at=found.decided_at or clock.now())
        report.approved += 1
    elif found.state == AssignmentState.REJECTED and row.state == AssignmentState.SUBMITTED:
        advance(row, AssignmentState.REJECTED, decided_at=found.decided_at or clock.now())
        record(action="rejected-elsewhere", subject=f"assignment:{row.pk}", study=row.campaign.study.slug)
        report.rejected += 1


def _verified(row: Assignment, evidence: Evidence) -> Evidence:
    """The recruiter has named this person: the session counts, and the person sees the family's HITs no more.

    Whoever did the work in several HITs at once has more sessions than count: a person decides about their pay.
    """
    counts = row.session is None or verify_session(session=row.session)
    if row.person is not None:
        mark_as_taken_part(person=row.person)
    finished = (Evidence.RECEIPT, Evidence.SESSION, Evidence.OUT_OF_TIME, Evidence.HALF_UNDONE, Evidence.NO_PICTURES)
    was_left = row.session is not None and row.session.state == SessionState.WITHDRAWN
    return Evidence.EXTRA if not counts and not was_left and evidence in finished else evidence


def _row_of(campaign: Campaign, hit: Hit, found: SubmissionReport) -> Assignment:
    """Our row of a listed pair of assignment and worker; made when the frame never told us of it."""
    person = person_for(
        environment=campaign.environment,
        worker_id=found.person_id,
        family=campaign.study.family,
        scripted=campaign.study.population == Population.SCRIPTED,
    )
    row, _ = Assignment.objects.select_for_update().get_or_create(
        environment=campaign.environment,
        assignment_id=found.submission_id,
        person=person,
        defaults={"campaign": campaign, "hit": hit, "state": AssignmentState.RETURNED},
    )
    return row


def _bring_back_session(row: Assignment, found: SubmissionReport) -> None:
    """Submitted here with the receipt of a session that had gone on under another assignment of the same person.

    Two tabs do this, or somebody who types a worker id: whoever the recruiter lists did the work, and is owed for it
    once. A session under an assignment that is listed stays there.
    """
    receipt = found.answers.get("receipt", "")
    if row.session is not None or not receipt:
        return
    elsewhere = Assignment.objects.filter(
        person=row.person, campaign__study=row.campaign.study_id, session__isnull=False
    ).exclude(state__in=LISTED)
    for other in elsewhere.select_for_update(of=("self",)).select_related("session"):
        if other.session is not None and receipt_is_valid(session=other.session, receipt=receipt):
            move_session(other, row)
            return


def weigh(assignment: Assignment, found: SubmissionReport) -> Evidence:
    """What a submission proves. The receipt counts even where our row says otherwise."""
    receipt, session = found.answers.get("receipt", ""), assignment.session
    if session is not None:
        if session.out_of_time:
            return weigh_cut_short(session)
        has_receipt = bool(receipt) and receipt_is_valid(session=session, receipt=receipt)
        if not has_receipt and session.state not in (SessionState.COMPLETED, SessionState.SUBMITTED):
            return Evidence.UNFINISHED
        if session.fetched is not None and not session.fetched:
            return Evidence.NO_PICTURES
        return Evidence.RECEIPT if has_receipt else Evidence.SESSION
    # Session, assignment and worker belong together only if one of them said so before: anybody can type an id.
    if receipt:
        namesakes = Assignment.objects.filter(
            environment=assignment.environment, assignment_id=assignment.assignment_id, session__isnull=False
        )
        for namesake in namesakes.select_related("session"):
            if namesake.session and receipt_is_valid(session=namesake.session, receipt=receipt):
                return Evidence.OTHER_WORKER
    return Evidence.UNKNOWN


def _give_up_namesakes(row: Assignment, report: SyncReport) -> None:
    """Somebody else entered under this assignment id: they returned it, and it went on to the one who is listed."""
    others = Assignment.objects.filter(
        environment=row.environment, assignment_id=row.assignment_id, state=AssignmentState.OPENED
    )
    for other in others.exclude(pk=row.pk).select_related("person"):
        report.returned += _give_up(other)


def _give_up_lost(campaign: Campaign) -> int:
    """Nobody lists a returned or abandoned assignment: one past its deadline is over; its place is free again.

    The deadline is told by this machine's clock. Where that was set forward, everybody seems to be late and unheard of:
    the next look, a minute later, knows who is at work.
    """
    now = clock.now()
    if campaign.synced_at is not None and now - campaign.synced_at > GRACE:
        return 0
    over = now - campaign.assignment_duration - GRACE
    lost = campaign.assignments_taken.filter(state=AssignmentState.OPENED, opened_at__lt=over)
    lost = lost.exclude(session__last_seen_at__gte=now - GRACE)
    return sum(_give_up(assignment) for assignment in lost.select_related("person"))


@transaction.atomic
def _give_up(assignment: Assignment) -> bool:
    """An unfinished session ends with it, and its person may come again; one that is finished, or whose person left
    and keeps the answers, waits for a person's look."""
    session = Session.objects.select_for_update().filter(assignment=assignment).first()
    locked = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if locked.state != AssignmentState.OPENED:
        return False  # submitted, or given up by another poll, in this very moment
    if session is not None and session.state == SessionState.OPEN and session.left_at is None:
        withdraw_session(session=session)
        if assignment.person is not None:
            mark_as_taken_part(person=assignment.person)
    elif session is not None:
        release_slot(session=session)
    advance(locked, AssignmentState.RETURNED)
    return True


def finish_link(*, campaign: Campaign, token: str) -> None:
    """Somebody who came by a plain link has finished; `sync` finds the same a little later."""
    session = session_for_token(token)
    if campaign.capabilities.vouches or session.study_id != campaign.study_id:
        raise TokenRefused(reason="foreign", session_id=session.pk)
    assignment = assignment_behind(session)
    if assignment is None or assignment.campaign_id != campaign.pk or assignment.hit is None:
        raise TokenRefused(reason="foreign", session_id=session.pk)
    found = recruiter_for(campaign.environment).submission(assignment.assignment_id)
    if found is None:
        raise Conflict("The study is not finished yet: some trials have no answer.")
    if not assignment.is_listed:
        _store_assignment(campaign, assignment.hit, found, SyncReport())
