"""Showing pictures: the bytes that were made, or none and an alarm; and which were given out."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import QuerySet

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import PictureDamaged
from humanexp.core.sqlite_write_lock import write_turn
from humanexp.participation.credentials import SessionClaim
from humanexp.participation.models import DamagedPicture, Session
from humanexp.participation.pictures import Picture, checked, stimulus_png
from humanexp.participation.session_cache import PlannedTrial
from humanexp.studies.models import Study

logger = logging.getLogger(__name__)


def show(*, claim: SessionClaim, trials: Sequence[PlannedTrial]) -> list[list[bytes]]:
    """The pictures of each trial, checked against what was made.

    Raises PictureDamaged where one of them is something else: it is noted, and its trial takes no answer until the file
    is restored.
    """
    return [[_show(claim, trial, picture) for picture in trial.pictures] for trial in trials]


def _show(claim: SessionClaim, trial: PlannedTrial, picture: Picture) -> bytes:
    try:
        return stimulus_png(picture)
    except PictureDamaged as error:
        _note(session_pk=claim.session_id, trial_pk=trial.pk, picture=picture, is_missing=error.is_missing)
        raise


@transaction.atomic
def _note(*, session_pk: int, trial_pk: int, picture: Picture, is_missing: bool) -> None:
    now = clock.now()
    is_known = DamagedPicture.objects.filter(stimulus=picture.pk, session__study__sessions=session_pk, mended_at=None)
    if not is_known.exists():
        slug = Study.objects.values_list("slug", flat=True).get(sessions=session_pk)
        kind = "missing" if is_missing else "changed"
        logger.error("picture %s of study %s is %s: it is shown to nobody", picture.file, slug, kind)
        record(action="picture-damaged", subject=f"stimulus:{picture.pk}", study=slug, file=picture.file, found=kind)
    DamagedPicture.objects.update_or_create(
        trial_id=trial_pk,
        defaults={
            "session_id": session_pk,
            "stimulus_id": picture.pk,
            "is_missing": is_missing,
            "found_at": now,
            "mended_at": None,
        },
    )


def not_shown(trial: PlannedTrial) -> QuerySet[DamagedPicture]:
    """Something where the trial's picture was refused to its session: it takes no answer."""
    return DamagedPicture.objects.filter(trial=trial.pk, mended_at=None).order_by()


def is_restored(trial: PlannedTrial) -> bool:
    """Whether the trial's picture was refused to its session, and is whole now; that ends the alarm of this session."""
    refused = not_shown(trial)
    if not refused.exists() or not all(_is_whole(picture) for picture in trial.pictures):
        return False
    refused.update(mended_at=clock.now())
    return True


def look_again() -> dict[str, int]:
    """Read the damaged pictures anew, and end the alarm of those that are whole again."""
    open_rows = DamagedPicture.objects.filter(mended_at=None)
    pictures = {
        Picture(*picture)
        for picture in open_rows.values_list("stimulus_id", "stimulus__file", "stimulus__sha256").distinct()
    }
    mended = [picture.pk for picture in pictures if _is_whole(picture)]
    open_rows.filter(stimulus__in=mended).update(mended_at=clock.now())
    return {"damaged": len(pictures) - len(mended), "mended": len(mended)}


def _is_whole(picture: Picture) -> bool:
    try:
        checked(picture)
    except PictureDamaged:
        return False
    return True


def note_fetched(*, claim: SessionClaim, positions: Iterable[int]) -> None:
    """The pictures of these trials go out now; asked for again, after a reload or in another tab, nothing is stored."""
    mine = Session.objects.filter(pk=claim.session_id).order_by()
    bits = sum(1 << position for position in set(positions))
    stored = mine.values_list("pictures_fetched", flat=True).first()
    known = _bits_of(stored)
    if known is None or known & bits == bits:
        return
    with write_turn():
        if mine.filter(pictures_fetched=stored).update(pictures_fetched=f"{known | bits:x}"):
            return
        # A page fetches in two calls at once: neither may undo what the other has noted.
        known = _bits_of(mine.select_for_update().values_list("pictures_fetched", flat=True).first())
        if known is not None:
            mine.update(pictures_fetched=f"{known | bits:x}")


def _bits_of(kept: str | None) -> int | None:
    """None: the session began before this was kept."""
    return None if kept is None else int(kept or "0", 16)
