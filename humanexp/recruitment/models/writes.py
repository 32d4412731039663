"""The outbox: every write to a recruiter is a committed row before it is sent, and a row is never removed."""

from __future__ import annotations

import secrets
from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from humanexp.core import clock
from humanexp.core.errors import NotAllowed
from humanexp.recruitment.models.campaigns import Assignment, Campaign, Hit
from humanexp.recruitment.recruiters.registry import currency_of
from humanexp.recruitment.states import PROPOSAL_TRANSITIONS, WRITE_TRANSITIONS, ProposalState, WriteState
from humanexp.studies.models import Study


class KeptForEver(models.QuerySet[Any]):
    """Rows that are only added to."""

    def delete(self) -> NoReturn:
        raise NotAllowed("The ledger is only ever added to; its rows cannot be deleted.")


class RecruiterWrite(models.Model):
    """One write: planned -> sending -> confirmed | refused | parked. The token is fixed when the row is made."""

    TRANSITIONS = WRITE_TRANSITIONS

    environment = models.CharField(max_length=12)
    state = models.CharField(max_length=10, choices=WriteState.choices, default=WriteState.PLANNED)
    token = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    #: the recruiter remembers a token for a day from here
    first_sent_at = models.DateTimeField(null=True, blank=True)
    #: when the other side, asked late, last did not have it: a second such answer is needed before a re-send
    missed_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    #: this database was restored, and may have forgotten that the row was sent: the other side is asked first
    ask_first = models.BooleanField(default=False)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=500, blank=True)

    objects = KeptForEver.as_manager()

    class Meta:
        abstract = True
        ordering = ["pk"]

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotAllowed("The ledger is only ever added to; its rows cannot be deleted.")

    def __str__(self) -> str:
        return f"{getattr(self, 'kind', self._meta.model_name)} {self.pk}"

    @property
    def currency(self) -> str:
        """Of its account."""
        return currency_of(self.environment)

    @property
    def campaign(self) -> Campaign:
        """Of the assignment that it is about; a write about a HIT and a payment have their own."""
        found: Campaign = self.assignment.campaign  # type: ignore[attr-defined]
        return found


class PaymentKind(models.TextChoices):
    REWARD = "reward", _("reward")
    BONUS = "bonus", _("bonus")
    #: owed to somebody who did the work and could not submit it
    COMPENSATION = "compensation", _("compensation")


#: Paid beside the reward of a place.
EXTRAS = (PaymentKind.BONUS, PaymentKind.COMPENSATION)


def new_marker() -> str:
    """Random, so that a restored database never takes a payment that it has forgotten for a new one of its own."""
    return f"[p-{secrets.token_hex(5)}]"


class Payment(RecruiterWrite):
    """The ledger: what one person gets for one assignment, for one cause, once."""

    kind = models.CharField(max_length=12, choices=PaymentKind.choices)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="payments")
    #: the assignment's, which never changes: sums of money look up no assignment
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="payments", db_index=False)
    cause = models.CharField(max_length=60)
    amount_cents = models.PositiveIntegerField()
    #: all that the recruiter takes beside it, tax included
    fee_cents = models.PositiveIntegerField()
    #: of the fee: the tax on it
    tax_cents = models.PositiveIntegerField(default=0)
    #: shown to the worker
    reason = models.CharField(max_length=900, blank=True)
    #: ends the reason of a bonus, so that it can be found again in the recruiter's list
    marker = models.CharField(max_length=40, default=new_marker)
    #: cents of each bonus that the recruiter listed when this one was left to a person unsent; whoever has it paid all
    #: the same has seen them
    listed = models.JSONField(null=True, blank=True)

    class Meta(RecruiterWrite.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["environment", "kind", "assignment", "cause"], name="payment_once_for_a_cause"
            ),
            models.CheckConstraint(condition=Q(kind=PaymentKind.REWARD) | Q(amount_cents__gt=0), name="bonus_is_money"),
        ]
        indexes = [
            models.Index(fields=["environment", "state"]),
            # in the order of the tally, with all that it adds up
            models.Index(
                fields=[
                    "campaign",
                    "kind",
                    "state",
                    "environment",
                    "amount_cents",
                    "fee_cents",
                    "tax_cents",
                    "created_at",
                ],
                name="payment_of_campaign",
            ),
            # what was promised beside the rewards since the month began
            models.Index(fields=["environment", "kind", "created_at"], name="payment_by_month"),
        ]

    @property
    def cost_cents(self) -> int:
        return self.amount_cents + self.fee_cents


class HitWriteKind(models.TextChoices):
    CREATE = "create", _("publish")
    EXPIRE = "expire", _("stop")
    EXTEND = "extend", _("add places")
    PROLONG = "prolong", _("stay open longer")
    PAUSE = "pause", _("pause")
    RESUME = "resume", _("open again")


class HitWrite(RecruiterWrite):
    """A write about a HIT. The HIT carries the annotation of the write that made it."""

    kind = models.CharField(max_length=10, choices=HitWriteKind.choices)
    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="writes")
    #: places made or added, and what they cost with fees when all are taken
    places = models.PositiveIntegerField(default=0)
    cost_cents = models.PositiveIntegerField(default=0)
    #: extension: places of the HIT once it has taken effect
    target_places = models.PositiveIntegerField(default=0)
    #: prolonging: the new end
    target_end = models.DateTimeField(null=True, blank=True)

    class Meta(RecruiterWrite.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "kind"], condition=Q(kind__in=["create", "expire"]), name="hit_write_once"
            ),
        ]
        indexes = [models.Index(fields=["environment", "state"])]

    @property
    def annotation(self) -> str:
        return self.token

    @property
    def campaign(self) -> Campaign:
        return self.hit.campaign


class Rejection(RecruiterWrite):
    """A person's refusal to pay, one assignment at a time, with the reason that the worker reads."""

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="rejection")
    reason = models.CharField(max_length=900)
    #: the recruiter's own word for the ground, where it asks for one
    category = models.CharField(max_length=24, blank=True, default="")
    #: what stood on record against the work, and what the person who rejects it wrote down
    signs = models.JSONField(default=list)
    evidence = models.TextField(max_length=4_000, blank=True)

    class Meta(RecruiterWrite.Meta):
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="rejection_has_a_reason")]


class Pause(models.TextChoices):
    """Why nothing is sent at present."""

    NO = "", _("sending")
    KEYS = "keys", _("the access keys are refused")
    #: until a person ends it
    HAND = "hand", _("an administrator has paused it")


class RecruiterAccount(models.Model):
    """An account with a recruiter: who may spend through it and how much, its pause, its balance, and who sends now.

    Two senders never do: the conditional update of this row decides.
    """

    #: its code, which every row about it bears; the first account of a kind has the kind's
    environment = models.CharField(max_length=12, unique=True)
    #: a sort of recruiter (`recruiters.registry`)
    kind = models.CharField(max_length=20, blank=True, default="")
    #: empty: as its kind is called
    name = models.CharField(max_length=80, blank=True, default="")
    #: ISO code; every account keeps its own books, and nothing is ever converted
    currency = models.CharField(max_length=3, default="USD")
    #: the recruiter's name of what the account stands for, where it has several under one key
    workspace = models.CharField(max_length=64, blank=True, default="")
    holder = models.CharField(max_length=80, blank=True)
    #: end of the lease by the wall clock, for holders on other machines
    until = models.DateTimeField(null=True, blank=True)
    #: the same by the clock that counts from the start of the machine, which nobody sets, and which start that was
    until_uptime_s = models.FloatField(null=True, blank=True)
    boot = models.CharField(max_length=64, blank=True)
    #: writes sent ever; a file beside the database counts them, too (services/counting.py)
    sends = models.PositiveBigIntegerField(default=0)
    #: since when bonuses wait for a comparison of the books: this database is older than that file
    to_compare_since = models.DateTimeField(null=True, blank=True)
    pause = models.CharField(max_length=8, choices=Pause.choices, default=Pause.NO, blank=True)
    pause_detail = models.CharField(max_length=500, blank=True)
    #: what may be promised through this account in a calendar month (UTC), fees included; None: no cap. Nothing is,
    #: before a treasurer has said so.
    month_cap_cents = models.PositiveIntegerField(null=True, blank=True, default=0)
    #: every account of the installation may launch on it; else treasurers, administrators and those who are named
    is_open = models.BooleanField(default=False)
    launchers = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+")
    balance_cents = models.BigIntegerField(null=True, blank=True)
    balance_at = models.DateTimeField(null=True, blank=True)
    #: when a bonus was first seen to arrive, where bonuses have no token; before that, only small ones are promised
    bonus_proved_at = models.DateTimeField(null=True, blank=True)
    #: when it was last tried out, and why that failed; empty: it did not
    tried_at = models.DateTimeField(null=True, blank=True)
    fault = models.CharField(max_length=500, blank=True)

    class Meta:
        db_table = "recruitment_senderlease"

    def __str__(self) -> str:
        return self.environment

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.kind = self.kind or self.environment
        super().save(*args, **kwargs)


class Message(RecruiterWrite):
    """A few words to the person of an assignment. Nobody can ask whether one arrived: it is sent at most once."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField(max_length=4_000)

    class Meta(RecruiterWrite.Meta):
        indexes = [models.Index(fields=["environment", "state"])]


class ReturnRequest(RecruiterWrite):
    """Asks the person of a submission to give the place back. A repeat would be sent again: it is sent at most once."""

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="return_request")
    #: people read it
    reason = models.CharField(max_length=400)

    class Meta(RecruiterWrite.Meta):
        indexes = [models.Index(fields=["environment", "state"])]


class StudyBudget(models.Model):
    """What a study may cost in one currency, over all its campaigns in it, fees included.

    The row is locked while money is promised.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="budgets")
    #: ISO code; earlier caps were of studies whose accounts all had this one
    currency = models.CharField(max_length=3, default="USD")
    #: None: no cap
    cap_cents = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "currency"], name="budget_once_a_currency")]

    def __str__(self) -> str:
        return f"budget of {self.study_id} in {self.currency}"


class ReviewPolicy(models.Model):
    """Who decides about pay in a study. Without a row: one person does."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="review_policy")
    rejections_need_two = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"review policy of {self.study_id}"


class RejectionProposal(models.Model):
    """A rejection that one person wants. Nothing is sent before another agrees; time approves the work meanwhile."""

    TRANSITIONS = PROPOSAL_TRANSITIONS

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="rejection_proposals")
    state = models.CharField(max_length=10, choices=ProposalState.choices, default=ProposalState.WAITING)
    #: as the worker would read it
    reason = models.CharField(max_length=900)
    evidence = models.TextField(max_length=4_000, blank=True)
    category = models.CharField(max_length=24, blank=True, default="")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    proposed_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment"],
                condition=Q(state=ProposalState.WAITING),
                name="rejection_proposed_once_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"proposed rejection {self.pk}"
