"""Which events of a HIT type a requester wants to hear of, and the events themselves until they are sent."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from humanexp.sites.marketplace.models.hits import HITType


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
