"""Whoever recruited the person takes the work until a time: what still fits before it, by the server's clock."""

from __future__ import annotations

from datetime import timedelta
from math import ceil

from analysis.study.protocol import ProtocolConfig
from humanexp.core import clock
from humanexp.core.errors import NotFound
from humanexp.participation.models import Session
from humanexp.participation.services.setting_up import in_its_window
from humanexp.studies.estimated_duration import round_seconds

#: So long before it a round is over; the page waits for as much (static/js/participation/trial/deadline.js).
SPARE = timedelta(minutes=3)


def protocol_of(session: Session) -> ProtocolConfig:
    """The protocol as this person sees it."""
    protocol = session.study.protocol
    if protocol is None:
        raise NotFound
    return in_its_window(ProtocolConfig.from_dict(protocol.configuration), session)


def seconds_left(session: Session) -> int | None:
    """Rounded up: a page never takes a round for too long that is not; None where there is no such time."""
    return None if session.due_at is None else ceil((session.due_at - clock.now()).total_seconds())


def is_out_of_time(session: Session) -> bool:
    """Whether a round is left, and would not be over in time."""
    if session.due_at is None or session.cursor >= session.total:
        return False
    seconds = round_seconds(session.blocks, protocol_of(session), cursor=session.cursor)
    return clock.now() + timedelta(seconds=seconds) + SPARE > session.due_at
