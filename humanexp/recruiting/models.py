"""What happens around campaigns: texts that were agreed to, approvals, events, holds, batches, and ways back."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from humanexp.core import clock
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.studies.models import Study


class AgreedText(models.Model):
    """A text of consent exactly as it was shown; sessions name it by its digest. Never changed, never removed."""

    #: SHA-256 of the text
    digest = models.CharField(max_length=64, unique=True)
    version = models.CharField(max_length=40)
    language = models.CharField(max_length=35)
    html = models.TextField()
    first_agreed_at = models.DateTimeField()

    class Meta:
        app_label = "recruitment"
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.version} {self.digest[:12]}"


class ApprovalChange(models.Model):
    """The approval of a study was withdrawn, or has another last day than its file says. The newest row holds."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="approval_changes")
    is_withdrawn = models.BooleanField(default=False)
    #: last day; None where it does not end, or is withdrawn
    until = models.DateField(null=True, blank=True)
    #: version of the consent text that it covers by now; empty: as the file says
    consent = models.CharField(max_length=40, blank=True, default="")
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    changed_at = models.DateTimeField()

    class Meta:
        app_label = "recruitment"
        ordering = ["pk"]

    def __str__(self) -> str:
        return "withdrawn" if self.is_withdrawn else f"until {self.until}"


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
        app_label = "recruitment"
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["environment", "digest"], name="hook_event_once")]
        indexes = [
            models.Index(fields=["environment"], condition=Q(looked_at=None), name="hook_event_to_look_at"),
            models.Index(fields=["received_at"], name="hook_event_by_time"),
        ]

    def __str__(self) -> str:
        return f"event {self.pk}"


class HoldReason(models.TextChoices):
    WAGE = "wage", "the median hour pays less than the minimum"
    #: a top-up is made once: what falls short after it waits for a person
    WAGE_AGAIN = "wage-again", "the median hour pays less than the minimum after a top-up"
    RETURNS = "returns", "many people give their places back"


class CampaignHold(models.Model):
    """A reason to stop and look, found once in a campaign. The program never pauses twice for the same reason."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="holds")
    reason = models.CharField(max_length=12, choices=HoldReason.choices)
    #: at the last look: cents of the median hour, or people who gave their places back
    measured = models.PositiveIntegerField()
    #: and what it is compared with: cents, or a share in percent
    limit = models.PositiveIntegerField()
    #: whose time is known, or who started
    people = models.PositiveIntegerField()
    #: at a recruiter that cannot pause, people go on coming until a person stops the campaign
    has_paused = models.BooleanField(default=False)
    began_at = models.DateTimeField(default=clock.now)
    #: the reason has gone
    ended_at = models.DateTimeField(null=True, blank=True)
    #: a person has looked at it and lets the campaign go on; until then no batch of places is opened
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "recruitment"
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["campaign", "reason"], name="campaign_held_once_for_a_reason")]

    def __str__(self) -> str:
        return f"{self.reason} of campaign {self.campaign_id}"


class PlaceBatch(models.Model):
    """Some of a campaign's places, opened together. The number is unique: no batch is opened twice."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="batches")
    #: from 1, which is opened by the launch
    number = models.PositiveIntegerField()
    places = models.PositiveIntegerField()
    opened_at = models.DateTimeField(default=clock.now)

    class Meta:
        app_label = "recruitment"
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="batch_opened_once"),
            models.CheckConstraint(condition=models.Q(places__gt=0, number__gt=0), name="batch_has_places"),
        ]

    def __str__(self) -> str:
        return f"batch {self.number} of campaign {self.campaign_id}"


class WayBackKind(models.TextChoices):
    #: the next opening under the same id, once
    RELEASE = "release", "release"
    #: an address that the researcher sends to the person
    LINK = "link", "personal link"


class WayBack(models.Model):
    """A researcher lets a person back into an unfinished session whose browser has lost what it was begun with."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="ways_back")
    kind = models.CharField(max_length=10, choices=WayBackKind.choices)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    #: the last time
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "recruitment"
        ordering = ["-pk"]
        verbose_name_plural = "ways back"

    def __str__(self) -> str:
        return f"{self.kind} of assignment {self.assignment_id}"

    def is_open(self, now: datetime) -> bool:
        """A release works once, a personal link until it expires."""
        is_used_up = self.kind == WayBackKind.RELEASE and self.used_at is not None
        return self.revoked_at is None and not is_used_up and now < self.expires_at
