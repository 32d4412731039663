"""Assignments and bonus payments. An assignment's state follows from its times (`states.assignment_state`)."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import Q

from humanexp.sites.marketplace import keys
from humanexp.sites.marketplace.models.accounts import Requester, Worker
from humanexp.sites.marketplace.states import AssignmentState, assignment_state


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
