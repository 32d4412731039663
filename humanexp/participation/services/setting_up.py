"""What the page measures and asks before practice, where the study wants it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from analysis.study.protocol import ProtocolConfig
from analysis.study.setup import LONGER_WINDOW, SetUp as SetUpSettings
from analysis.tables.sessions import ITEMS
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, SessionClosed
from humanexp.participation.credentials import SessionClaim
from humanexp.participation.models import Session, SessionState, SetUp
from humanexp.participation.selectors.sessions import session_of
from humanexp.participation.services.answering import check_lease
from humanexp.studies.models import Study

#: Items that every study has.
_ALWAYS = ("window_px", "screen_px", "dpr", "zoom", "refresh_hz")
#: Items of the steps that a study can want.
_OF_STEP: Mapping[str, tuple[str, ...]] = {
    "size": ("px_per_mm",),
    "distance": ("px_per_mm", "distance_mm"),
    "greys": ("dark_steps", "bright_steps"),
}


def steps_of(study: Study) -> tuple[str, ...]:
    """Names of the steps of the set-up that the study wants."""
    return (*(("size",) if study.configuration.get("calibrate_size") else ()), *_wanted(study).steps)


def _wanted(study: Study) -> SetUpSettings:
    """Its settings alone: the page asks before every block, and the whole configuration takes longer to read."""
    return SetUpSettings.from_dict(study.configuration.get("setup") or {})


@transaction.atomic
def store_set_up(*, claim: SessionClaim, lease: str, given: Mapping[str, Any]) -> SetUp:
    """Keep what a set-up found, each item with how it is known. Whoever comes back on another screen is set up anew."""
    session = session_of(claim)
    check_lease(session, lease)
    if session.state != SessionState.OPEN or session.left_at is not None:
        raise SessionClosed
    items = items_of(session.study, {name: value for name, value in given.items() if name != LONGER_WINDOW})
    found: dict[str, Any] = {"items": items, "stored_at": clock.now()}
    if given.get(LONGER_WINDOW):
        found["answer_window_ms"] = _longer_window(session)
    return SetUp.objects.update_or_create(session=session, defaults=found)[0]


def _longer_window(session: Session) -> int:
    """The time that the study offers; from the first answer on it stays as it is."""
    offered = offered_window_ms(session.study)
    if offered is None:
        raise InvalidRequest("The study does not offer this.", fields={LONGER_WINDOW: "is not offered"})
    if session.cursor:
        known = SetUp.objects.filter(session=session).exclude(answer_window_ms=None).exists()
        if not known:
            raise InvalidRequest(
                "The time for each answer stays as it is once there are answers.", fields={LONGER_WINDOW: "is too late"}
            )
    return offered


def offered_window_ms(study: Study) -> int | None:
    """The longer time for each answer that participants can ask for; None where they cannot."""
    return _wanted(study).longer_window_ms or None


def in_its_window(protocol: ProtocolConfig, session: Session) -> ProtocolConfig:
    """The protocol with the time for each answer that this session has."""
    if offered_window_ms(session.study) is None:
        return protocol
    asked = SetUp.objects.filter(session=session.pk).exclude(answer_window_ms=None)
    window_ms = asked.values_list("answer_window_ms", flat=True).first()
    return protocol if window_ms is None else protocol.but(response_ms=window_ms)


def items_of(study: Study, given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The items as they are stored; refused where the study does not ask for one."""
    asked = {*_ALWAYS, *(item for step in steps_of(study) for item in _OF_STEP.get(step, (step,)))}
    for item in given:
        if item not in asked:
            raise InvalidRequest("The study does not ask this.", fields={item: "is not asked"})
    return {item: {"how": ITEMS[item].how, "value": value} for item, value in given.items() if value is not None}
