"""What the people of a running campaign tell about its pay and its terms: pure arithmetic, without a ledger."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

#: One-sided level of one look at the returns. A campaign is looked at after every person: at this level, fewer than one
#: campaign in twenty of up to 1,000 people ever raises a false alarm (tests/analysis/test_campaigns.py adds it up).
RETURN_LEVEL = 0.002


@dataclass(frozen=True, kw_only=True)
class Work:
    """One person's work, and what they get for it."""

    #: above 0
    minutes: float
    #: reward and bonuses, in the smallest unit of the currency
    earned_cents: int

    def hourly_cents(self, more_cents: int = 0) -> float:
        return (self.earned_cents + more_cents) * 60 / self.minutes


def median_hourly_cents(people: Sequence[Work], *, more_cents: int = 0) -> float:
    """Median over the people of what an hour pays them, with so much more for each.

    Parameters
    ----------
    people : sequence of Work
        At least one.
    more_cents : int, optional
        The same amount for everyone.

    Returns
    -------
    float
        In the smallest unit of the currency.
    """
    return median(one.hourly_cents(more_cents) for one in people)


def equal_top_up(people: Sequence[Work], least_hourly_cents: int) -> int:
    """Smallest equal amount for everyone with which the median hour pays at least this much; 0 where it does.

    The median grows with the amount, so the amount is found by halving an interval.
    """
    low, high = -1, 0
    while median_hourly_cents(people, more_cents=high) < least_hourly_cents:
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        if median_hourly_cents(people, more_cents=middle) < least_hourly_cents:
            low = middle
        else:
            high = middle
    return high


def share_is_above(count: int, total: int, share: float, *, level: float = RETURN_LEVEL) -> bool:
    """Whether the exact (Clopper-Pearson) lower bound of `count` in `total` is above a share.

    Parameters
    ----------
    count, total : int
        ``0 <= count <= total``.
    share : float
        In (0, 1].
    level : float, optional
        One-sided level of the bound.

    Notes
    -----
    The bound is above `share` exactly where the probability of `count` or more at this share is below `level`, so no
    bound has to be computed.
    """
    if not count or share >= 1 or count / total <= share:
        return False
    log_share, log_rest = math.log(share), math.log1p(-share)
    tail = math.fsum(
        math.exp(
            math.lgamma(total + 1)
            - math.lgamma(k + 1)
            - math.lgamma(total - k + 1)
            + k * log_share
            + (total - k) * log_rest
        )
        for k in range(count, total + 1)
    )
    return tail < level


def quantile(ordered: Sequence[float], share: float) -> float:
    """Quantile of ascending numbers, by linear interpolation between neighbours.

    Parameters
    ----------
    ordered : sequence of float
        At least one, ascending.
    share : float
        In [0, 1].
    """
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def reward_for(minutes: float, hourly_cents: int) -> int:
    """Smallest whole reward with which so many minutes are paid at least at this rate."""
    return math.ceil(round(minutes * hourly_cents / 60, 6))


@dataclass(frozen=True, kw_only=True)
class BatchTimes:
    """When batches of places are opened: so many hours apart, and between two hours of the day (UTC).

    `until_hour` is not in it; where it is before `from_hour`, the time runs over midnight.
    """

    every_hours: int
    from_hour: int = 0
    until_hour: int = 24

    def next_after(self, last: datetime) -> datetime:
        """First moment at which the next batch may be opened. `last`: when the one before was, in UTC."""
        due = last + timedelta(hours=self.every_hours)
        if self._is_open_at(due.hour):
            return due
        begins = due.replace(hour=self.from_hour, minute=0, second=0, microsecond=0)
        return begins if begins > due else begins + timedelta(days=1)

    def _is_open_at(self, hour: int) -> bool:
        if self.from_hour < self.until_hour:
            return self.from_hour <= hour < self.until_hour
        return hour >= self.from_hour or hour < self.until_hour

    def span(self, batches: int) -> timedelta:
        """The longest that so many batches can take, from the first to the last."""
        return (batches - 1) * (timedelta(hours=self.every_hours) + timedelta(days=1))
