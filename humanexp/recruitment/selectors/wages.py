"""What an hour of this work pays, by the time that people were active."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.conf import settings

from humanexp.experiments.models import Session, Study
from humanexp.recruitment import pricing
from humanexp.recruitment.models import Assignment, Campaign, Payment, PaymentKind
from humanexp.recruitment.recruiters import fees_of
from humanexp.recruitment.selectors.campaigns import suggested_terms
from humanexp.recruitment.selectors.working_time import FINISHED, active_minutes, sitting_minutes
from humanexp.recruitment.states import LISTED, WriteState

#: The newest sessions, so many, tell the median and the quartile; the rest is not read.
ENOUGH = 100
#: The cause of such a bonus begins with it; what an earlier one paid counts in the next.
TOP_UP = "top-up"
Source = Literal["active", "pilot", "plan"]


@dataclass(frozen=True, kw_only=True)
class WageEstimate:
    """An hour's pay at the usual pace, and at that of the slowest quarter."""

    #: measured in this study; in an earlier one of its family; or computed from the plan's length
    source: Source
    sessions: int
    median_minutes: float
    #: three of four people are at least as fast
    slow_minutes: float
    reward_cents: int
    floor_cents: int

    @property
    def hourly_median_cents(self) -> int | None:
        return pricing.hourly_cents(reward_cents=self.reward_cents, minutes=self.median_minutes)

    @property
    def hourly_slow_cents(self) -> int | None:
        return pricing.hourly_cents(reward_cents=self.reward_cents, minutes=self.slow_minutes)

    @property
    def is_under_floor(self) -> bool:
        hourly = self.hourly_median_cents
        return hourly is not None and hourly < self.floor_cents


@dataclass(frozen=True, kw_only=True)
class TopUpRow:
    """One person who worked for less than the floor."""

    assignment: Assignment
    active_minutes: float
    #: with every bonus so far
    hourly_cents: int
    bonus_cents: int


@dataclass(frozen=True, kw_only=True)
class TopUpPlan:
    """What it costs to bring everybody who was paid or will be to the floor."""

    floor_cents: int
    rows: tuple[TopUpRow, ...]
    fee_cents: int
    #: people whose time nobody measured
    unknown: int

    @property
    def people(self) -> int:
        return len(self.rows)

    @property
    def cents(self) -> int:
        return sum(row.bonus_cents for row in self.rows)

    @property
    def total_cents(self) -> int:
        return self.cents + self.fee_cents


def wage_estimate(study: Study) -> WageEstimate:
    """Before anybody has taken part, a pilot of the same family tells the time, or else the plan does."""
    minutes, source = sorted(_minutes_of(study, ENOUGH).values()), "active"
    if not minutes:
        minutes, source = sorted(_minutes_of_pilots(study)), "pilot"
    newest = Campaign.objects.filter(study=study, compensates=None).exclude(reward_cents=0).first()
    reward_cents = newest.reward_cents if newest else None
    if not minutes or reward_cents is None:
        terms = suggested_terms(study)
        reward_cents = terms.reward_cents if reward_cents is None else reward_cents
        if not minutes:
            minutes, source = [float(terms.estimated_minutes)], "plan"
    return WageEstimate(
        source=source,  # type: ignore[arg-type]
        sessions=0 if source == "plan" else len(minutes),
        median_minutes=quantile(minutes, 0.5),
        slow_minutes=quantile(minutes, 0.75),
        reward_cents=reward_cents,
        floor_cents=settings.WAGE_FLOOR_CENTS,
    )


def top_up_plan(study: Study, floor_cents: int | None = None) -> TopUpPlan:
    """Bonuses that bring an hour's active work to the floor, half a cent up; without the bonuses there were already."""
    floor = settings.WAGE_FLOOR_CENTS if floor_cents is None else floor_cents
    worked = Assignment.objects.filter(campaign__study=study, campaign__reward_cents__gt=0, state__in=LISTED)
    worked = worked.filter(campaign__compensates=None, person__isnull=False)
    paid = _bonuses_of(study)
    sittings = sitting_minutes(study)
    # Nobody is active for longer than the sitting lasted: answers are read where that could fall below the floor.
    earned_by = {}
    for pk, session, reward_cents in worked.values_list("pk", "session_id", "campaign__reward_cents"):
        earned = reward_cents + paid.get(pk, 0)
        if session not in sittings or _missing_cents(sittings[session], floor, earned) > 0:
            earned_by[pk] = earned
    related = worked.select_related("campaign", "session", "person__participant")
    doubtful = list(related.filter(pk__in=list(earned_by)).order_by("pk"))
    minutes = active_minutes(one.session_id for one in doubtful if one.session_id is not None)
    rows, fee, unknown = [], 0, 0
    for assignment in doubtful:
        earned = earned_by[assignment.pk]
        active = minutes.get(assignment.session_id or 0)
        if active is None:
            unknown += 1
            continue
        missing = _missing_cents(active, floor, earned)
        if missing > 0:
            rows.append(
                TopUpRow(
                    assignment=assignment,
                    active_minutes=active,
                    hourly_cents=pricing.hourly_cents(reward_cents=earned, minutes=active) or 0,
                    bonus_cents=missing,
                )
            )
            fee += fees_of(assignment.environment).bonus_fee_cents(missing)
    return TopUpPlan(floor_cents=floor, rows=tuple(rows), fee_cents=fee, unknown=unknown)


def _missing_cents(minutes: float, floor_cents: int, earned_cents: int) -> int:
    """What lacks to the floor for so long, part of a cent up; zero or less where nothing does."""
    return -(-round(minutes * 60) * floor_cents // 3600) - earned_cents


def quantile(ordered: list[float], share: float) -> float:
    """By linear interpolation."""
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _minutes_of(study: Study, newest: int | None = None) -> dict[int, float]:
    finished = Session.objects.filter(study=study, state__in=FINISHED).order_by("-pk").values_list("pk", flat=True)
    return active_minutes(finished[:newest] if newest else finished)


def _minutes_of_pilots(study: Study) -> list[float]:
    """Of the latest other study in the family that anybody has finished."""
    others = Study.objects.filter(family=study.family_id, population=study.population).exclude(pk=study.pk)
    for other in others.order_by("-version", "-pk"):
        minutes = _minutes_of(other, ENOUGH)
        if minutes:
            return list(minutes.values())
    return []


def _bonuses_of(study: Study) -> dict[int, int]:
    bonuses = Payment.objects.filter(assignment__campaign__study=study).exclude(kind=PaymentKind.REWARD)
    paid: dict[int, int] = {}
    for assignment, cents in bonuses.exclude(state=WriteState.REFUSED).values_list("assignment_id", "amount_cents"):
        paid[assignment] = paid.get(assignment, 0) + cents
    return paid
