"""What participants report when something went wrong, and what they are answered."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from humanexp.participation.models import Session
from humanexp.recruitment.models.campaigns import Assignment, Campaign
from humanexp.recruitment.models.writes import Message


class Trouble(models.TextChoices):
    """What went wrong."""

    CODE = "code", _("the code failed")
    UNPAID = "unpaid", _("finished and not paid")
    TECHNICAL = "technical", _("technical failure")
    OTHER = "other", _("something else")


class TroubleReport(models.Model):
    """One report. Its key is the number that people quote; with the reference code its writer comes back to it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="trouble_reports")
    kind = models.CharField(max_length=10, choices=Trouble.choices)
    text = models.TextField(max_length=1_000, blank=True)
    #: whom it is about, where that is known; it goes with them
    session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.CASCADE, related_name="trouble_reports"
    )
    assignment = models.ForeignKey(
        Assignment, null=True, blank=True, on_delete=models.SET_NULL, related_name="trouble_reports"
    )
    #: the page that sent it held the session's token; ids in an address prove nothing
    is_proven = models.BooleanField(default=False)
    #: SHA-256 of the reference code
    reference_hash = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()
    #: an answer was promised until then
    due_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["campaign", "closed_at", "due_at"], name="trouble_open")]

    def __str__(self) -> str:
        return f"report {self.pk}"

    def is_overdue(self, now: datetime) -> bool:
        return self.closed_at is None and self.due_at < now and not self.answers.exists()


class TroubleAnswer(models.Model):
    """What the study's people wrote back."""

    report = models.ForeignKey(TroubleReport, on_delete=models.CASCADE, related_name="answers")
    text = models.TextField(max_length=2_000)
    answered_at = models.DateTimeField()
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    #: sent through the recruiter; without one it is read on the report's own page
    message = models.ForeignKey(Message, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"answer to report {self.report_id}"
