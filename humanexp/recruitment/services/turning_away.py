"""Somebody goes back to where they came from without a session: only a number is kept."""

from __future__ import annotations

from django.db.models import F

from humanexp.core.errors import AlreadyTookPart, ApplicationError, Conflict, StudyRefused, TooManyCalls
from humanexp.core.limits import SharedAllowance
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Campaign, LinkTerms
from humanexp.recruitment.recruiters.tickets import Outcome, Ticket, WayOut
from humanexp.recruitment.states import CampaignState


class PlacesTaken(StudyRefused):
    """All places in this study are taken. Thank you for your interest."""


class NotOpen(StudyRefused):
    """This study takes no new participants."""


class NotEligible(AlreadyTookPart):
    """This study is not open to you. Thank you for your interest."""


class TooYoung(StudyRefused):
    """You are too young to take part in this study. Nothing is stored. Thank you for your interest."""


_OUTCOMES: tuple[tuple[type[ApplicationError], Outcome], ...] = (
    (PlacesTaken, Outcome.FULL),
    (NotOpen, Outcome.CLOSED),
    (NotEligible, Outcome.INELIGIBLE),
    (TooYoung, Outcome.INELIGIBLE),
    (AlreadyTookPart, Outcome.ALREADY_TOOK_PART),
)
#: What people say of themselves before anything is stored. Nothing is looked up: whoever asks under the id of another
#: person does not learn whether they took part.
_SAID = (Outcome.NO_CONSENT, Outcome.WRONG_DEVICE, Outcome.INELIGIBLE, Outcome.ALREADY_TOOK_PART)
#: A class that stands before the wrong device at once, and then one every ten seconds.
_DECLINING = SharedAllowance("declining", per_s=0.1, burst=60)


def outcome_of_refusal(error: ApplicationError) -> Outcome | None:
    """Where a refusal to open a session leads back to; None where the person may try again."""
    return next((outcome for kind, outcome in _OUTCOMES if isinstance(error, kind)), None)


def turn_away(*, terms: LinkTerms, outcome: Outcome, ticket: Ticket) -> WayOut:
    """The way back of somebody whom the study refuses, or who does not want to take part; counted, and no more."""
    terms.campaign.outcome_codes.filter(outcome=outcome).update(turned_away=F("turned_away") + 1)
    return selectors.way_out(terms, outcome, ticket)


def decline(*, campaign: Campaign, outcome: Outcome, ticket: Ticket, caller: str) -> WayOut:
    """The way back of somebody who says that they do not take part, or cannot."""
    terms = LinkTerms.of(campaign)
    is_closed = campaign.state != CampaignState.LIVE or not selectors.approval_of(campaign.study).is_in_force
    is_told = outcome in _SAID or (outcome == Outcome.CLOSED and is_closed)
    if terms is None or not (is_told or (outcome == Outcome.FULL and selectors.places_left(campaign) == 0)):
        raise Conflict("There is no way back of this kind here.")
    wait_s = _DECLINING.spend((caller, campaign.pk))
    if wait_s:
        raise TooManyCalls(retry_after_s=wait_s)
    return turn_away(terms=terms, outcome=outcome, ticket=ticket)
