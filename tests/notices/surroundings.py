"""The ports of notices in the tests' hands: time, disk and certificate; and rows that need a person."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from humanexp.core import clock
from humanexp.core.models import User
from humanexp.jobs.models import Runner
from humanexp.ledger.models import Payment
from humanexp.notices.addresses import add_address, follow_settings
from humanexp.notices.delivery import send
from humanexp.notices.models import Address
from humanexp.notices.watch import look
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.models import ApprovalChange, CampaignHold
from humanexp.studies.models import Study, StudyFamily


class HandMachine:
    def __init__(self) -> None:
        self.disk_mb = 50_000.0
        self.ends: datetime | None = None

    def free_mb(self) -> float:
        return self.disk_mb

    def certificate_ends(self, host: str, port: int) -> datetime:
        if self.ends is None:
            raise ConnectionRefusedError("refused")
        return self.ends


def runner_beats() -> None:
    """A job runner has just been heard of, in both lanes."""
    now = clock.now()
    beats = {"beat_at": now, "prompt_at": now, "long_at": now}
    Runner.objects.update_or_create(name="r", defaults={**beats, "started_at": now})


def new_study(slug: str, owner: User | None = None) -> Study:
    family = StudyFamily.objects.create(slug=slug)
    return Study.objects.create(
        family=family, slug=slug, title=f"Study {slug}", state="collecting", planned_sessions=50, created_by=owner,
        configuration={"spec": 1, "recruitment": {}},
    )  # fmt: skip


def new_campaign(study: Study, **changes: Any) -> Campaign:
    return Campaign.objects.create(
        **{
            "study": study, "environment": "marketplace", "entry": secrets.token_hex(8), "title": "Pictures",
            "description": "What do you see?", "reward_cents": 120, "assignments": 50, "assignments_per_hit": 9,
            "estimated_minutes": 10, "assignment_duration_s": 3600, "lifetime_s": 86_400, "quoted_cents": 9_000,
            "cap_cents": 20_000, "launched_at": clock.now(), "synced_at": clock.now(), **changes,
        }
    )  # fmt: skip


def park(campaign: Campaign) -> Payment:
    """A payment of which nobody knows whether it arrived waits for a person."""
    return new_payment(campaign, state="parked")


def decide(payment: Payment) -> None:
    payment.state = "confirmed"
    payment.save()


def withdraw_approval(study: Study) -> None:
    ApprovalChange.objects.create(study=study, is_withdrawn=True, changed_at=clock.now())


def new_payment(campaign: Campaign, *, state: str, error: str = "", kind: str = "bonus") -> Payment:
    work = Assignment.objects.create(
        environment=campaign.environment, assignment_id=secrets.token_hex(8), campaign=campaign, state="approved",
        person=None,
    )  # fmt: skip
    return Payment.objects.create(
        environment=campaign.environment, kind=kind, assignment=work, campaign=campaign, cause="c", amount_cents=733,
        fee_cents=0, state=state, token=secrets.token_hex(8), last_error=error, created_at=clock.now(),
    )  # fmt: skip


def hold(campaign: Campaign, reason: str) -> CampaignHold:
    return CampaignHold.objects.create(campaign=campaign, reason=reason, measured=40, limit=20, people=30)


def address_of(user: User, url: str, *, way: str = "webhook", pace: str = "now", **changes: Any) -> Address:
    return add_address(by=user, way=way, target=url, pace=pace, **changes)


def tell() -> None:
    """One turn of the job."""
    follow_settings()
    look()
    send()
