"""A campaign at a real panel process, as if it had been launched there, with its submissions listed and approved."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from humanexp.core import clock
from humanexp.ledger.models import Payment
from humanexp.ledger.sender import SendReport, send
from humanexp.ledger.settlement import plan_bonus
from humanexp.recruiters.models import Assignment, Campaign, Hit
from humanexp.recruiters.people import person_for
from humanexp.recruiters.states import AssignmentState, HitState
from humanexp.studies.models import Study
from tests.panel.server import Lab


@dataclass
class Bonuses:
    """People of one study at the panel, their bonuses in the ledger, and time, which passes on both sides."""

    lab: Lab
    study: str
    campaign: Campaign
    hit: Hit
    shift: timedelta = field(default_factory=timedelta)

    def now(self) -> datetime:
        return timezone.now() + self.shift

    def monotonic_s(self) -> float:
        return self.now().timestamp()

    def pass_time(self, **span: float) -> None:
        self.shift += timedelta(**span)
        self.lab.panel.advance(timedelta(**span).total_seconds())

    def people(self, count: int) -> list[Assignment]:
        made = []
        for submission in self.lab.people(self.study, count):
            person = person_for(
                environment="panel",
                worker_id=self.lab.submission(submission)["participant"],
                family=self.campaign.study.family,
            )
            made.append(
                Assignment.objects.create(
                    campaign=self.campaign,
                    hit=self.hit,
                    environment="panel",
                    assignment_id=submission,
                    person=person,
                    state=AssignmentState.SUBMITTED,
                    evidence="session",
                    submitted_at=clock.now(),
                )
            )
        return made

    def promise(self, row: Assignment, cents: int = 40, cause: str = "care") -> Payment:
        return plan_bonus(assignment=row, amount_cents=cents, cause=cause, reason="For your care.")

    def send(self) -> SendReport:
        return send(environment="panel")

    def settle(self) -> None:
        """The panel pays, and we look."""
        self.pass_time(minutes=20)
        self.send()

    def got(self, row: Assignment) -> list[int]:
        """Bonuses of a person in the panel's own books, those among them that it has accepted and pays later."""
        payments = self.lab.panel.shown("books")["payments"]
        mine = [one for one in payments if one["submission_id"] == row.assignment_id and one["kind"] == "bonus"]
        return [one["amount_cents"] for one in mine]


@pytest.fixture
def bonuses(lab: Lab, study: Study, monkeypatch: pytest.MonkeyPatch) -> Bonuses:
    return at_panel(lab, study, monkeypatch)


def at_panel(lab: Lab, study: Study, monkeypatch: pytest.MonkeyPatch) -> Bonuses:
    there = lab.study(total_available_places=60)
    campaign = Campaign.objects.create(
        study=study,
        environment="panel",
        entry="panel-entry",
        title="Pictures",
        description="Pictures.",
        reward_cents=150,
        assignments=60,
        assignments_per_hit=60,
        estimated_minutes=10,
        assignment_duration_s=3_600,
        lifetime_s=86_400,
        quoted_cents=12_000,
        cap_cents=1_000_000,
        launched_at=timezone.now(),
    )
    hit = Hit.objects.create(
        campaign=campaign,
        number=1,
        environment="panel",
        hit_id=there,
        state=HitState.OPEN,
        max_assignments=60,
        available=60,
    )
    found = Bonuses(lab=lab, study=there, campaign=campaign, hit=hit)
    monkeypatch.setattr(clock, "system_clock", found)
    return found
