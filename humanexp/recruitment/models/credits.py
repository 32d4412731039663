"""Course credit that a site is told to give, one row a participation."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from humanexp.core import clock
from humanexp.recruitment.models.campaigns import Assignment, Campaign
from humanexp.recruitment.states import WRITE_TRANSITIONS, WriteState


class Credit(models.Model):
    """planned -> sending -> confirmed | refused. A row that is found sending was sent: nothing sends it by itself."""

    TRANSITIONS = WRITE_TRANSITIONS

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="credits")
    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="credit")
    state = models.CharField(max_length=10, choices=WriteState.choices, default=WriteState.PLANNED)
    planned_at = models.DateTimeField(default=clock.now, editable=False)
    sent_at = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    #: a person has decided about it: sent again, or given by hand
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    last_error = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["state"], name="credit_state")]

    def __str__(self) -> str:
        return f"credit {self.pk}"
