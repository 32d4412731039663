"""One line for every session, a page at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.core.paginator import Page
from django.db.models import QuerySet

from humanexp.core.clock import Epoch
from humanexp.core.pages.rendering import KeyedPaginator
from humanexp.participation.models import Session
from humanexp.participation.pages.live.activity import Activity, seen_at, standing_case
from humanexp.participation.selectors.answers import answers_of
from humanexp.studies.models import Study

#: Sessions on a page.
ROWS = 50
#: When an answer came, in seconds, and whether its picture was shown as planned; None where nobody judged that.
Answer = tuple[float, bool | None]
#: A pause between two answers is activity up to this long: people look away, or rest between rounds.
LONGEST_PAUSE_S = 60.0


@dataclass(frozen=True, kw_only=True)
class SessionRow:
    participant: str
    session: str
    standing: Activity
    #: where it is, in words: kind of the present block, and its number among those of its kind
    kind: str
    number: int
    of: int
    #: trials behind it; of a session that ended early, those that were answered
    answered: int
    total: int
    #: what it ended with before the task: practice or qualification; else empty
    ended: str
    opened_at: datetime
    seen_at: datetime
    #: seconds between answers, long pauses cut; None before the second answer
    active_s: float | None
    #: share of judged trials whose timing was in order; None where none was judged
    timing_share: float | None

    @property
    def tone(self) -> str:
        return "plain" if self.ended else _TONES[self.standing]


_TONES = {Activity.UNDER_WAY: "", Activity.SILENT: "warn", Activity.FINISHED: "good", Activity.LEFT: "plain"}


def page_of(study: Study, *, shown: Activity | None, number: str, count: int) -> Page[SessionRow]:
    """Sessions, those heard of last first; `count`: how many are shown on all pages."""
    sessions = _sessions(study)
    if shown is not None:
        sessions = sessions.filter(standing=shown.value)
    # Ended sessions lie in this order in an index; the others are few. The database merges both, up to the page.
    ended, under_way = (sessions.filter(completed_at__isnull=has_none).order_by() for has_none in (False, True))
    keys = ended.values_list("pk", "seen_at").union(under_way.values_list("pk", "seen_at"), all=True)
    shown_of = ("code", "blocks", "cursor", "total", "opened_at", "participant__code", "practised", "qualified")
    ordered = sessions.select_related("participant").only(*shown_of).order_by("-seen_at", "-pk")
    page = KeyedPaginator(ordered, ROWS, count=count, keys=keys.order_by("-seen_at", "-pk")).get_page(number)
    page.object_list = _rows(list(page.object_list))
    return page


def _sessions(study: Study) -> QuerySet[Any]:
    return Session.objects.filter(study=study).annotate(seen_at=seen_at()).annotate(standing=standing_case())


def _rows(sessions: Collection[Any]) -> list[SessionRow]:
    answered = _answered([session.pk for session in sessions])
    return [_row(session, answered[session.pk]) for session in sessions]


def _row(session: Any, answers: Sequence[Answer]) -> SessionRow:
    block = next((block for block in session.blocks if session.cursor <= block["last"]), None)
    ended = ""
    if session.standing == Activity.FINISHED and session.qualified is False:
        ended = "practice" if session.practised is False else "qualification"
    kinds = [other["index"] for other in session.blocks if block and other["kind"] == block["kind"]]
    return SessionRow(
        participant=session.participant.code,
        session=session.code,
        standing=Activity(session.standing),
        kind=block["kind"] if block else "",
        number=kinds.index(block["index"]) + 1 if block else 0,
        of=len(kinds),
        answered=len(answers) if ended else session.cursor,
        total=session.total,
        ended=ended,
        opened_at=session.opened_at,
        seen_at=session.seen_at,
        active_s=_active_s([at_s for at_s, _timing_ok in answers]),
        timing_share=_timing_share([timing_ok for _at_s, timing_ok in answers if timing_ok is not None]),
    )


def _answered(pks: Collection[int]) -> Mapping[int, Sequence[Answer]]:
    """Of each of these sessions, in the order of its answers."""
    answers: defaultdict[int, list[Answer]] = defaultdict(list)
    stored = answers_of(pks).order_by("session_id", "position")
    for session, at_s, timing_ok in stored.values_list("session_id", Epoch("received_at"), "timing_ok"):
        answers[session].append((at_s, timing_ok))
    return answers


def _active_s(times_s: Sequence[float]) -> float | None:
    steps = [min(max(later - earlier, 0.0), LONGEST_PAUSE_S) for earlier, later in pairwise(times_s)]
    return sum(steps) if steps else None


def _timing_share(judged: Sequence[bool]) -> float | None:
    return sum(judged) / len(judged) if judged else None
