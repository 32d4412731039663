"""What the page measures and asks before practice and after the last trial, where the study wants it, and its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from analysis.study.protocol import ProtocolConfig
from analysis.study.setup import LONGER_WINDOW, SetUp as SetUpSettings
from analysis.tables.sessions import ITEMS
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, SessionClosed
from humanexp.participation.answering import check_lease
from humanexp.participation.models import ClosingAnswers, Session, SessionState, SetUp, counting
from humanexp.participation.sessions import SessionClaim, session_of
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


def closing_answers(study: Study) -> QuerySet[ClosingAnswers]:
    """Of every session that may count, the latest first; those who said nothing are left out."""
    said = ~Q(went_wrong="", problem="", comment="", device="")
    known = ClosingAnswers.objects.filter(counting("session"), said, session__study=study)
    return known.select_related("session__participant").order_by("-given_at", "-pk")


def closing_rows(study: Study) -> Iterator[dict[str, Any]]:
    """The columns of `analysis.tables.sessions.CLOSING`: texts only where a person cleared them."""
    for answers in closing_answers(study).order_by("session_id"):
        yield {
            "session": answers.session.code,
            "went_wrong": answers.went_wrong or None,
            "device": answers.device or None,
            "problem": (answers.problem if answers.problem_cleared_at else "") or None,
            "comment": (answers.comment if answers.comment_cleared_at else "") or None,
        }


#: Questions about sight and knowledge, and their answers.
REPORTED = ("sight", "colour_sight", "corruption_knowledge")
SAID = ("yes", "no", "undisclosed")


def set_up_rows(study: Study) -> Iterator[dict[str, Any]]:
    """The columns of `analysis.tables.sessions.SETUP`, of every session that may count; values are coarse."""
    sessions = Session.objects.filter(counting(), study=study).select_related("set_up").order_by("pk")
    for session in sessions:
        found = {name: one["value"] for name, one in _items_of(session).items()} | _self_report(session)
        for name, item in ITEMS.items():
            if name in found:
                yield {"session": session.code, "item": name, "how": item.how, "value": item.coarse(found[name])}


def longer_windows(study: Study) -> dict[str, int]:
    """The longer time for each answer, by the codes of sessions whose participants asked for one."""
    asked = SetUp.objects.filter(session__study=study).exclude(answer_window_ms=None)
    return {code: int(window_ms or 0) for code, window_ms in asked.values_list("session__code", "answer_window_ms")}


def _items_of(session: Session) -> dict[str, Any]:
    return session.set_up.items if hasattr(session, "set_up") else {}


def _self_report(session: Session) -> dict[str, str]:
    """Only the answers that the page offers: whatever else a browser sent goes into no export."""
    said = session.environment.get("self_report")
    if not isinstance(said, dict):
        return {}
    return {name: said[name] for name in REPORTED if said.get(name) in SAID}
