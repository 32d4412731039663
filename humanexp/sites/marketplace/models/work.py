"""HIT types, HITs, assignments, bonus payments, and the events of which a requester wants to hear.

States are not stored: they follow from times (`states`).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import Count, F, Q
from django.db.models.functions import Greatest

from humanexp.sites.marketplace import keys
from humanexp.sites.marketplace.models.people import Requester, Worker
from humanexp.sites.marketplace.states import (
    DISPOSED_AFTER_DAYS,
    AssignmentState,
    HITState,
    assignment_state,
    hit_state,
)


def _q(prefix: str, **conditions: object) -> Q:
    return Q(**{f"{prefix}{name}": value for name, value in conditions.items()})


def is_accepted(now: datetime, prefix: str = "") -> Q:
    """Somebody is at work on it."""
    return _q(prefix, submitted_at=None, returned_at=None, abandoned_at=None, deadline_at__gt=now)


def is_submitted(now: datetime, prefix: str = "") -> Q:
    """Waits for the requester's word."""
    return _q(prefix, submitted_at__isnull=False, approved_at=None, rejected_at=None, auto_approves_at__gt=now)


def is_approved(now: datetime, prefix: str = "") -> Q:
    """Approved by the requester, or by time."""
    by_time = _q(prefix, submitted_at__isnull=False, rejected_at=None, auto_approves_at__lte=now)
    return _q(prefix, approved_at__isnull=False) | by_time


def is_rejected(prefix: str = "") -> Q:
    return _q(prefix, rejected_at__isnull=False, approved_at=None)


def is_taking_a_place(now: datetime) -> Q:
    """All but the returned and the abandoned."""
    return Q(submitted_at__isnull=False) | is_accepted(now)


class Assignment(models.Model):
    """One worker's go at one HIT."""

    assignment_id = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    hit = models.ForeignKey("marketplace.HIT", on_delete=models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    #: What was promised when it was accepted: a HIT may change its type afterwards.
    reward_cents = models.BigIntegerField()
    fee_cents = models.BigIntegerField()
    accepted_at = models.DateTimeField()
    deadline_at = models.DateTimeField()
    returned_at = models.DateTimeField(null=True)
    #: Written when the worker takes the HIT again; before that the passed deadline says the same.
    abandoned_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)
    auto_approves_at = models.DateTimeField(null=True)
    approved_at = models.DateTimeField(null=True)
    rejected_at = models.DateTimeField(null=True)
    #: QuestionFormAnswers XML.
    answer = models.TextField(blank=True)
    requester_feedback = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=Q(returned_at=None, abandoned_at=None),
                name="one_assignment_per_worker_and_hit",
            ),
            models.CheckConstraint(
                condition=Q(submitted_at=None, auto_approves_at=None, approved_at=None, rejected_at=None)
                | Q(submitted_at__isnull=False, auto_approves_at__isnull=False, returned_at=None, abandoned_at=None),
                name="only_submitted_work_is_judged",
            ),
        ]
        indexes = [models.Index(fields=["hit", "submitted_at"], name="assignment_by_hit")]

    def __str__(self) -> str:
        return self.assignment_id

    @property
    def cost_cents(self) -> int:
        """Reward and fee."""
        return self.reward_cents + self.fee_cents

    def state(self, now: datetime) -> AssignmentState:
        return assignment_state(
            now=now,
            deadline_at=self.deadline_at,
            returned_at=self.returned_at,
            submitted_at=self.submitted_at,
            auto_approves_at=self.auto_approves_at,
            approved_at=self.approved_at,
            rejected_at=self.rejected_at,
            was_abandoned=self.abandoned_at is not None,
        )

    def approval_time(self, now: datetime) -> datetime | None:
        """When it was approved: by the requester, or by time."""
        if self.approved_at is not None:
            return self.approved_at
        return self.auto_approves_at if self.state(now) is AssignmentState.APPROVED else None


class UploadedFile(models.Model):
    """A file that a worker sent in answer to a question; gone with its HIT."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="files")
    question_identifier = models.CharField(max_length=255)
    key = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    name = models.CharField(max_length=255)
    content = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "question_identifier"], name="one_file_per_question")
        ]

    def __str__(self) -> str:
        return self.name


class BonusPayment(models.Model):
    """Money beyond the reward. Made once, never changed."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="bonus_payments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="bonus_payments")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="bonus_payments")
    amount_cents = models.BigIntegerField()
    fee_cents = models.BigIntegerField()
    reason = models.TextField()
    granted_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(amount_cents__gt=0), name="a_bonus_is_money")]

    def __str__(self) -> str:
        return f"{self.amount_cents} cents to {self.worker}"


class HITType(models.Model):
    """What HITs of one group share. The same values give the same type: `digest` is of all of them."""

    hit_type_id = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    group_id = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="hit_types")
    title = models.CharField(max_length=128)
    description = models.TextField()
    keywords = models.TextField(blank=True)
    reward_cents = models.BigIntegerField()
    assignment_duration_seconds = models.BigIntegerField()
    auto_approval_delay_seconds = models.BigIntegerField()
    #: As MTurk writes them: a list of QualificationRequirement structures.
    requirements = models.JSONField(default=list)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "digest"], name="one_hit_type_per_values"),
            models.CheckConstraint(condition=Q(reward_cents__gte=0), name="reward_is_not_negative"),
        ]

    def __str__(self) -> str:
        return self.title


class HITQuerySet(models.QuerySet["HIT"]):
    def counted(self, now: datetime) -> Self:
        """With the number of assignments in each state at `now`, and the places still free."""
        return self.select_related("hit_type", "requester").annotate(
            n_accepted=Count("assignments", filter=is_accepted(now, "assignments__")),
            n_submitted=Count("assignments", filter=is_submitted(now, "assignments__")),
            n_approved=Count("assignments", filter=is_approved(now, "assignments__")),
            n_rejected=Count("assignments", filter=is_rejected("assignments__")),
            n_available=Greatest(
                F("max_assignments") - F("n_accepted") - F("n_submitted") - F("n_approved") - F("n_rejected"), 0
            ),
        )

    def listed(self, now: datetime) -> Self:
        """Not disposed: neither by the requester nor by its age. Needs `counted`."""
        old = now - timedelta(days=DISPOSED_AFTER_DAYS)
        return self.filter(disposed_at=None).exclude(expires_at__lte=old, n_accepted=0)

    def reviewable(self, now: datetime, *, reviewing: bool = False) -> Self:
        """Expired or full, and nobody at work. Needs `counted`."""
        return self.listed(now).filter(Q(expires_at__lte=now) | Q(n_available=0), n_accepted=0, is_reviewing=reviewing)

    def open(self, now: datetime) -> Self:
        """With a place that somebody could take. Needs `counted`."""
        return self.filter(disposed_at=None, expires_at__gt=now, n_available__gt=0)


class HIT(models.Model):
    """One task, to be done `max_assignments` times by different workers."""

    hit_id = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    hit_type = models.ForeignKey(HITType, on_delete=models.PROTECT, related_name="hits")
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="hits")
    question = models.TextField()
    #: Of an ExternalQuestion; empty for questions that the marketplace shows itself.
    external_url = models.TextField(blank=True)
    frame_height_px = models.PositiveIntegerField()
    max_assignments = models.PositiveIntegerField()
    annotation = models.CharField(max_length=255, blank=True)
    #: Fee for one assignment, fixed when the HIT is made.
    fee_cents = models.BigIntegerField()
    is_reviewing = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    disposed_at = models.DateTimeField(null=True)
    #: When places or time were last added.
    extended_at = models.DateTimeField(null=True)

    objects = HITQuerySet.as_manager()

    # Set by HITQuerySet.counted; a rejected assignment keeps its place.
    n_accepted: int
    n_submitted: int
    n_approved: int
    n_rejected: int
    n_available: int

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(max_assignments__gte=1), name="a_hit_has_a_place"),
        ]

    def __str__(self) -> str:
        return self.hit_id

    @property
    def cost_cents(self) -> int:
        """Of one approved assignment: reward and fee."""
        return self.hit_type.reward_cents + self.fee_cents

    def state(self, now: datetime) -> HITState:
        """Needs `counted`."""
        return hit_state(
            now=now,
            accepted=self.n_accepted,
            available=self.n_available,
            expires_at=self.expires_at,
            disposed_at=self.disposed_at,
            is_reviewing=self.is_reviewing,
        )


class Transport(models.TextChoices):
    SQS = "SQS"
    SNS = "SNS"


class NotificationSpecification(models.Model):
    """One destination for a HIT type."""

    hit_type = models.OneToOneField(HITType, on_delete=models.CASCADE, related_name="notification")
    destination = models.TextField()
    transport = models.CharField(max_length=3, choices=Transport.choices)
    version = models.CharField(max_length=10)
    event_types = models.JSONField(default=list)
    is_active = models.BooleanField(default=True)
    #: Events up to here have been looked for; nothing before the specification was made is told.
    watched_until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.transport} {self.destination}"


class Event(models.Model):
    """Something that happened, to be told once. Found twice, it is the same row."""

    specification = models.ForeignKey(NotificationSpecification, on_delete=models.CASCADE, related_name="events")
    event_type = models.CharField(max_length=32)
    hit_id = models.CharField(max_length=64)
    assignment_id = models.CharField(max_length=64, blank=True)
    happened_at = models.DateTimeField()
    #: By the machine's clock, like `sent_at`.
    try_at = models.DateTimeField()
    attempts = models.PositiveIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["specification", "event_type", "hit_id", "assignment_id", "happened_at"],
                name="an_event_is_told_once",
            )
        ]
        indexes = [models.Index(fields=["try_at"], condition=Q(sent_at=None), name="event_to_be_sent")]

    def __str__(self) -> str:
        return f"{self.event_type} {self.assignment_id or self.hit_id}"
