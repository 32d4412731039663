"""One line for every session, a page at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.paginator import Page
from django.db.models import Count, Q, QuerySet

from humanexp.core.paging import KeyedPaginator
from humanexp.experiments.live.steps import Standing, seen_at, standing_case
from humanexp.experiments.models import Session, Study
from humanexp.experiments.selectors import answers_of

#: Sessions on a page.
ROWS = 50
#: A pause between two answers is activity up to this long: people look away, or rest between rounds.
LONGEST_PAUSE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class Row:
    participant: str
    session: str
    standing: Standing
    #: where it is, in words: kind of the present block, and its number among those of its kind
    kind: str
    number: int
    of: int
    cursor: int
    total: int
    opened_at: datetime
    seen_at: datetime
    #: time between answers, long pauses cut; None before the second answer
    active: timedelta | None
    #: share of judged trials whose timing was in order; None where none was judged
    timing_share: float | None

    @property
    def tone(self) -> str:
        return _TONES[self.standing]


_TONES = {Standing.UNDER_WAY: "", Standing.SILENT: "warn", Standing.FINISHED: "good", Standing.LEFT: "plain"}


def page_of(study: Study, *, shown: Standing | None, number: str, count: int) -> Page[Row]:
    """Sessions, those heard of last first; `count`: how many are shown on all pages."""
    sessions = _sessions(study)
    if shown is not None:
        sessions = sessions.filter(standing=shown.value)
    # Ended sessions lie in this order in an index; the others are few. The database merges both, up to the page.
    ended, under_way = (sessions.filter(completed_at__isnull=has_none).order_by() for has_none in (False, True))
    keys = ended.values_list("pk", "seen_at").union(under_way.values_list("pk", "seen_at"), all=True)
    ordered = sessions.select_related("participant").order_by("-seen_at", "-pk")
    page = KeyedPaginator(ordered, ROWS, count=count, keys=keys.order_by("-seen_at", "-pk")).get_page(number)
    page.object_list = _rows(list(page.object_list))
    return page


def _sessions(study: Study) -> QuerySet[Any]:
    return Session.objects.filter(study=study).annotate(seen_at=seen_at()).annotate(standing=standing_case())


def _rows(sessions: Collection[Any]) -> list[Row]:
    pks = [session.pk for session in sessions]
    active, timing = _active(pks), _timing(pks)
    return [_row(session, active.get(session.pk), timing.get(session.pk)) for session in sessions]


def _row(session: Any, active: timedelta | None, timing_share: float | None) -> Row:
    block = next((block for block in session.blocks if session.cursor <= block["last"]), None)
    kinds = [other["index"] for other in session.blocks if block and other["kind"] == block["kind"]]
    return Row(
        participant=session.participant.code,
        session=session.code,
        standing=Standing(session.standing),
        kind=block["kind"] if block else "",
        number=kinds.index(block["index"]) + 1 if block else 0,
        of=len(kinds),
        cursor=session.cursor,
        total=session.total,
        opened_at=session.opened_at,
        seen_at=session.seen_at,
        active=active,
        timing_share=timing_share,
    )


def _active(pks: Iterable[int]) -> dict[int, timedelta]:
    times: defaultdict[int, list[datetime]] = defaultdict(list)
    stored = answers_of(pks).order_by("session_id", "position")
    for session, at in stored.values_list("session_id", "received_at"):
        times[session].append(at)
    return {
        session: sum(
            (
                min(max(later - earlier, timedelta()), LONGEST_PAUSE)
                for earlier, later in zip(known, known[1:], strict=False)
            ),
            timedelta(),
        )
        for session, known in times.items()
        if len(known) > 1
    }


def _timing(pks: Iterable[int]) -> dict[int, float]:
    judged = answers_of(pks).filter(timing_ok__isnull=False).order_by()
    counted = judged.values_list("session_id").annotate(ok=Count("pk", filter=Q(timing_ok=True)), judged=Count("pk"))
    return {session: ok / count for session, ok, count in counted}
