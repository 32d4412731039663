"""A question's answer, and the list of all questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from django.db.utils import DatabaseError

State = Literal["ok", "note", "fault", "missing"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    subject: str
    #: "note" is worth knowing; "fault" is wrong in the running of it; "missing" keeps the product from working at all
    state: State
    detail: str
    remedy: str = ""

    @property
    def is_red(self) -> bool:
        return self.state in ("fault", "missing")


Question = Callable[[], Finding]
QUESTIONS: list[tuple[str, Question]] = []


def question(subject: str) -> Callable[[Question], Question]:
    """Register a question about `subject`."""

    def register(ask: Question) -> Question:
        QUESTIONS.append((subject, ask))
        return ask

    return register


def examine() -> list[Finding]:
    """Every question's answer. A database that cannot be asked is told once, by its own question."""
    return [_answer(subject, ask) for subject, ask in QUESTIONS]


def _answer(subject: str, ask: Question) -> Finding:
    try:
        return ask()
    except DatabaseError:
        return Finding(subject=subject, state="note", detail="unknown: the database is not ready")
