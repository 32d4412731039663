from __future__ import annotations

from django.db import models

from humanexp.participation.models import EarlierCurves
from humanexp.recruitment.models.campaigns import Campaign


class VolunteerTerms(models.Model):
    """What volunteers of a campaign get to see. Written with the campaign, never changed."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="volunteer_terms")
    #: people's own curves appear next to these; none: by themselves
    compared_with = models.ForeignKey(
        EarlierCurves, null=True, blank=True, on_delete=models.PROTECT, related_name="promised_by"
    )

    def __str__(self) -> str:
        return f"terms for volunteers of campaign {self.campaign_id}"

    @classmethod
    def of(cls, campaign: Campaign) -> VolunteerTerms | None:
        """None of a campaign that is not public, and of a rehearsal."""
        if not campaign.pk or not campaign.capabilities.is_public:
            return None
        return cls.objects.filter(campaign=campaign).select_related("compared_with").first()
