"""What requesters say about workers, what workers ask for, and whom a requester does not want."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import Q

from humanexp.sites.marketplace import keys
from humanexp.sites.marketplace.models.accounts import Requester, Worker


class QualificationType(models.Model):
    """A requester's own kind of qualification. The system's are in `requirements`."""

    class Status(models.TextChoices):
        ACTIVE = "Active"
        INACTIVE = "Inactive"

    qualification_type_id = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="qualification_types")
    name = models.CharField(max_length=200)
    description = models.TextField()
    keywords = models.TextField(blank=True)
    status = models.CharField(max_length=8, choices=Status.choices)
    retry_delay_seconds = models.BigIntegerField(null=True)
    is_auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(null=True)
    #: QuestionForm and AnswerKey XML. A test without a key is judged by the requester.
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    test_duration_seconds = models.BigIntegerField(null=True)
    created_at = models.DateTimeField()
    #: Deleted by its owner. Grants stay, because requirements of open HITs still look at them.
    disposed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"], condition=Q(disposed_at=None), name="qualification_type_name_is_unique"
            ),
            models.CheckConstraint(
                condition=Q(test="") | Q(test_duration_seconds__isnull=False, is_auto_granted=False),
                name="a_test_has_a_duration_and_is_taken",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Qualification(models.Model):
    """A worker's value of a qualification type; revoked ones stay as a record."""

    class Status(models.TextChoices):
        GRANTED = "Granted"
        REVOKED = "Revoked"

    qualification_type = models.ForeignKey(QualificationType, on_delete=models.PROTECT, related_name="qualifications")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="qualifications")
    value = models.IntegerField()
    status = models.CharField(max_length=8, choices=Status.choices)
    granted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["qualification_type", "worker"], name="one_value_per_worker_and_type")
        ]

    def __str__(self) -> str:
        return f"{self.worker}: {self.qualification_type} = {self.value}"


class QualificationRequest(models.Model):
    """A worker's wish for a qualification; with a test it begins when the test does."""

    class Outcome(models.TextChoices):
        PENDING = ""
        GRANTED = "Granted"
        REJECTED = "Rejected"

    request_id = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    qualification_type = models.ForeignKey(QualificationType, on_delete=models.PROTECT, related_name="requests")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="qualification_requests")
    #: The test as it was when the worker began.
    test = models.TextField(blank=True)
    #: QuestionFormAnswers XML.
    answer = models.TextField(blank=True)
    began_at = models.DateTimeField()
    deadline_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)
    decided_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=8, choices=Outcome.choices, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=Q(submitted_at__isnull=False, decided_at=None),
                name="one_pending_request_per_worker_and_type",
            )
        ]

    def __str__(self) -> str:
        return self.request_id

    def is_open(self, now: datetime) -> bool:
        """The test is being taken."""
        return self.submitted_at is None and self.deadline_at is not None and now < self.deadline_at


class WorkerBlock(models.Model):
    """A requester's refusal to give work to a worker."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="worker_blocks")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="blocks")
    reason = models.TextField()
    blocked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "worker"], name="a_worker_is_blocked_once")]

    def __str__(self) -> str:
        return f"{self.requester}: {self.worker}"
