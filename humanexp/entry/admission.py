"""Whether somebody may begin, and how people leave.

The campaign is open, its approval is in force, no list is against it, and the caller has opened few sessions. Whoever
may not begin goes back to where they came from; only a number is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import numpy as np
from django.db import transaction

from humanexp.common_memory import MEMORY, ROWS, ROWS_AT
from humanexp.core import clock
from humanexp.core.errors import (
    AlreadyTookPart,
    ApplicationError,
    Conflict,
    InvalidRequest,
    StudyRefused,
    TokenRefused,
    TooManyCalls,
    TooManyOpenings,
)
from humanexp.core.limits import SharedAllowance
from humanexp.ledger.payments import places_left
from humanexp.participation import sessions
from humanexp.participation.sessions import session_for_token
from humanexp.recruiters.campaigns import asks_whether_repeated, outcome_of, ticket_behind
from humanexp.recruiters.models import Campaign, RecruitedPerson
from humanexp.recruiters.people import is_excluded
from humanexp.recruiters.presets import SiteTerms
from humanexp.recruiters.states import AssignmentState, CampaignState
from humanexp.recruiters.tickets import WORKED, Late, Outcome, Ticket, WayOut
from humanexp.recruiting.approvals import approval_of
from humanexp.recruiting.attendance import assignment_behind, refuse_another, speaks_of_hits


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


@transaction.atomic
def turn_away(*, campaign: Campaign, terms: SiteTerms, outcome: Outcome, ticket: Ticket) -> WayOut:
    """The way back of somebody whom the study refuses, or who does not want to take part; counted, and no more."""
    found = Campaign.objects.select_for_update().get(pk=campaign.pk)
    found.turned_away[outcome] = found.turned_away.get(outcome, 0) + 1
    found.save(update_fields=["turned_away"])
    return terms.way_out(outcome, ticket)


def decline(*, campaign: Campaign, outcome: Outcome, ticket: Ticket, caller: str) -> WayOut:
    """The way back of somebody who says that they do not take part, or cannot."""
    terms = campaign.site
    is_closed = campaign.state != CampaignState.LIVE or not approval_of(campaign.study).is_in_force
    is_told = outcome in _SAID or (outcome == Outcome.CLOSED and is_closed)
    if terms is None or not (is_told or (outcome == Outcome.FULL and places_left(campaign) == 0)):
        raise Conflict("There is no way back of this kind here.")
    wait_s = _DECLINING.spend((caller, campaign.pk))
    if wait_s:
        raise TooManyCalls(retry_after_s=wait_s)
    return turn_away(campaign=campaign, terms=terms, outcome=outcome, ticket=ticket)


#: New sessions of one caller in one campaign: two classes of thirty at once, then one every ten seconds.
OPENINGS = SharedAllowance("openings", per_s=0.1, burst=60)
#: So much of what is free, and at least a household, may be held by sessions that one caller has begun and not
#: finished. Answers make no difference: a script gives them, too, and a place with an answer is held for good.
SHARE, HOUSEHOLD = 3, 3
#: Of a campaign that was launched for a class or a lab, so many, and half of what is free.
CLASS = 30
#: When to come again: some of these sessions will be finished by then, or have given up.
WAIT_S = 60.0


class _Begun:
    """Sessions by who opened them, in the memory of the web processes: nobody's address is kept with a session.

    Each session has a row of its own, so that no two processes write the same; far newer ones take its place.
    """

    def __init__(self) -> None:
        self._rows = np.frombuffer(MEMORY, dtype=np.uint64, count=2 * ROWS, offset=ROWS_AT).reshape(ROWS, 2)

    def of(self, caller: str, campaign: Campaign) -> set[int]:
        return {int(session) for session in self._rows[self._rows[:, 0] == _key(caller, campaign), 1]}

    def add(self, caller: str, campaign: Campaign, session: int) -> None:
        self._rows[session % ROWS] = (_key(caller, campaign), session)

    def forget(self, sessions: Iterable[int]) -> None:
        for session in sessions:
            row = self._rows[session % ROWS]
            if row[1] == session:
                row[:] = 0

    def clear(self) -> None:
        self._rows[:] = 0


def _key(caller: str, campaign: Campaign) -> np.uint64:
    digest = sha256(f"{caller} {campaign.pk}".encode()).digest()
    return np.uint64(int.from_bytes(digest[:8], "big") | 1)  # an empty row is 0


BEGUN = _Begun()


def check_opening(*, campaign: Campaign, caller: str) -> None:
    """Refuse a caller who opens more sessions than people sit there. Going on with one is no opening."""
    wait_s = OPENINGS.spend((caller, campaign.pk))
    if wait_s:
        raise TooManyOpenings(retry_after_s=wait_s)
    begun = BEGUN.of(caller, campaign)
    least = CLASS if campaign.shared_computers else HOUSEHOLD
    # Who is recruited by name takes no place before the recruiter lists them.
    if campaign.capabilities.vouches or len(begun) < least:
        return
    under_way = set(sessions.under_way(begun).values_list("pk", flat=True))
    BEGUN.forget(begun - under_way)
    # without this caller's sessions, and the one that is about to begin
    free = places_left(campaign) + len(under_way) + 1
    if len(under_way) >= max(least, free // (2 if campaign.shared_computers else SHARE)):
        raise TooManyOpenings(retry_after_s=WAIT_S)


def closes_here(campaign: Campaign) -> bool:
    """Whoever has finished has submitted: no recruiter lists them, and a campaign that is stopped takes nobody."""
    return not campaign.capabilities.vouches


def is_over(campaign: Campaign) -> bool:
    """Nobody can begin any more; who has a place with a recruiter may."""
    return closes_here(campaign) and campaign.state != CampaignState.LIVE


def is_full(campaign: Campaign) -> bool:
    """No place is free; of those whom a recruiter names, it counts the places."""
    return closes_here(campaign) and not is_over(campaign) and bool(campaign.pk) and places_left(campaign) == 0


def check_open(campaign: Campaign) -> None:
    if campaign.state == CampaignState.LIVE:
        if campaign.capabilities.vouches or places_left(campaign) > 0:
            return
        raise PlacesTaken
    # Who accepted a HIT before the stop may still do it.
    latest = campaign.stopped_at and campaign.stopped_at + campaign.assignment_duration
    if latest is not None and clock.now() <= latest and campaign.capabilities.vouches:
        return
    if not speaks_of_hits(campaign):
        raise NotOpen("This study has ended and takes no new participants. Thank you for your interest.")
    raise StudyRefused("This study has ended. If you hold a HIT of it, please return it; that does you no harm.")


def check_approval(campaign: Campaign) -> None:
    """Whoever is under way may finish; no one else starts without an approval in force."""
    if approval_of(campaign.study).is_in_force:
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
    if any(is_excluded(person.family, environment=person.environment, worker_id=name) for name in names):
        if not speaks_of_hits(campaign):
            raise NotEligible
        raise AlreadyTookPart(
            "This study is not open to you. Please return the HIT if you hold one; that does you no harm."
        )


def check_first_time(campaign: Campaign, took_part: bool | None) -> None:
    """Nothing connects the ids of two recruiters: people are asked, before anything is stored.

    `took_part`: what they say of this and other recruiters; None where they have not answered.
    """
    if not asks_whether_repeated(campaign.study):
        return
    if took_part is None:
        raise InvalidRequest(
            "Say whether you have taken part in this study before. Nothing is stored yet.",
            fields={"tookPart": "This is required."},
        )
    if took_part:
        refuse_another(campaign)


def way_out_of(*, campaign: Campaign, token: str) -> tuple[Outcome, WayOut] | None:
    """How the person behind a session goes back, once it has ended; nothing before."""
    session = session_for_token(token)
    if session.study_id != campaign.study_id:
        raise TokenRefused(reason="foreign", session_id=session.pk)
    assignment = assignment_behind(session)
    terms, outcome = campaign.site, outcome_of(session)
    if assignment is None or assignment.campaign_id != campaign.pk or terms is None or outcome is None:
        return None
    if assignment.state == AssignmentState.TIMED_OUT and outcome in WORKED:
        return outcome, Late()
    return outcome, terms.way_out(outcome, ticket_behind(assignment))
