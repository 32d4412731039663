"""The outbox, and what people decide about money: caps, rejections that take two, differences, top-ups.

Whatever is sent to a recruiter is a committed row before it is sent, and a row is never removed.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from humanexp.core import clock
from humanexp.core.errors import NotAllowed
from humanexp.core.models import User
from humanexp.recruiters.models import Assignment, Campaign, Hit, QualificationType, RecruitedPerson
from humanexp.recruiters.registry import currency_of
from humanexp.recruiters.states import (
    DIFFERENCE_TRANSITIONS,
    PROPOSAL_TRANSITIONS,
    UNFINISHED,
    WRITE_TRANSITIONS,
    DifferenceState,
    ProposalState,
    WriteState,
)
from humanexp.studies.models import Study


class CallKind(models.TextChoices):
    """What a call asks of the recruiter."""

    REWARD = "reward", "reward"
    BONUS = "bonus", "bonus"
    #: the reward of somebody who did the work and could not submit it
    COMPENSATION = "compensation", "compensation"
    REJECT = "reject", "rejection"
    CREATE = "create", "publish"
    EXPIRE = "expire", "stop"
    EXTEND = "extend", "add places"
    PROLONG = "prolong", "stay open longer"
    PAUSE = "pause", "pause"
    RESUME = "resume", "open again"
    #: a qualification given to a person, or taken back; the latest of a pair says how it stands
    GRANT = "grant", "grant"
    REVOKE = "revoke", "revoke"
    #: a person is asked to give the place back. A repeat would be sent again: it is sent at most once.
    RETURN = "return", "request to return"
    #: nobody can ask whether one arrived: it is sent at most once
    MESSAGE = "message", "message"


#: Paid beside the reward of a place.
EXTRAS = (CallKind.BONUS, CallKind.COMPENSATION)
#: Rows of the ledger.
MONEY = (CallKind.REWARD, *EXTRAS)
#: About one offer.
OFFERS = (
    CallKind.CREATE,
    CallKind.EXPIRE,
    CallKind.EXTEND,
    CallKind.PROLONG,
    CallKind.PAUSE,
    CallKind.RESUME,
)
#: Money is promised for the places that these take.
PLACES = (CallKind.CREATE, CallKind.EXTEND)
MARKS = (CallKind.GRANT, CallKind.REVOKE)
#: About one submission, once.
ONCE = (CallKind.REJECT, CallKind.RETURN)


class Answer(models.TextChoices):
    """To a call that paid several bonuses."""

    #: none is stored: the process ended meanwhile, or is at it
    NONE = "", "no answer"
    ACCEPTED = "accepted", "accepted"
    UNKNOWN = "unknown", "the answer was lost"
    REFUSED = "refused", "refused: nothing was paid"


class KeptForEver(models.QuerySet[Any]):
    """Rows that are only added to."""

    def delete(self) -> NoReturn:
        raise NotAllowed("The ledger is only ever added to; its rows cannot be deleted.")


Row = TypeVar("Row", bound="Call")


class CallManager(models.Manager[Row]):
    """Of all calls; `of` narrows a proxy to its kinds."""

    def __init__(self, *of: str) -> None:
        super().__init__()
        self._of = of

    def get_queryset(self) -> models.QuerySet[Any]:
        rows = KeptForEver(self.model, using=self._db)
        return rows.filter(kind__in=self._of) if self._of else rows

    def plan(self, kind: str, *, environment: str, by: User | None = None, **facts: object) -> Row:
        """A row to be sent. The token is random, so that an emptied or restored database never takes what is at the
        recruiter for its own; its first words are for the eye."""
        token = f"{environment}-{kind}-{secrets.token_hex(8)}"
        return self.create(kind=kind, environment=environment, token=token, created_by=by, **facts)


class Call(models.Model):
    """One write to a recruiter, from planned over sending to confirmed, refused or parked.

    Money that is promised is in columns of its own, so that the database adds it up: of payments the amount and the
    recruiter's fee, of offers what the places cost when all are taken, with fees.
    """

    TRANSITIONS = WRITE_TRANSITIONS

    kind = models.CharField(max_length=12, choices=CallKind.choices)
    environment = models.CharField(max_length=12)
    state = models.CharField(max_length=10, choices=WriteState.choices, default=WriteState.PLANNED)
    token = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    #: whom or what it is about. The campaign of an assignment and of an offer never changes: sums look up neither.
    campaign = models.ForeignKey(
        Campaign, null=True, blank=True, on_delete=models.PROTECT, related_name="calls", db_index=False
    )
    hit = models.ForeignKey(Hit, null=True, blank=True, on_delete=models.PROTECT, related_name="calls")
    assignment = models.ForeignKey(Assignment, null=True, blank=True, on_delete=models.PROTECT, related_name="calls")
    qualification = models.ForeignKey(
        QualificationType, null=True, blank=True, on_delete=models.PROTECT, related_name="calls"
    )
    #: of a qualification; null once the person has been deleted
    person = models.ForeignKey(
        RecruitedPerson, null=True, blank=True, on_delete=models.SET_NULL, related_name="qualifications"
    )
    #: what is paid for; the same cause pays an assignment once
    cause = models.CharField(max_length=60, blank=True)
    places = models.PositiveIntegerField(default=0)
    amount_cents = models.PositiveIntegerField(default=0)
    #: all that the recruiter takes beside it, tax included
    fee_cents = models.PositiveIntegerField(default=0)
    #: of the fee: the tax on it
    tax_cents = models.PositiveIntegerField(default=0)
    #: the person reads it
    reason = models.TextField(max_length=4_000, blank=True)
    #: what else its kind says, as ledger/deliveries.py and ledger/hit_calls.py read it
    payload = models.JSONField(default=dict, blank=True)

    #: the recruiter remembers a token for a day from here
    first_sent_at = models.DateTimeField(null=True, blank=True)
    #: when the other side, asked late, last did not have it: a second such answer is needed before a re-send
    missed_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    #: this database was restored, and may have forgotten that the row was sent: the other side is asked first
    ask_first = models.BooleanField(default=False)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=500, blank=True)

    # Of bonuses that the recruiter cannot tell apart (ledger/bonus_calls.py).
    #: its name of what carries this one out, with others of the same call
    handle = models.CharField(max_length=64, blank=True)
    answer = models.CharField(max_length=10, choices=Answer.choices, default=Answer.NONE, blank=True)
    #: what it listed before the call and at the last look after it, as `Listing` writes it
    evidence_before = models.JSONField(null=True, blank=True)
    listed_after = models.JSONField(null=True, blank=True)
    #: the same when this was left to a person unsent: whoever has it paid all the same has seen it
    listed_unsent = models.JSONField(null=True, blank=True)
    #: when it is asked next; null: nothing is left to prove
    look_at = models.DateTimeField(null=True, blank=True)
    #: earlier sendings that a person has given up for another
    given_up = models.JSONField(default=list, blank=True)

    objects: ClassVar[CallManager[Self]] = CallManager()

    class Meta:
        app_label = "recruitment"
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=CallKind.values), name="call_kind_known"),
            models.CheckConstraint(condition=Q(state__in=WriteState.values), name="call_state_known"),
            models.CheckConstraint(
                condition=(
                    Q(kind__in=[*MONEY, *ONCE, CallKind.MESSAGE], assignment__isnull=False, campaign__isnull=False)
                    | Q(kind__in=OFFERS, hit__isnull=False, campaign__isnull=False)
                    | Q(kind__in=MARKS, qualification__isnull=False)
                ),
                name="call_is_about_something",
            ),
            models.CheckConstraint(condition=~Q(kind__in=EXTRAS) | Q(amount_cents__gt=0), name="bonus_is_money"),
            models.CheckConstraint(condition=~Q(kind=CallKind.REJECT) | ~Q(reason=""), name="rejection_has_a_reason"),
            models.UniqueConstraint(
                fields=["environment", "kind", "assignment", "cause"],
                condition=Q(kind__in=[*MONEY, *ONCE]),
                name="call_once_for_a_cause",
            ),
            models.UniqueConstraint(
                fields=["hit", "kind"],
                condition=Q(kind__in=[CallKind.CREATE, CallKind.EXPIRE]),
                name="call_once_for_an_offer",
            ),
            models.UniqueConstraint(
                fields=["qualification", "person", "kind"],
                condition=Q(kind__in=MARKS, state__in=UNFINISHED),
                name="call_once_at_a_time_for_a_mark",
            ),
            # A second bonus of a submission would be taken for the first.
            models.UniqueConstraint(
                fields=["assignment"], condition=Q(look_at__isnull=False), name="call_unproved_once"
            ),
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
                name="call_of_campaign",
            ),
            # what was promised beside the rewards since the month began
            models.Index(fields=["environment", "kind", "created_at"], name="call_by_month"),
            models.Index(fields=["look_at"], condition=Q(look_at__isnull=False), name="call_to_look_at"),
        ]

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotAllowed("The ledger is only ever added to; its rows cannot be deleted.")

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def currency(self) -> str:
        """Of its account."""
        return currency_of(self.environment)

    @property
    def cost_cents(self) -> int:
        return self.amount_cents + self.fee_cents

    @property
    def marker(self) -> str:
        """Ends the reason of a bonus, so that it can be found again in the recruiter's list."""
        return f"[p-{self.token[-10:]}]"


class Payment(Call):
    """The ledger: what one person gets for one assignment, for one cause, once."""

    objects: ClassVar[CallManager[Self]] = CallManager(*MONEY)

    class Meta:
        app_label = "recruitment"
        proxy = True

    if TYPE_CHECKING:  # of a payment these are never null
        assignment: Assignment
        assignment_id: int
        campaign: Campaign
        campaign_id: int


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
