"""What a campaign was held for by the program itself, and the one top-up of all its people."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from humanexp.core import clock
from humanexp.recruitment.models.campaigns import Campaign


class HoldReason(models.TextChoices):
    WAGE = "wage", _("the median hour pays less than the minimum")
    #: a top-up is made once: what falls short after it waits for a person
    WAGE_AGAIN = "wage-again", _("the median hour pays less than the minimum after a top-up")
    RETURNS = "returns", _("many people give their places back")


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
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["campaign", "reason"], name="campaign_held_once_for_a_reason")]

    def __str__(self) -> str:
        return f"{self.reason} of campaign {self.campaign_id}"


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
        constraints = [models.CheckConstraint(condition=models.Q(amount_cents__gt=0), name="campaign_top_up_is_money")]

    def __str__(self) -> str:
        return f"top-up of campaign {self.campaign_id}"


class PlaceBatch(models.Model):
    """Some of a campaign's places, opened together. The number is unique: no batch is opened twice."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="batches")
    #: from 1, which is opened by the launch
    number = models.PositiveIntegerField()
    places = models.PositiveIntegerField()
    opened_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="batch_opened_once"),
            models.CheckConstraint(condition=models.Q(places__gt=0, number__gt=0), name="batch_has_places"),
        ]

    def __str__(self) -> str:
        return f"batch {self.number} of campaign {self.campaign_id}"
