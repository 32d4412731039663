"""How many sessions one caller may open: a class behind one address passes, a script of made-up ids does not."""

from __future__ import annotations

from collections import OrderedDict
from math import ceil
from threading import Lock

from humanexp.core.errors import TooManyOpenings
from humanexp.core.limits import Allowance
from humanexp.experiments import selectors as experiments
from humanexp.recruitment.models import Campaign

#: New sessions of one caller in one campaign: two classes of thirty at once, then one every ten seconds.
OPENINGS = Allowance(per_s=0.1, burst=60)
#: Of a campaign's places, or of a class, whichever is more, so much may be held by sessions that one caller has begun
#: and not finished. Answers make no difference: a script gives them, too, and a place with an answer is held for good.
SHARE, CLASS = 0.5, 30
#: When to come again: some of these sessions will be finished by then, or have given up.
WAIT_S = 60.0
#: Callers that are remembered.
KEPT = 10_000


class _Begun:
    """Sessions by who opened them, in the memory of one process: nobody's address is kept with a session."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[tuple[str, int], set[int]] = OrderedDict()
        self._lock = Lock()

    def of(self, caller: str, campaign: Campaign) -> set[int]:
        with self._lock:
            return set(self._sessions.get((caller, campaign.pk), ()))

    def keep(self, caller: str, campaign: Campaign, sessions: set[int]) -> None:
        with self._lock:
            self._sessions[caller, campaign.pk] = sessions
            self._sessions.move_to_end((caller, campaign.pk))

    def add(self, caller: str, campaign: Campaign, session: int) -> None:
        with self._lock:
            self._sessions.setdefault((caller, campaign.pk), set()).add(session)
            self._sessions.move_to_end((caller, campaign.pk))
            while len(self._sessions) > KEPT:
                self._sessions.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._sessions.clear()


BEGUN = _Begun()


def check_opening(*, campaign: Campaign, caller: str) -> None:
    """Refuse a caller who opens more sessions than people sit there. Going on with one is no opening."""
    wait_s = OPENINGS.spend((caller, campaign.pk))
    if wait_s:
        raise TooManyOpenings(retry_after_s=wait_s)
    begun = BEGUN.of(caller, campaign)
    # Who is recruited by name takes no place before the recruiter lists them.
    if not campaign.is_link or len(begun) < CLASS:
        return
    under_way = set(experiments.under_way(begun).values_list("pk", flat=True))
    BEGUN.keep(caller, campaign, under_way)
    if len(under_way) >= max(CLASS, ceil(SHARE * campaign.assignments)):
        raise TooManyOpenings(retry_after_s=WAIT_S)
