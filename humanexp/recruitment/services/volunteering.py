"""What volunteers are promised: frozen with their campaign, and kept for each of them as it was then."""

from __future__ import annotations

from humanexp.core.models import User
from humanexp.participation import services as participation
from humanexp.participation.earlier_curves import freeze_earlier
from humanexp.participation.models import Session
from humanexp.recruitment.models import Campaign, VolunteerTerms


def freeze_promise(*, campaign: Campaign, compared_with: str, by: User | None) -> None:
    """Part of the transaction that launches it. `compared_with`: a study whose curves people see next to their own."""
    earlier = freeze_earlier(study=campaign.study, name=compared_with, by=by) if compared_with else None
    terms = VolunteerTerms(campaign=campaign, compared_with=earlier)
    terms.full_clean()
    terms.save()


def promise_curve(*, campaign: Campaign, session: Session) -> None:
    """Part of the transaction that opens the session."""
    terms = VolunteerTerms.of(campaign)
    if terms is not None:
        participation.promise_curve(session=session, compared_with=terms.compared_with)
