"""What the ledger and a recruiter say differently about one payment, and what a person made of it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from humanexp.recruitment.models.calls import MONEY, Payment
from humanexp.recruitment.models.campaigns import Assignment, Hit
from humanexp.recruitment.recruiters.registry import currency_of
from humanexp.recruitment.states import DIFFERENCE_TRANSITIONS, DifferenceState


class DifferenceKind(models.TextChoices):
    NOT_HERE = "not-here", _("on their side, not in the ledger")
    NOT_THERE = "not-there", _("in the ledger, not on their side")
    AMOUNT = "amount", _("another amount on their side")


class Difference(models.Model):
    """One payment on which both sides differ. It holds back bonuses of its assignment, or else of its campaign."""

    TRANSITIONS = DIFFERENCE_TRANSITIONS

    environment = models.CharField(max_length=12)
    #: names the payment from comparison to comparison
    key = models.CharField(max_length=120)
    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="differences")
    #: None where the recruiter lists one that we do not know
    assignment = models.ForeignKey(
        Assignment, null=True, blank=True, on_delete=models.PROTECT, related_name="differences"
    )
    #: the row of the ledger; of what was paid there alone, the one that adopted it
    payment = models.ForeignKey(Payment, null=True, blank=True, on_delete=models.PROTECT, related_name="differences")
    kind = models.CharField(max_length=10, choices=DifferenceKind.choices)
    paid_as = models.CharField(max_length=12, choices=[(kind.value, kind.label) for kind in MONEY])
    #: the recruiter's name of the assignment
    listed_as = models.CharField(max_length=64)
    #: None: not paid, as that side says
    ours_cents = models.PositiveIntegerField(null=True, blank=True)
    theirs_cents = models.PositiveIntegerField(null=True, blank=True)
    #: what they say about it: the bonus's reason, and when it was paid
    their_reason = models.TextField(blank=True)
    paid_at = models.DateTimeField(null=True, blank=True)

    state = models.CharField(max_length=10, choices=DifferenceState.choices, default=DifferenceState.OPEN)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    note = models.TextField(max_length=2_000, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["environment", "key"], name="difference_once"),
            models.CheckConstraint(
                condition=Q(ours_cents__isnull=False) | Q(theirs_cents__isnull=False), name="difference_has_a_side"
            ),
        ]
        indexes = [models.Index(fields=["state", "hit"])]

    def __str__(self) -> str:
        return f"difference {self.pk}"

    @property
    def currency(self) -> str:
        return currency_of(self.environment)

    @property
    def is_open(self) -> bool:
        return self.state == DifferenceState.OPEN

    @property
    def can_be_adopted(self) -> bool:
        """The ledger is by assignments of ours."""
        return self.assignment_id is not None
