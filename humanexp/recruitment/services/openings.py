"""How many sessions one caller may open: a class that was announced passes, a script of made-up ids does not."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import numpy as np

from humanexp.common_memory import MEMORY, ROWS, ROWS_AT
from humanexp.core.errors import TooManyOpenings
from humanexp.core.limits import SharedAllowance
from humanexp.participation import selectors as participation
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Campaign

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
    under_way = set(participation.under_way(begun).values_list("pk", flat=True))
    BEGUN.forget(begun - under_way)
    # without this caller's sessions, and the one that is about to begin
    free = selectors.places_left(campaign) + len(under_way) + 1
    if len(under_way) >= max(least, free // (2 if campaign.shared_computers else SHARE)):
        raise TooManyOpenings(retry_after_s=WAIT_S)
