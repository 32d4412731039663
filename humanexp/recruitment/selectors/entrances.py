"""The paid qualification of a study family: whose pass opens it, and how many have passed."""

from __future__ import annotations

from dataclasses import dataclass

from humanexp.experiments.models import StudyFamily
from humanexp.recruitment.models import Campaign, GrantKind, Purpose, QualificationWrite
from humanexp.recruitment.states import CampaignState, WriteState


@dataclass(frozen=True, kw_only=True)
class Entrance:
    """What leads into a family at one recruiter."""

    #: paid qualifications there, the newest first
    campaigns: tuple[Campaign, ...]
    #: recruiters at which there are others: a pass there does not count here
    elsewhere: tuple[str, ...]
    #: people who hold the qualification, or will once it is sent
    passed: int

    @property
    def is_recruiting(self) -> bool:
        return any(campaign.state == CampaignState.LIVE for campaign in self.campaigns)


def entrance_of(family: StudyFamily, environment: str) -> Entrance:
    campaigns = list(Campaign.objects.filter(qualifies=family).select_related("study").order_by("-pk"))
    return Entrance(
        campaigns=tuple(found for found in campaigns if found.environment == environment),
        elsewhere=tuple(sorted({found.environment for found in campaigns} - {environment})),
        passed=_passed(family, environment),
    )


def _passed(family: StudyFamily, environment: str) -> int:
    grants = QualificationWrite.objects.filter(
        qualification__family=family, qualification__environment=environment, qualification__purpose=Purpose.PASSED
    )
    # the latest row of a person says how it stands
    rows = grants.exclude(state=WriteState.REFUSED).filter(person__isnull=False).order_by("pk")
    latest = dict(rows.values_list("person", "kind"))
    return sum(kind == GrantKind.GRANT for kind in latest.values())
