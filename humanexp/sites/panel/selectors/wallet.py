"""What a workspace has, what is locked for open places and accepted bonuses, and what a study costs."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet, Sum

from humanexp.sites.panel.models.money import Payment
from humanexp.sites.panel.models.people import Workspace
from humanexp.sites.panel.models.studies import Study
from humanexp.sites.panel.models.switches import Switches
from humanexp.sites.panel.money import LEAST_PER_HOUR, Cost, cost_of
from humanexp.sites.panel.states import DRAFTS, OPEN, PENDING, SubmissionStatus


@dataclass(frozen=True, kw_only=True)
class Balance:
    """`deposited` = `paid` + `locked` + `available`, always."""

    deposited: int
    paid: int
    locked: int

    @property
    def total(self) -> int:
        return self.deposited - self.paid

    @property
    def available(self) -> int:
        return self.total - self.locked


def cost_in(workspace: Workspace, amount_cents: int) -> Cost:
    return cost_of(amount_cents, is_academic=workspace.is_academic, vat_percent=workspace.vat_percent)


def least_hourly_cents(currency: str) -> int:
    return Switches.current().least_hourly_cents or LEAST_PER_HOUR[currency]


def sum_of(payments: QuerySet[Payment]) -> Cost:
    summed = payments.aggregate(amount=Sum("amount_cents"), fees=Sum("fee_cents"), vat=Sum("vat_cents"))
    return Cost(*(summed[name] or 0 for name in ("amount", "fees", "vat")))


def balance(workspace: Workspace) -> Balance:
    payments = Payment.objects.filter(submission__study__project__workspace=workspace)
    studies = (
        Study.objects.filter(project__workspace=workspace)
        .exclude(status__in=DRAFTS)
        .annotate(
            pending=Count("submissions", filter=Q(submissions__status__in=PENDING)),
            approved=Count("submissions", filter=Q(submissions__status=SubmissionStatus.APPROVED)),
        )
    )
    locked = sum_of(payments.filter(paid_at=None, due_at__isnull=False)).total
    for study in studies:
        unpaid = max(study.places - study.approved, study.pending) if study.status in OPEN else study.pending
        locked += cost_in(workspace, study.reward_cents).total * unpaid
    return Balance(
        deposited=workspace.deposits.aggregate(sum=Sum("amount_cents"))["sum"] or 0,
        paid=sum_of(payments.filter(paid_at__isnull=False)).total,
        locked=locked,
    )


def study_cost(study: Study, *, is_projected: bool) -> tuple[Cost, Cost]:
    """Rewards and bonuses: paid, or rewards as if every place were paid."""
    paid = Payment.objects.filter(submission__study=study, paid_at__isnull=False)
    rewards = sum_of(paid.filter(plan=None))
    if is_projected:
        rewards = cost_in(study.project.workspace, study.reward_cents) * study.places
    return rewards, sum_of(paid.filter(plan__isnull=False))
