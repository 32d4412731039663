"""One class per kind of call: how to ask whether it took effect, how to carry it out, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping

from humanexp.recruitment.models import Call, CallKind
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

_DELIVERIES: Mapping[str, type[Delivery]] = {
    CallKind.REWARD: Reward,
    CallKind.BONUS: Bonus,
    CallKind.COMPENSATION: Bonus,
    CallKind.REJECT: RejectAssignment,
    CallKind.CREATE: HitCreation,
    CallKind.EXPIRE: HitExpiry,
    CallKind.EXTEND: HitGrowth,
    CallKind.PROLONG: HitProlonging,
    CallKind.PAUSE: HitPause,
    CallKind.RESUME: HitResumption,
    CallKind.GRANT: Mark,
    CallKind.REVOKE: Mark,
    CallKind.RETURN: AskForReturn,
    CallKind.MESSAGE: WorkerMessage,
}


def delivery_of(recruiter: Recruiter, call: Call) -> Delivery:
    return _DELIVERIES[call.kind](recruiter, call)
