"""What recruiters have told us by themselves: that something is to be looked at, and nothing else."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from humanexp.core import clock
from humanexp.recruitment.models.campaigns import Campaign


class HookEvent(models.Model):
    """One delivery of an event, however often it comes. Nobody's id is kept: the campaign that is meant is found."""

    environment = models.CharField(max_length=12)
    #: of the delivery's signature
    digest = models.CharField(max_length=64)
    #: None: whichever of the account's is under way
    campaign = models.ForeignKey(Campaign, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    received_at = models.DateTimeField(default=clock.now)
    looked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["environment", "digest"], name="hook_event_once")]
        indexes = [
            models.Index(fields=["environment"], condition=Q(looked_at=None), name="hook_event_to_look_at"),
            models.Index(fields=["received_at"], name="hook_event_by_time"),
        ]

    def __str__(self) -> str:
        return f"event {self.pk}"
