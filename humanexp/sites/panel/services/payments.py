"""Rewards, once a submission; bonuses, as often as they are asked for. Callers hold a transaction."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from humanexp.sites.panel.errors import short_of_money
from humanexp.sites.panel.models.money import BonusPlan, Payment
from humanexp.sites.panel.models.people import Workspace
from humanexp.sites.panel.models.studies import Study, Submission
from humanexp.sites.panel.models.switches import Switches
from humanexp.sites.panel.money import Cost
from humanexp.sites.panel.selectors.wallet import balance, cost_in
from humanexp.sites.rows import change


def require_solvent(workspace: Workspace) -> None:
    """After a change that costs or locks money: refused, and rolled back by the caller, if there is not enough."""
    available = balance(workspace).available
    if available < 0:
        raise short_of_money(-available)


def reward(submission: Submission, now: datetime) -> Payment:
    return Payment.objects.create(
        submission=submission, due_at=now, paid_at=now, **_amounts(submission.study, submission.study.reward_cents)
    )


def plan_bonuses(study: Study, lines: list[tuple[Submission, int]]) -> tuple[BonusPlan, Cost]:
    """Nothing is paid or locked yet."""
    plan = BonusPlan.objects.create(study=study, lines=[[one.submission_id, cents] for one, cents in lines])
    workspace = study.project.workspace
    return plan, sum((cost_in(workspace, cents) for _, cents in lines), Cost())


def pay(plan: BonusPlan, now: datetime) -> None:
    """Every line is accepted now and paid later, each at a time of its own; a second call pays everybody again."""
    switches = Switches.current()
    submissions = {one.submission_id: one for one in plan.study.submissions.all()}
    for number, (submission_id, cents) in enumerate(plan.lines):
        chance = random.Random(f"{switches.seed} {plan.plan_id} {plan.times_paid} {number}")  # noqa: S311
        Payment.objects.create(
            submission=submissions[submission_id],
            plan=plan,
            due_at=_settles_at(switches, chance, now),
            **_amounts(plan.study, cents),
        )
    change(plan, times_paid=plan.times_paid + 1)
    require_solvent(plan.study.project.workspace)


def _settles_at(switches: Switches, chance: random.Random, now: datetime) -> datetime | None:
    if chance.random() < switches.lost_share:
        return None
    if chance.random() < switches.late_share:
        return now + timedelta(minutes=chance.uniform(30, 180))
    return now + timedelta(seconds=switches.settling_s * chance.expovariate(1))


def _amounts(study: Study, amount_cents: int) -> dict[str, int]:
    cost = cost_in(study.project.workspace, amount_cents)
    return {"amount_cents": cost.amount, "fee_cents": cost.fees, "vat_cents": cost.vat}
