"""One class per kind of write: how to ask whether it took effect, how to carry it out, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from humanexp.recruitment.models import (
    GrantKind,
    HitWrite,
    HitWriteKind,
    Message,
    Payment,
    PaymentKind,
    QualificationWrite,
    RecruiterWrite,
    Rejection,
    ReturnRequest,
)
from humanexp.recruitment.recruiters.base import Recruiter
from humanexp.recruitment.services.deliveries.base import Delivery
from humanexp.recruitment.services.deliveries.hits import (
    HitCreation,
    HitExpiry,
    HitGrowth,
    HitPause,
    HitProlonging,
    HitResumption,
    entry_url,
)
from humanexp.recruitment.services.deliveries.money import Bonus, RejectAssignment, Reward
from humanexp.recruitment.services.deliveries.people import AskForReturn, Mark, WorkerMessage

__all__ = ["Delivery", "delivery_of", "entry_url"]

#: By table and kind; rows of a table without kinds are all alike.
_DELIVERIES: Mapping[tuple[type[RecruiterWrite], str], Callable[[Recruiter, Any], Delivery[Any]]] = {
    (HitWrite, HitWriteKind.CREATE): HitCreation,
    (HitWrite, HitWriteKind.EXPIRE): HitExpiry,
    (HitWrite, HitWriteKind.EXTEND): HitGrowth,
    (HitWrite, HitWriteKind.PROLONG): HitProlonging,
    (HitWrite, HitWriteKind.PAUSE): HitPause,
    (HitWrite, HitWriteKind.RESUME): HitResumption,
    (Payment, PaymentKind.REWARD): Reward,
    (Payment, PaymentKind.BONUS): Bonus,
    (Payment, PaymentKind.COMPENSATION): Bonus,
    (Rejection, ""): RejectAssignment,
    (QualificationWrite, GrantKind.GRANT): Mark,
    (QualificationWrite, GrantKind.REVOKE): Mark,
    (ReturnRequest, ""): AskForReturn,
    (Message, ""): WorkerMessage,
}


def delivery_of(recruiter: Recruiter, write: RecruiterWrite) -> Delivery[Any]:
    return _DELIVERIES[type(write), getattr(write, "kind", "")](recruiter, write)
