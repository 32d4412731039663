"""What the tests of the outbox ask of the marketplace that it writes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from humanexp.ledger import sender
from humanexp.ledger.sender import SendReport
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.polling import sync
from tests.recruitment.workers import Worker

Launch = Callable[..., Campaign]
NewWorker = Callable[[], Worker]
#: Done and not heard of; not done and not heard of; and the two that say so, which take longer.
FAULTS = [
    "drop_after_commit",
    "drop_before",
    pytest.param("service_fault", marks=pytest.mark.slow),
    pytest.param("throttle", marks=pytest.mark.slow),
]


def send() -> SendReport:
    return sender.send(environment="marketplace")


def bonuses(other_side: Any, assignment: Assignment) -> list[str]:
    found = other_side.list_bonus_payments(AssignmentId=assignment.assignment_id)["BonusPayments"]
    return [bonus["BonusAmount"] for bonus in found]


def submitted(campaign: Campaign, new_worker: NewWorker, count: int = 1) -> list[Assignment]:
    for _ in range(count):
        new_worker().do(campaign)
    sync(study=campaign.study)
    send()  # qualifications: who has taken part does not see it any more
    return list(Assignment.objects.filter(campaign=campaign, state="submitted"))
