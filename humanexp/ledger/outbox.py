"""What is to be sent: rows that are planned in the caller's transaction, and the request for a round of the sender.

The sender itself stands apart (sender.py): whoever plans a row does not import it.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Self

from django.db import transaction
from django.db.models import Q

from humanexp.core.errors import Conflict, IllegalTransition
from humanexp.core.models import User, record
from humanexp.jobs import services as jobs
from humanexp.ledger.budgets import place_cents
from humanexp.ledger.models import Call, CallKind
from humanexp.participation.sessions import counted_sessions
from humanexp.recruiters.campaigns import sessions_allowed
from humanexp.recruiters.models import Assignment, Campaign, Hit, QualificationType, RecruitedPerson
from humanexp.recruiters.port import QualificationOrder
from humanexp.recruiters.registry import capabilities_of
from humanexp.recruiters.states import UNFINISHED, CampaignState, WriteState, advance
from humanexp.studies import permissions
from humanexp.studies.models import Action, StudyFamily


@dataclass
class Report:
    """Counts of one round, and a sentence about each thing that somebody should know."""

    remarks: list[str] = field(default_factory=list)

    def add(self, other: Self) -> None:
        for one in fields(self):
            if one.name != "remarks":
                setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))
        for remark in other.remarks:
            self.remark(remark)

    def remark(self, sentence: str) -> None:
        if sentence not in self.remarks:
            self.remarks.append(sentence)


def plan_about(assignment: Assignment, kind: CallKind, *, by: User | None = None, **facts: object) -> Call:
    """A call about one submission; part of the caller's transaction, which requests the sending."""
    call: Call = Call.objects.plan(
        kind,
        environment=assignment.environment,
        assignment=assignment,
        campaign_id=assignment.campaign_id,
        by=by,
        **facts,
    )
    return call


def request_sending(*, environment: str) -> None:
    """Have the job runner send soon; committed with the caller's rows."""
    jobs.submit("recruitment.send", subject=f"recruiter:{environment}", environment=environment)


def try_keys_again(*, environment: str, by: User) -> None:
    """Ask the recruiter whether it accepts the keys now, not within the minute; that ends the pause."""
    record(action="try-keys-again", subject=f"recruiter:{environment}", by=by)
    jobs.submit("recruitment.sync", subject=f"recruiter:{environment}", by=by)


def is_paused(campaign: Campaign) -> bool:
    """Whether it is closed for a while, by a person or by the program; only a person ends that.

    What the machine opens again, because places came free, ends no pause.
    """
    if not campaign.capabilities.pauses:
        return False
    writes = campaign.calls.filter(kind__in=[CallKind.PAUSE, CallKind.RESUME])
    refilled = Q(kind=CallKind.RESUME, created_by=None)
    last = writes.exclude(refilled).exclude(state=WriteState.REFUSED).order_by("-pk").first()
    return last is not None and last.kind == CallKind.PAUSE


def plan_hit(*, campaign: Campaign, places: int, by: User | None) -> Call:
    """One more HIT of a campaign."""
    hit = Hit.objects.create(
        campaign=campaign,
        number=campaign.hits.count() + 1,
        environment=campaign.environment,
        max_assignments=places,
    )
    return _plan(hit, CallKind.CREATE, by, places=places, amount_cents=_cost(campaign, hit, places))


def plan_growth(*, hit: Hit, places: int, by: User | None) -> Call:
    """More places on a HIT, at the fee it was made with."""
    unfinished = hit.calls.filter(kind=CallKind.EXTEND, state__in=UNFINISHED)
    growing = sum(unfinished.values_list("places", flat=True))
    target = hit.max_assignments + growing + places
    cost = _cost(hit.campaign, hit, places)
    return _plan(hit, CallKind.EXTEND, by, places=places, amount_cents=cost, payload={"places": target})


def plan_prolonging(*, hit: Hit, until: datetime, by: User | None) -> Call:
    return _plan(hit, CallKind.PROLONG, by, payload={"until": until.isoformat()})


def plan_expiry(*, hit: Hit, by: User | None) -> Call:
    known = hit.calls.filter(kind=CallKind.EXPIRE).first()
    if known is not None and known.state == WriteState.CONFIRMED:  # of an earlier stop: it was opened again since
        advance(known, WriteState.PLANNED)
    return known or _plan(hit, CallKind.EXPIRE, by)


def plan_pausing(*, hit: Hit, by: User | None) -> Call:
    """Nobody can take a place for a while."""
    return _plan(hit, CallKind.PAUSE, by)


def plan_resuming(*, hit: Hit, by: User | None = None) -> Call:
    """Places can be taken again: after a pause, or because people gave theirs back."""
    waiting = hit.calls.filter(kind=CallKind.RESUME, state__in=UNFINISHED, created_by=by).first()
    if waiting is None:
        waiting = _plan(hit, CallKind.RESUME, by)
        request_sending(environment=hit.environment)
    return waiting


@transaction.atomic
def retry_hit(*, hit: Hit, by: User) -> Call:
    """Have a refused HIT published again, once its cause is gone. It keeps its token, so it is still made once."""
    permissions.check(by, Action.PAY, hit.campaign.study)
    # The lock and the state of the campaign: after a stop nothing is published any more, from no page.
    campaign = Campaign.objects.select_for_update().get(pk=hit.campaign_id)
    if campaign.state != CampaignState.LIVE:
        raise Conflict(f"This campaign is {campaign.get_state_display()}; launch a new one.")
    write = hit.calls.get(kind=CallKind.CREATE)
    advance(write, WriteState.PLANNED, last_error="")
    record(action="retry-hit", subject=f"call:{write.pk}", study=hit.campaign.study.slug, by=by)
    request_sending(environment=hit.environment)
    return write


def try_stops_again() -> None:
    """Have refused stops sent with the next round: until the recruiter takes one, people can take the HIT's places.

    A HIT ends once, however often that is asked for.
    """
    for write in Call.objects.filter(kind=CallKind.EXPIRE, state=WriteState.REFUSED):
        with suppress(IllegalTransition):  # another round has taken it up in this very moment
            advance(write, WriteState.PLANNED)


def _plan(hit: Hit, kind: CallKind, by: User | None, **facts: object) -> Call:
    call: Call = Call.objects.plan(
        kind, environment=hit.environment, hit=hit, campaign_id=hit.campaign_id, by=by, **facts
    )
    return call


def _cost(campaign: Campaign, hit: Hit, places: int) -> int:
    return places * place_cents(campaign, hit.max_assignments)


#: The worker reads both.
_DESCRIPTION = "You have taken part in this research study; everybody takes part once. Thank you."
OPEN_AGAIN = "Your session was not finished; the study is open to you again."


def type_for(*, environment: str, family: StudyFamily) -> QualificationType:
    """Our row of it; the recruiter hears of it when a HIT or a grant needs it."""
    found, _ = QualificationType.objects.get_or_create(
        environment=environment,
        family=family,
        # Names are unique in an account, and two databases may share one.
        defaults={"name": f"already took part: {family.slug} ({secrets.token_hex(4)})"[:120]},
    )
    return found


def order_for(qualification: QualificationType) -> QualificationOrder:
    return QualificationOrder(name=qualification.name, description=_DESCRIPTION)


def plan_grant(*, person: RecruitedPerson, qualification: QualificationType) -> None:
    """Give a person the mark; who has it keeps it."""
    _plan_mark(person, qualification, CallKind.GRANT)


def plan_revocation(*, person: RecruitedPerson, qualification: QualificationType) -> None:
    """Take it back from who was given it."""
    if _last(person, qualification) is not None:
        _plan_mark(person, qualification, CallKind.REVOKE)


@transaction.atomic
def mark_as_taken_part(*, person: RecruitedPerson) -> None:
    """Once listed: whoever has no session left in the family does not see its HITs any more.

    No call before: a worker id that somebody typed would cost the recruiter a call, and its owner the HIT.
    """
    if not capabilities_of(person.environment).vouches:
        return
    held = counted_sessions(person.participant_id).count()
    qualification = type_for(environment=person.environment, family=person.family)
    if held >= sessions_allowed(person):
        plan_grant(person=person, qualification=qualification)
    else:
        plan_revocation(person=person, qualification=qualification)


def _plan_mark(person: RecruitedPerson, qualification: QualificationType, kind: CallKind) -> None:
    last = _last(person, qualification)
    if last is not None and last.kind == kind:
        return
    Call.objects.plan(kind, environment=qualification.environment, qualification=qualification, person=person)
    request_sending(environment=qualification.environment)


def _last(person: RecruitedPerson, qualification: QualificationType) -> Call | None:
    """How it stands, or will once everything planned is sent."""
    rows = Call.objects.filter(person=person, qualification=qualification)
    return rows.exclude(state=WriteState.REFUSED).order_by("-pk").first()
