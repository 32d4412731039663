"""What was measured and asked before practice, and after the last trial."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Q, QuerySet

from analysis.tables.sessions import ITEMS
from humanexp.participation.models import ClosingAnswers, Session, SetUp, counting
from humanexp.studies.models import Study


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
