"""Under which id people take part who come without one."""

from __future__ import annotations

import secrets

from django.db.models import QuerySet

from humanexp.core.fingerprints import pseudonym_key
from humanexp.core.keys import pseudonym
from humanexp.recruitment.models import VISITOR, Assignment, Campaign
from humanexp.recruitment.services.resuming import Proof, opened_by, session_behind


def visitor_id(*, campaign: Campaign, proof: Proof) -> str:
    """The id that a visitor without an id was given when they came first, or a new one."""
    if campaign.capabilities.vouches:
        return ""
    known, session = opened_by(campaign=campaign, opening=proof.opening), session_behind(proof.secret)
    if known is None and session is not None:
        known = _marked(campaign).filter(session=session).select_related("person").first()
    if known is not None and known.person is not None:
        return known.person.worker_id
    if known is not None or not proof.opening:
        return VISITOR + secrets.token_urlsafe(24)
    # A page that repeats its call before the first one is answered is the same visitor.
    return VISITOR + pseudonym(pseudonym_key(), "visitor", campaign.entry, proof.opening, prefix="V", length=24)


def _marked(campaign: Campaign) -> QuerySet[Assignment]:
    """By whose secrets a browser is known again: of volunteers, those of all studies of the family."""
    if not campaign.capabilities.is_public:
        return campaign.assignments_taken.all()
    return Assignment.objects.filter(environment=campaign.environment, campaign__study__family=campaign.study.family)
