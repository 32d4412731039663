"""Bonuses that a recruiter cannot tell apart: each call that paid some, and what was listed before and afterwards."""

from __future__ import annotations

from collections import Counter

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from humanexp.recruitment.models.campaigns import Assignment, Hit
from humanexp.recruitment.models.writes import KeptForEver, Payment


class CallAnswer(models.TextChoices):
    #: none is stored: the process ended meanwhile, or is at it
    NONE = "", _("no answer")
    ACCEPTED = "accepted", _("accepted")
    UNKNOWN = "unknown", _("the answer was lost")
    REFUSED = "refused", _("refused: nothing was paid")


class BonusCall(models.Model):
    """One call that pays bonuses of one offer. It is committed before it is sent, and sent once."""

    environment = models.CharField(max_length=12)
    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="bonus_calls")
    #: the recruiter's name of what the call carries out
    plan_id = models.CharField(max_length=64)
    sent_at = models.DateTimeField()
    answer = models.CharField(max_length=10, choices=CallAnswer.choices, default=CallAnswer.NONE, blank=True)
    #: free in the account, and all bonuses of the offer, as the recruiter has it: before the call, and at the last look
    balance_before_cents = models.BigIntegerField()
    bonuses_before_cents = models.BigIntegerField()
    balance_cents = models.BigIntegerField(null=True, blank=True)
    bonuses_cents = models.BigIntegerField(null=True, blank=True)
    looked_at = models.DateTimeField(null=True, blank=True)

    objects = KeptForEver.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["environment", "plan_id"], name="bonus_call_once")]

    def __str__(self) -> str:
        return f"bonus call {self.pk}"


class AttemptOutcome(models.TextChoices):
    #: nothing is known
    OPEN = "", _("not proved")
    PROVED = "proved", _("paid: the recruiter lists it")
    NOT_SENT = "not-sent", _("certainly not paid")
    #: a person has found it paid
    FOUND = "found", _("found paid")
    #: a person has it paid again, and this one shows nowhere
    GIVEN_UP = "given-up", _("given up for another attempt")


class BonusAttempt(models.Model):
    """One line of a call. Of a submission at most one is unproved: a second would be taken for the first."""

    call = models.ForeignKey(BonusCall, on_delete=models.PROTECT, related_name="attempts")
    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="bonus_attempts")
    number = models.PositiveIntegerField()
    #: the payment's
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="+")
    #: cents of each bonus that the recruiter listed: before the call, and at the last look
    listed_before = models.JSONField(default=list)
    listed = models.JSONField(null=True, blank=True)
    looks = models.PositiveIntegerField(default=0)
    #: when the recruiter is asked next
    look_at = models.DateTimeField()
    outcome = models.CharField(max_length=10, choices=AttemptOutcome.choices, default=AttemptOutcome.OPEN, blank=True)
    #: who had it paid again or found it paid, and why
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(max_length=2_000, blank=True)

    objects = KeptForEver.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["payment", "number"], name="bonus_attempt_numbered"),
            models.UniqueConstraint(fields=["assignment"], condition=Q(outcome=""), name="bonus_unproved_once"),
        ]
        indexes = [models.Index(fields=["look_at"], condition=Q(outcome=""), name="bonus_attempt_to_look_at")]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.payment}"

    def is_proved_by(self, listed: Counter[int]) -> bool:
        """What is listed now has this amount once more than before."""
        amount = self.payment.amount_cents
        return listed[amount] > Counter(self.listed_before)[amount]
