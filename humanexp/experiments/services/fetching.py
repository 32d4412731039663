"""Which pictures were given out: evidence, for whoever never looked."""

from __future__ import annotations

from collections.abc import Iterable

from humanexp.core.writing import write_turn
from humanexp.experiments.credentials import SessionClaim
from humanexp.experiments.models import Session


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
