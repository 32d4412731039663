"""What monitors are told of sessions."""

from __future__ import annotations

from collections.abc import Iterator

from humanexp.core.metrics import Figure
from humanexp.participation.models import Session, SessionState


def figures() -> Iterator[Figure]:
    yield Figure(
        name="humanexp_sessions_open",
        about="Sessions that were begun and have not ended.",
        value=Session.objects.filter(state=SessionState.OPEN).count(),
    )
