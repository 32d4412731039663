"""Places of campaigns: whoever recruits by name counts the submissions, a plain link its own people.

Anybody can begin under a made-up id: at a recruiter that takes no place, at a link it holds one for a few minutes.
"""

from __future__ import annotations

from django.db.models import QuerySet

from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import SessionState, Study
from humanexp.recruitment.models import Assignment, Campaign
from humanexp.recruitment.selectors.tally import Tally
from humanexp.recruitment.states import LISTED, AssignmentState, CampaignState


def taken_places(campaign: Campaign) -> QuerySet[Assignment]:
    """Assignments that take a place of the campaign for good, or for now."""
    if not campaign.is_link:
        return campaign.assignments_taken.filter(state__in=LISTED)
    begun = campaign.assignments_taken.exclude(state=AssignmentState.RETURNED)
    begun = begun.exclude(session__state=SessionState.WITHDRAWN)
    return begun.filter(experiments.is_at_work("session"))


def places_left(campaign: Campaign, tally: Tally | None = None) -> int:
    """`tally`: of a page that has made it already, where nothing is decided by the number."""
    if tally is None or campaign.is_link:
        return max(0, campaign.assignments - taken_places(campaign).count())
    taken = sum(row.count for row in tally.places if row.campaign == campaign.pk and row.state in LISTED)
    return max(0, campaign.assignments - taken)


def unaccepted_places(campaign: Campaign) -> int:
    """Places that nobody under way has accepted either: what is left for those of whom none invents an id."""
    if campaign.is_link:
        return places_left(campaign)
    held = campaign.assignments_taken.exclude(state=AssignmentState.RETURNED)
    return max(0, campaign.assignments - held.count())


def free_sessions(study: Study, tally: Tally | None = None) -> int:
    """Sessions of the plan that nobody keeps and no live campaign has promised. `tally`: as for `places_left`."""
    promising = study.campaigns.filter(state=CampaignState.LIVE, compensates=None)
    promised = sum(places_left(campaign, tally) for campaign in promising)
    return max(0, study.planned_sessions - experiments.kept_slots(study) - promised)
