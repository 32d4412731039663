"""What was planned and what was paid. Deposits minus payments minus what is locked is the available balance."""

from __future__ import annotations

from django.db import models

from humanexp.sites.panel import keys
from humanexp.sites.panel.models.studies import Study, Submission


class BonusPlan(models.Model):
    """The first step of a bonus payment, which pays nobody. Each call of the second step pays all its lines again."""

    plan_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="bonus_plans")
    #: [[submission id, cents], ...]
    lines = models.JSONField()
    times_paid = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return self.plan_id


class Payment(models.Model):
    """A reward or a bonus. Without `paid_at` it is accepted only; without `due_at`, too, it will never be paid."""

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="payments")
    #: none: the reward
    plan = models.ForeignKey(BonusPlan, on_delete=models.PROTECT, null=True, related_name="payments")
    amount_cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField()
    vat_cents = models.PositiveIntegerField()
    due_at = models.DateTimeField(null=True, db_index=True)
    paid_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["submission"], condition=models.Q(plan=None), name="a_submission_is_rewarded_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.amount_cents} for {self.submission}"
