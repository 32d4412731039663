"""Accounts with recruiters, what may be promised through them, and who decides about pay."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from humanexp.recruitment.models.campaigns import Assignment
from humanexp.recruitment.states import PROPOSAL_TRANSITIONS, ProposalState
from humanexp.studies.models import Study


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
