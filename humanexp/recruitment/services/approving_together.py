"""Rewards of many people in one call, where a recruiter takes it; that they are paid its lists say."""

from __future__ import annotations

from datetime import timedelta
from typing import cast

from django.db.models import F

from humanexp.core import clock
from humanexp.core.errors import InsufficientFunds, KeysRefused, OutcomeUnknown, RecruiterError, RecruiterUnavailable
from humanexp.recruitment.models import Call, CallKind, Payment
from humanexp.recruitment.recruiters.base import Pausing, Recruiter
from humanexp.recruitment.services.counting import count_send
from humanexp.recruitment.services.lease import Lease
from humanexp.recruitment.services.outbox import Report
from humanexp.recruitment.states import AssignmentState, WriteState

#: In one call.
MOST = 1_000
#: So long the lists may take to say so; then each is asked about by itself.
SETTLES = timedelta(minutes=10)


def approve_together(recruiter: Recruiter, lease: Lease, report: Report) -> None:
    """Send what was never sent. Approving twice is approving once, so one of unknown outcome waits like the others."""
    if not recruiter.capabilities.approves_in_bulk:
        return
    planned = Payment.objects.filter(
        environment=recruiter.environment,
        kind=CallKind.REWARD,
        state=WriteState.PLANNED,
        attempts=0,
        ask_first=False,
        assignment__state=AssignmentState.SUBMITTED,
    ).order_by("pk")
    rows = dict(planned.values_list("pk", "assignment__assignment_id"))
    keys = list(rows)
    for start in range(0, len(keys), MOST):
        part = keys[start : start + MOST]
        if not lease.renew():
            return
        mine = Payment.objects.filter(pk__in=part, state=WriteState.PLANNED)
        mine.update(state=WriteState.SENDING, first_sent_at=clock.now(), attempts=F("attempts") + 1)
        count_send(recruiter.environment)
        try:
            cast(Pausing, recruiter).approve([rows[key] for key in part])
        except OutcomeUnknown as error:
            report.remark(error.message)
        except (InsufficientFunds, KeysRefused, RecruiterUnavailable) as error:
            _take_back(part)  # certainly not carried out
            report.remark(error.message)
            if isinstance(error, KeysRefused):
                raise
            return
        except RecruiterError as error:
            # Refused as a whole: one by one it turns out whose fault that is.
            Payment.objects.filter(pk__in=part, state=WriteState.SENDING).update(first_sent_at=clock.now() - SETTLES)
            report.remark(error.message)


def is_awaited(recruiter: Recruiter, call: Call) -> bool:
    """Sent with others a while ago: the next look at the lists tells."""
    return (
        recruiter.capabilities.approves_in_bulk
        and call.kind == CallKind.REWARD
        and call.state == WriteState.SENDING
        and call.first_sent_at is not None
        and timedelta() <= clock.now() - call.first_sent_at < SETTLES
    )


def _take_back(keys: list[int]) -> None:
    rows = Payment.objects.filter(pk__in=keys, state=WriteState.SENDING)
    rows.update(state=WriteState.PLANNED, first_sent_at=None, attempts=0)
