"""A study as the public page describes it."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from humanexp.recruitment import selectors
from humanexp.recruitment.consent import ethics_of
from humanexp.recruitment.facts import facts_of
from humanexp.recruitment.models import Campaign
from humanexp.studies.facts import StudyFacts
from humanexp.studies.languages import language_of_study


@dataclass(frozen=True, kw_only=True)
class OpenStudy:
    """What anybody may know of it before they decide to read on."""

    entry: str
    title: str
    description: str
    #: of title and description
    language: str
    facts: StudyFacts
    minimum_age: int
    #: together with a parent or guardian
    takes_minors: bool
    #: somebody who comes now could begin
    is_open: bool


def open_study(campaign: Campaign) -> OpenStudy:
    ethics = ethics_of(campaign.study)
    return OpenStudy(
        entry=campaign.entry,
        title=campaign.title,
        description=campaign.description,
        language=language_of_study(campaign.study),
        facts=facts_of(campaign, minutes=selectors.minutes_told(campaign)),
        minimum_age=ethics.minimum_age,
        takes_minors=ethics.guardian_consent,
        is_open=selectors.takes_people(campaign),
    )


def public_url(campaign: Campaign) -> str:
    """The study's own page, as people outside know it."""
    path = reverse("recruitment:volunteer-study", args=[campaign.entry])
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}"


def promised_next_to(campaign: Campaign) -> str:
    """Title of the study whose curves its people see next to their own; empty where they see none."""
    facts = facts_of(campaign)
    return facts.shown_next_to if facts.shows_curve else ""
