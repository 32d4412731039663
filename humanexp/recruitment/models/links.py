from __future__ import annotations

from collections.abc import Mapping

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from humanexp.recruitment.models.campaigns import Campaign
from humanexp.recruitment.recruiters.registry import kind_of


class SitePay(models.TextChoices):
    """What people get from the site that sends them."""

    MONEY = "money", _("money")
    CREDIT = "credit", _("credit")
    NONE = "none", _("nothing")


class LinkTerms(models.Model):
    """From which site people come, by a link or by its API, and how they go back. Written with the campaign."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="link_terms")
    preset = models.CharField(max_length=20)
    #: names under which ids arrive; empty: none does
    person_parameter = models.CharField(max_length=40)
    submission_parameter = models.CharField(max_length=40, blank=True)
    offer_parameter = models.CharField(max_length=40, blank=True)
    return_address = models.CharField(max_length=500, blank=True)
    pay = models.CharField(max_length=10, choices=SitePay.choices, default=SitePay.MONEY)
    #: for credit: what people can do instead for the same
    alternative = models.TextField(max_length=500, blank=True)
    #: what the site pays one person, in the smallest unit of the currency, where that was said
    reward = models.PositiveIntegerField(null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True)

    def __str__(self) -> str:
        return f"{self.preset} of campaign {self.campaign_id}"

    @classmethod
    def of(cls, campaign: Campaign) -> LinkTerms | None:
        """None where no site has sent them: a link that anybody may hand out, a rehearsal, a recruiter's own form."""
        is_none = campaign.capabilities.vouches and not kind_of(campaign.environment).preset
        return None if is_none or not campaign.pk else cls.objects.filter(campaign=campaign).first()

    @property
    def parameters(self) -> Mapping[str, str]:
        """Names by what they name."""
        return {
            "person": self.person_parameter,
            "submission": self.submission_parameter,
            "offer": self.offer_parameter,
        }


class OutcomeCode(models.Model):
    """With which code people of one outcome go back, and what follows from it there."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="outcome_codes")
    outcome = models.CharField(max_length=24)
    #: empty: the site has none for this outcome
    code = models.CharField(max_length=40, blank=True)
    action = models.CharField(max_length=10)
    paid = models.CharField(max_length=10)
    #: how often somebody without a session was sent back so; nothing else is kept of them
    turned_away = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "outcome"], name="outcome_code_once"),
            models.UniqueConstraint(fields=["campaign", "code"], condition=~Q(code=""), name="outcome_code_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} of campaign {self.campaign_id}"
