"""One class per kind of write: how to ask whether it took effect, how to carry it out, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from humanexp.recruitment.models import (
    HitWrite,
    HitWriteKind,
    Message,
    Payment,
    PaymentKind,
    QualificationWrite,
    RecruiterWrite,
    Rejection,
)
from humanexp.recruitment.recruiters.base import Recruiter
from humanexp.recruitment.services.deliveries.base import Delivery
from humanexp.recruitment.services.deliveries.hits import (
    HitCreation,
    HitExpiry,
    HitGrowth,
    HitProlonging,
    entry_url,
)
from humanexp.recruitment.services.deliveries.money import Extra, Refusal, Reward
from humanexp.recruitment.services.deliveries.people import Mark, Words

__all__ = ["Delivery", "delivery_of", "entry_url"]

_HIT_DELIVERIES: dict[HitWriteKind, Callable[[Recruiter, HitWrite], Delivery[HitWrite]]] = {
    HitWriteKind.CREATE: HitCreation,
    HitWriteKind.EXPIRE: HitExpiry,
    HitWriteKind.EXTEND: HitGrowth,
    HitWriteKind.PROLONG: HitProlonging,
}


def delivery_of(recruiter: Recruiter, write: RecruiterWrite) -> Delivery[Any]:
    match write:
        case HitWrite():
            return _HIT_DELIVERIES[HitWriteKind(write.kind)](recruiter, write)
        case Payment(kind=PaymentKind.REWARD):
            return Reward(recruiter, write)
        case Payment():
            return Extra(recruiter, write)
        case Rejection():
            return Refusal(recruiter, write)
        case QualificationWrite():
            return Mark(recruiter, write)
        case Message():
            return Words(recruiter, write)
    raise TypeError(f"{type(write).__name__} is no write that can be delivered")
