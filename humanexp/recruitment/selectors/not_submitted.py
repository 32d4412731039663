"""Who did their work and could not submit it, and what they are owed."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from math import ceil

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat

from humanexp.core import clock
from humanexp.participation.models import DamagedPicture, Session, SessionState
from humanexp.recruitment import recruiters
from humanexp.recruitment.facts import pay_on_leaving
from humanexp.recruitment.models import Assignment, CallKind, Campaign, Payment
from humanexp.recruitment.states import LISTED, AssignmentState
from humanexp.studies.models import Study

#: Seen here, and not listed by the recruiter.
BEGUN = (AssignmentState.OPENED, AssignmentState.RETURNED)


def finished_not_submitted(*studies: Study, campaigns: Collection[Campaign] | None = None) -> QuerySet[Assignment]:
    """People who answered everything, were kept from it by a damaged picture or by the end of their time, or left where
    that is paid, and whose time to submit is over.

    `campaigns`: of these studies, where they were read already.
    """
    now = clock.now()
    begun = Assignment.objects.filter(
        campaign__study__in=studies, state__in=BEGUN, person__isnull=False, paid_by_hand_at=None
    )
    completed = Session.objects.filter(study__in=studies, state=SessionState.COMPLETED)
    kept_from = DamagedPicture.objects.filter(session__study__in=studies, session__completed_at=None)
    cut_short = Session.objects.filter(study__in=studies, out_of_time=True)
    worked = Q(session__in=completed) | Q(session__in=kept_from.values("session")) | Q(session__in=cut_short)
    if pay_leavers := [study.pk for study in studies if pay_on_leaving(study) != "none"]:
        left = Q(session__left_at__isnull=False) | Q(session__erase_after__isnull=False)
        worked |= left & Q(campaign__study__in=pay_leavers, campaign__reward_cents__gt=0)
    finished = begun.filter(worked).exclude(recruiters.at(vouches=False))
    over = Q(state=AssignmentState.RETURNED)
    alike: dict[timedelta, list[int]] = {}
    for campaign in Campaign.objects.filter(study__in=studies) if campaigns is None else campaigns:
        alike.setdefault(campaign.assignment_duration, []).append(campaign.pk)
    for duration, pks in alike.items():
        over |= Q(campaign__in=pks, state=AssignmentState.OPENED, opened_at__lt=now - duration)
    # a bonus, maybe on other work of the same person, names the assignment that it is for
    cause = Concat(Value("assignment-"), Cast(OuterRef("pk"), CharField()), output_field=CharField())
    paid = Payment.objects.filter(kind=CallKind.COMPENSATION, assignment__person=OuterRef("person"), cause=cause)
    waiting = finished.filter(over).filter(~Exists(paid))
    return waiting.select_related("person__participant", "session", "campaign").order_by("pk")


def reached_by_bonus(rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Those of them whom the recruiter pays a bonus: for what was not submitted, or on other work that it lists."""
    listed = Assignment.objects.filter(person=OuterRef("person"), state__in=LISTED)
    return rows.filter(recruiters.at(pays_unlisted=True) | Exists(listed))


def owed_cents(assignment: Assignment) -> int:
    """What such a person is owed: the pay, or of somebody who left, what the study pays for the minutes until then."""
    return owed_of(assignment.campaign, assignment.session, pay=assignment.campaign.reward_cents)


def owed_of(campaign: Campaign, session: Session | None, *, pay: int) -> int:
    """The same where `pay` is what one person gets, in the smallest unit of some currency."""
    if session is None or session.out_of_time or pay_on_leaving(campaign.study) != "share":
        return pay
    until = session.left_at or (session.withdrawn_at if session.erase_after else None)
    if until is None:
        return pay
    share = (until - session.opened_at) / timedelta(minutes=max(1, campaign.estimated_minutes))
    return max(1, ceil(pay * min(1.0, share)))
