"""What people decide about money: what a study may cost, rejections that take two, and differences in the books."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from humanexp.core import clock
from humanexp.ledger.models.calls import MONEY, Payment
from humanexp.recruiters.models import Assignment, Campaign, Hit
from humanexp.recruiters.registry import currency_of
from humanexp.recruiters.states import DIFFERENCE_TRANSITIONS, PROPOSAL_TRANSITIONS, DifferenceState, ProposalState
from humanexp.studies.models import Study


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
        app_label = "recruitment"
        constraints = [models.UniqueConstraint(fields=["study", "currency"], name="budget_once_a_currency")]

    def __str__(self) -> str:
        return f"budget of {self.study_id} in {self.currency}"


class ReviewPolicy(models.Model):
    """Who decides about pay in a study. Without a row: one person does."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="review_policy")
    rejections_need_two = models.BooleanField(default=False)

    class Meta:
        app_label = "recruitment"

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
        app_label = "recruitment"
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


class DifferenceKind(models.TextChoices):
    NOT_HERE = "not-here", "on their side, not in the ledger"
    NOT_THERE = "not-there", "in the ledger, not on their side"
    AMOUNT = "amount", "another amount on their side"


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
        app_label = "recruitment"
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


class CampaignTopUp(models.Model):
    """One equal bonus for everybody of a campaign, agreed to by a person, once."""

    campaign = models.OneToOneField(Campaign, on_delete=models.PROTECT, related_name="top_up")
    #: for each
    amount_cents = models.PositiveIntegerField()
    #: what it was to reach, and what the median hour paid before and pays with it
    floor_cents = models.PositiveIntegerField()
    before_cents = models.PositiveIntegerField()
    after_cents = models.PositiveIntegerField()
    #: agreed to, with fees: for the people of then, and for everybody who could still come
    total_cents = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=clock.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        app_label = "recruitment"
        constraints = [models.CheckConstraint(condition=models.Q(amount_cents__gt=0), name="campaign_top_up_is_money")]

    def __str__(self) -> str:
        return f"top-up of campaign {self.campaign_id}"
