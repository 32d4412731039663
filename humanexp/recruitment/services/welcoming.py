"""Whether somebody may begin: the campaign is open, its approval is in force, and no list of ours is against it."""

from __future__ import annotations

from typing import NoReturn

from humanexp.core import clock
from humanexp.core.errors import AlreadyTookPart, InvalidRequest, StudyRefused
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Campaign, RecruitedPerson
from humanexp.recruitment.recruiters import kind_of
from humanexp.recruitment.services.turning_away import NotEligible, NotOpen, PlacesTaken
from humanexp.recruitment.states import CampaignState


def check_open(campaign: Campaign) -> None:
    if campaign.state == CampaignState.LIVE:
        if campaign.capabilities.vouches or selectors.places_left(campaign) > 0:
            return
        raise PlacesTaken
    # Who accepted a HIT before the stop may still do it.
    latest = campaign.stopped_at and campaign.stopped_at + campaign.assignment_duration
    if latest is not None and clock.now() <= latest and campaign.capabilities.vouches:
        return
    if not speaks_of_hits(campaign):
        raise NotOpen("This study has ended and takes no new participants. Thank you for your interest.")
    raise StudyRefused("This study has ended. If you hold a HIT of it, please return it; that does you no harm.")


def speaks_of_hits(campaign: Campaign) -> bool:
    """Whether its people know what a HIT is; others go back by the way out that their page offers."""
    return kind_of(campaign.environment).way == "hit"


def check_approval(campaign: Campaign) -> None:
    """Whoever is under way may finish; no one else starts without an approval in force."""
    if selectors.approval_of(campaign.study).is_in_force:
        return
    if not speaks_of_hits(campaign):
        raise NotOpen("This study is paused and takes no new participants at the moment. Nothing is stored.")
    raise StudyRefused(
        "This study is paused and takes no new participants at the moment. Nothing is stored. If you hold a HIT of it, "
        "please return it; that does you no harm."
    )


def check_welcome(campaign: Campaign, person: RecruitedPerson) -> None:
    """Lists of our own; what the recruiter asks for by itself it has seen to."""
    names = {person.worker_id, person.given_id} - {""}
    if any(selectors.is_excluded(person.family, environment=person.environment, worker_id=name) for name in names):
        if not speaks_of_hits(campaign):
            raise NotEligible
        raise AlreadyTookPart(
            "This study is not open to you. Please return the HIT if you hold one; that does you no harm."
        )


def refuse_another(campaign: Campaign) -> NoReturn:
    """This person has had all their sessions; whoever holds a HIT hears what to do with it."""
    if not speaks_of_hits(campaign):
        raise AlreadyTookPart
    raise AlreadyTookPart(
        "You have already taken part in this study. Please return this HIT: that does you no harm. Thank you."
    )


def check_first_time(campaign: Campaign, took_part: bool | None) -> None:
    """Nothing connects the ids of two recruiters: people are asked, before anything is stored.

    `took_part`: what they say of this and other recruiters; None where they have not answered.
    """
    if not selectors.asks_whether_repeated(campaign.study):
        return
    if took_part is None:
        raise InvalidRequest(
            "Say whether you have taken part in this study before. Nothing is stored yet.",
            fields={"tookPart": "This is required."},
        )
    if took_part:
        refuse_another(campaign)
