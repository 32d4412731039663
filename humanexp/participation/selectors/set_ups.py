"""What is known of the places where participants sat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.tables.sessions import ITEMS
from humanexp.participation.models import Session, SetUp, counting
from humanexp.studies.models import Study

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
