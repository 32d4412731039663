"""Which pictures are damaged, for the people who can restore them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Min, OuterRef, Q

from humanexp.participation.models import DamagedPicture, Session
from humanexp.studies.models import Study


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


def damaged_files(study: Study | None = None) -> list[DamagedFile]:
    """The earliest first; of one study, or of all."""
    rows = DamagedPicture.objects.filter(mended_at=None)
    if study is not None:
        # looked up picture by picture: they are few, and sessions are many
        rows = rows.filter(Exists(Session.objects.filter(pk=OuterRef("session"), study=study)))
        if not rows.exists():
            return []
    grouped = rows.order_by().values("stimulus__stimulus_set__name", "stimulus__key", "stimulus__file")
    found = [
        DamagedFile(
            stimulus_set=row["stimulus__stimulus_set__name"],
            stimulus=row["stimulus__key"],
            file=row["stimulus__file"],
            is_missing=bool(row["missing"]),
            since=row["since"],
            sessions=row["sessions"],
        )
        for row in grouped.annotate(
            missing=Count("pk", filter=Q(is_missing=True)),
            since=Min("found_at"),
            sessions=Count("session", distinct=True),
        )
    ]
    return sorted(found, key=lambda one: (one.since, one.stimulus))
