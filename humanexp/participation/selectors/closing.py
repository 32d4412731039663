"""What participants said at the end. Who took their answers back has taken back this, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Q, QuerySet

from humanexp.participation.models import ClosingAnswers, counting
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
