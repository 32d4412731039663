"""What requesters say about workers."""

from __future__ import annotations

from django.db import models

from humanexp.marketplace import keys
from humanexp.marketplace.models.accounts import Requester, Worker


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
    created_at = models.DateTimeField()

    class Meta:
        app_label = "marketplace"
        constraints = [models.UniqueConstraint(fields=["requester", "name"], name="qualification_type_name_is_unique")]

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
        app_label = "marketplace"
        constraints = [
            models.UniqueConstraint(fields=["qualification_type", "worker"], name="one_value_per_worker_and_type")
        ]

    def __str__(self) -> str:
        return f"{self.worker}: {self.qualification_type} = {self.value}"
