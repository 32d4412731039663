"""What a site and the people of a study read of sessions: refused calls, damaged pictures, how many are open."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet

from humanexp.core.metrics import Figure
from humanexp.participation.models import DamagedPicture, RefusalReason, RefusedCall, Session, SessionState
from humanexp.studies.models import Study


@dataclass(frozen=True, kw_only=True)
class RefusedCalls:
    """Refusals of one kind, as far as they are kept."""

    reason: RefusalReason
    count: int
    sessions: int
    latest: datetime


def refused_calls(study: Study | None) -> list[RefusedCalls]:
    """What the participant API refused to the study's sessions; without a study, calls that belong to no session."""
    # looked up call by call: they are few, and sessions are many
    of_study = Exists(Session.objects.filter(pk=OuterRef("session"), study=study))
    kept = RefusedCall.objects.filter(of_study if study else Q(session=None))
    counted = kept.order_by().values_list("reason").annotate(Count("pk"), Count("session", distinct=True), Max("at"))
    return sorted(
        (
            RefusedCalls(reason=RefusalReason(reason), count=count, sessions=sessions, latest=latest)
            for reason, count, sessions, latest in counted
        ),
        key=lambda refused: (-refused.count, refused.reason),
    )


@dataclass(frozen=True, kw_only=True)
class DamagedFile:
    """A stimulus that is shown to nobody until its file is restored."""

    stimulus_set: str
    stimulus: str
    #: below MEDIA_ROOT
    file: str
    is_missing: bool
    since: datetime
    #: sessions that it has stopped
    sessions: int


def damaged_files() -> list[DamagedFile]:
    """Of all studies, the earliest first."""
    found = _damaged(DamagedPicture.objects.filter(mended_at=None))
    return sorted((one for _row, one in found), key=lambda one: (one.since, one.stimulus))


def damaged_files_of(studies: Collection[Study]) -> Mapping[int, list[DamagedFile]]:
    """By study, the earliest first."""
    # looked up picture by picture: they are few, and sessions are many
    of_studies = Exists(Session.objects.filter(pk=OuterRef("session"), study__in=studies))
    rows = DamagedPicture.objects.filter(of_studies, mended_at=None)
    if not rows.exists():
        return {}
    found: dict[int, list[DamagedFile]] = {}
    for row, one in sorted(_damaged(rows, "session__study"), key=lambda pair: (pair[1].since, pair[1].stimulus)):
        found.setdefault(row["session__study"], []).append(one)
    return found


def _damaged(rows: QuerySet[DamagedPicture], *also: str) -> Iterator[tuple[dict[str, Any], DamagedFile]]:
    grouped = rows.order_by().values("stimulus__stimulus_set__name", "stimulus__key", "stimulus__file", *also)
    for row in grouped.annotate(
        missing=Count("pk", filter=Q(is_missing=True)),
        since=Min("found_at"),
        sessions=Count("session", distinct=True),
    ):
        yield (
            row,
            DamagedFile(
                stimulus_set=row["stimulus__stimulus_set__name"],
                stimulus=row["stimulus__key"],
                file=row["stimulus__file"],
                is_missing=bool(row["missing"]),
                since=row["since"],
                sessions=row["sessions"],
            ),
        )


def figures() -> Iterator[Figure]:
    yield Figure(
        name="humanexp_sessions_open",
        about="Sessions that were begun and have not ended.",
        value=Session.objects.filter(state=SessionState.OPEN).count(),
    )
