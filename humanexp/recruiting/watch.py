"""How a campaign that runs stands against its study's terms: it is paused by itself, once for each reason."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from analysis.campaigns import median_hourly_cents, share_is_above
from analysis.study.terms import Terms
from humanexp.core import clock
from humanexp.core.models import record
from humanexp.ledger.decisions import top_up_latecomers
from humanexp.ledger.models import CampaignTopUp
from humanexp.ledger.wages import floor_of, work_of
from humanexp.participation.models import Session, SessionState, counting
from humanexp.recruiters.campaigns import unfinished_campaigns
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.states import AssignmentState, CampaignState
from humanexp.recruiting.extension import pause_by_itself
from humanexp.recruiting.models import CampaignHold, HoldReason
from humanexp.studies.models import Study

_WATCHED = ("least_hourly_cents", "wage_people", "return_alarm", "on_return_alarm")


def watched_terms(study: Study) -> Terms:
    """What the study's frozen plan says of a campaign that runs."""
    stated = study.configuration.get("recruitment") or {}
    known = {name: stated[name] for name in _WATCHED if name in stated}
    return Terms.from_dict(known, version=study.configuration.get("spec", 1))


@dataclass(frozen=True, kw_only=True)
class Returns:
    """People of a campaign who started, and those of them who gave their places back."""

    started: int
    returned: int


def returns_of(campaign: Campaign) -> Returns:
    """Whoever read the consent and left, or had the wrong device, has not started and is not among them.

    Where a recruiter lists people at work, only those count whom it has named: an id can be made up.
    """
    rows = campaign.assignments_taken.all()
    if campaign.capabilities.lists_in_progress:
        rows = rows.filter(hit__isnull=False)
    states = list(rows.order_by().values_list("state", flat=True))
    return Returns(started=len(states), returned=states.count(AssignmentState.RETURNED))


def open_holds(campaigns: Collection[Campaign]) -> QuerySet[CampaignHold]:
    """What the program has found in these, as long as it is so. Who is owed something is owed it after a stop, too."""
    found = CampaignHold.objects.filter(campaign__in=list(campaigns), ended_at=None)
    over = Q(reason=HoldReason.RETURNS) & ~Q(campaign__state=CampaignState.LIVE)
    return found.exclude(over).select_related("campaign__study")


@dataclass(frozen=True, kw_only=True)
class OpenedBin:
    """Sessions begun and finished in one stretch of time."""

    start: datetime
    opened: int
    completed: int


def sessions_over_time(study: Study, *, bins: int = 24) -> list[OpenedBin]:
    """Begun and finished sessions that count, in equal stretches, from the first one to now.

    Whoever recruits by name lists a session with its submission: from then on it stands here, where it began.
    """
    start = (
        Session.objects.filter(counting(), study=study)
        .order_by("opened_at")
        .values_list("opened_at", flat=True)
        .first()
    )
    if start is None:
        return []
    width = max((clock.now() - start) / bins, timedelta(minutes=1))
    starts = [start + number * width for number in range(bins)]
    opened, completed = (_counted(study, moment, starts) for moment in ("opened_at", "completed_at"))
    return [
        OpenedBin(start=start, opened=begun, completed=finished)
        for start, begun, finished in zip(starts, opened, completed, strict=True)
    ]


def _counted(study: Study, moment: str, starts: Sequence[datetime]) -> list[int]:
    """How many fall into each stretch; the first and the last one hold what lies beside.

    Stretch by stretch: an index counts each, and nothing is computed with moments. As a statement, because putting it
    together for each stretch would take several times what the database needs to answer.
    """
    table, column = Session._meta.db_table, connection.ops.quote_name(moment)
    statement = (
        f"SELECT COUNT(*) FROM {table} WHERE study_id = %s AND state <> %s AND is_verified = %s "  # noqa: S608  names
        f"AND {column} >= %s AND {column} < %s"
    )
    counts = []
    with connection.cursor() as cursor:
        for start, end in zip([_EARLIEST, *starts[1:]], [*starts[1:], _LATEST], strict=True):
            ends = [connection.ops.adapt_datetimefield_value(at) for at in (start, end)]
            cursor.execute(statement, [study.pk, SessionState.WITHDRAWN.value, True, *ends])
            counts.append(cursor.fetchone()[0])
    return counts


_EARLIEST, _LATEST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)


def watch() -> int:
    """Look at every campaign of which something may still be heard; how many holds were found."""
    found = 0
    for campaign in unfinished_campaigns():
        found += _watch_wage(campaign) + _watch_returns(campaign)
        top_up_latecomers(campaign)
    return found


def _watch_wage(campaign: Campaign) -> bool:
    """Below the minimum at the median, of enough people."""
    least, floor = watched_terms(campaign.study).wage_people, floor_of(campaign)
    if not (least and floor and campaign.reward_cents):
        return False
    work = work_of(campaign)
    if len(work) < least:
        return False
    hourly = median_hourly_cents(work)
    is_topped_up = CampaignTopUp.objects.filter(campaign=campaign).exists()
    if is_topped_up or hourly >= floor:
        _end(campaign, HoldReason.WAGE)
    if hourly >= floor:
        return _end(campaign, HoldReason.WAGE_AGAIN)
    reason = HoldReason.WAGE_AGAIN if is_topped_up else HoldReason.WAGE
    return _hold(campaign, reason, measured=int(hourly), limit=floor, people=len(work), pauses=True)


def _watch_returns(campaign: Campaign) -> bool:
    """More people gave their places back than the plan's share and chance explain."""
    terms = watched_terms(campaign.study)
    if terms.return_alarm >= 1:
        return False
    found = returns_of(campaign)
    if not share_is_above(found.returned, found.started, terms.return_alarm):
        return False  # a campaign that was alarming stays so: people come and go with the hour
    return _hold(
        campaign,
        HoldReason.RETURNS,
        measured=found.returned,
        limit=round(100 * terms.return_alarm),
        people=found.started,
        pauses=terms.on_return_alarm == "pause",
    )


@transaction.atomic
def _hold(campaign: Campaign, reason: HoldReason, *, measured: int, limit: int, people: int, pauses: bool) -> bool:
    """True where this is new. Whoever opens the campaign again has seen it, and it is not paused again for the same."""
    campaign = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
    facts = {"measured": measured, "limit": limit, "people": people, "ended_at": None}
    hold, is_new = CampaignHold.objects.get_or_create(campaign=campaign, reason=reason, defaults=facts)
    if not is_new:
        CampaignHold.objects.filter(pk=hold.pk).update(**facts)
        return False
    if pauses and campaign.state == CampaignState.LIVE and campaign.capabilities.pauses:
        pause_by_itself(campaign=campaign)
        CampaignHold.objects.filter(pk=hold.pk).update(has_paused=True)
    record(
        action="hold",
        subject=f"campaign:{campaign.pk}",
        study=campaign.study.slug,
        reason=str(reason),
        measured=measured,
        limit=limit,
        people=people,
    )
    return True


def _end(campaign: Campaign, reason: HoldReason) -> bool:
    """It is so no longer; never something new."""
    CampaignHold.objects.filter(campaign=campaign, reason=reason, ended_at=None).update(ended_at=clock.now())
    return False
