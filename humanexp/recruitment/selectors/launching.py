"""What a launch starts from: the study's own terms, or what follows from its length and from the people before."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db.models import QuerySet

from analysis.spec import Link
from humanexp.recruitment import recruiters
from humanexp.recruitment.facts import advertisement
from humanexp.recruitment.models import Hit
from humanexp.recruitment.selectors.campaigns import estimated_minutes
from humanexp.recruitment.selectors.pilot import pilot_of, planned_hourly_cents, planned_pilot
from humanexp.recruitment.selectors.state_counts import Tally, free_sessions
from humanexp.studies.models import Study


@dataclass(frozen=True, kw_only=True)
class SuggestedTerms:
    """What a launch starts from; everything can be changed on the page."""

    title: str
    description: str
    keywords: str
    estimated_minutes: int
    reward_cents: int
    assignments: int
    #: sessions of the plan that are free: as many as may be offered
    free_sessions: int
    #: whom a participant can write to
    contact: str
    #: of a link: which site sends the people
    link: Link


#: Offers that a form lists, newest first.
MOST_OFFERS = 200


def offers_that_choose_people(studies: QuerySet[Study]) -> list[Hit]:
    """Of these studies, published where a launch can be open to those alone who began an earlier one, or did not."""
    at_these = Hit.objects.filter(recruiters.at(knows_people=True), campaign__study__in=studies).exclude(hit_id="")
    return list(at_these.select_related("campaign").order_by("-pk")[:MOST_OFFERS])


def suggested_terms(study: Study, tally: Tally | None = None) -> SuggestedTerms:
    """From the study's own `[recruitment]` table where it has one, else from the people before, else from its length.

    `tally`: as for `free_sessions`.
    """
    stated = study.configuration.get("recruitment") or {}
    minutes = int(stated.get("estimated_minutes") or estimated_minutes(study))
    free = free_sessions(study, tally)
    reward_cents = stated.get("reward_cents")
    if reward_cents is None:
        reward_cents = pilot_of(study).reward_cents
    if reward_cents is None:
        reward_cents = round(planned_hourly_cents(study) * minutes / 60 / 5) * 5
    places = int(stated.get("assignments") or free)
    most = planned_pilot(study)
    return SuggestedTerms(
        title=str(stated.get("title") or study.title)[:128],
        description=str(stated.get("description") or advertisement(study)),
        keywords=str(stated.get("keywords") or "research, psychology, vision, pictures, perception"),
        estimated_minutes=minutes,
        reward_cents=int(reward_cents),
        assignments=min(places, free, places if most is None else most),
        free_sessions=free,
        contact=str(stated.get("contact") or settings.CONTACT)[:200],
        link=Link.from_dict(stated.get("link") or {}),
    )
