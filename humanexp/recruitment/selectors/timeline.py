from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection

from humanexp.core import clock
from humanexp.participation.models import Session, SessionState, counting
from humanexp.studies.models import Study


@dataclass(frozen=True, kw_only=True)
class OpenedBin:
    """Sessions begun and finished in one stretch of time."""

    start: datetime
    opened: int
    completed: int


def sessions_over_time(study: Study, *, bins: int = 24) -> list[OpenedBin]:
    """Begun and finished sessions that count, in equal stretches, from the first one to now.

    Whoever recruits by name lists a session with its submission: from then on it stands here, where it began.
    """
    start = (
        Session.objects.filter(counting(), study=study)
        .order_by("opened_at")
        .values_list("opened_at", flat=True)
        .first()
    )
    if start is None:
        return []
    width = max((clock.now() - start) / bins, timedelta(minutes=1))
    starts = [start + number * width for number in range(bins)]
    opened, completed = (_counted(study, moment, starts) for moment in ("opened_at", "completed_at"))
    return [
        OpenedBin(start=start, opened=begun, completed=finished)
        for start, begun, finished in zip(starts, opened, completed, strict=True)
    ]


def _counted(study: Study, moment: str, starts: Sequence[datetime]) -> list[int]:
    """How many fall into each stretch; the first and the last one hold what lies beside.

    Stretch by stretch: an index counts each, and nothing is computed with moments. As a statement, because putting it
    together for each stretch would take several times what the database needs to answer.
    """
    table, column = Session._meta.db_table, connection.ops.quote_name(moment)
    statement = (
        f"SELECT COUNT(*) FROM {table} WHERE study_id = %s AND state <> %s AND is_verified = %s "  # noqa: S608  names
        f"AND {column} >= %s AND {column} < %s"
    )
    counts = []
    with connection.cursor() as cursor:
        for start, end in zip([_EARLIEST, *starts[1:]], [*starts[1:], _LATEST], strict=True):
            ends = [connection.ops.adapt_datetimefield_value(at) for at in (start, end)]
            cursor.execute(statement, [study.pk, SessionState.WITHDRAWN.value, True, *ends])
            counts.append(cursor.fetchone()[0])
    return counts


_EARLIEST, _LATEST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
