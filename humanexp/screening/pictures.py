"""Small pictures of one session beside its verdict: sentinels, timing, the shape of the answers.

They show what rules may read, and nothing else: a session is never judged by the outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from analysis.acceptance import SessionRecord
from analysis.categories import NO_ANSWER, RESPONSE_GRID

GOOD, BAD, PLAIN, ACCENT = "#17693f", "#a4221b", "#b4bec8", "#0b5cad"
#: Height of a picture, in its own units; columns are one unit wide.
HEIGHT = 10.0
_SENTINELS = ("qualification", "gold", "negative")


@dataclass(frozen=True)
class Column:
    x: int
    y: float
    height: float
    fill: str
    title: str


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Columns side by side, and what they say in numbers."""

    columns: tuple[Column, ...]
    good: int
    of: int

    @property
    def width(self) -> int:
        return max(1, len(self.columns))


@dataclass(frozen=True, kw_only=True)
class Portrait:
    """A session at a glance."""

    sentinels: Picture
    timing: Picture
    shape: Picture
    #: over the trials whose times the rules may read
    median_rt_ms: float | None


def portrait_of(rows: Sequence[Mapping[str, Any]], *, withdrawn: Collection[str] = ()) -> Portrait:
    """From the stored answers of one session."""
    record = SessionRecord.from_rows(rows, withdrawn=withdrawn)
    times = [trial.rt_ms for trial in record.trials if trial.rt_ms is not None and trial.role != "practice"]
    return Portrait(
        sentinels=sentinels(record),
        timing=timing(record),
        shape=shape(record),
        median_rt_ms=median(times) if times else None,
    )


def sentinels(record: SessionRecord) -> Picture:
    """Every sentinel with a known answer, in order: low and green when right, tall and red when wrong."""
    trials = [trial for trial in record.trials if trial.role in _SENTINELS and trial.correct is not None]
    columns = (
        _column(x, 0.6 if trial.correct else 1.0, GOOD if trial.correct else BAD, f"{trial.position + 1}: {trial.role}")
        for x, trial in enumerate(trials)
    )
    return Picture(columns=tuple(columns), good=sum(bool(trial.correct) for trial in trials), of=len(trials))


def timing(record: SessionRecord) -> Picture:
    """Every trial whose timing is known: low in order, tall when it was shown otherwise than planned."""
    trials = [trial for trial in record.trials if trial.timing_ok is not None]
    columns = (
        _column(x, 0.4 if trial.timing_ok else 1.0, PLAIN if trial.timing_ok else BAD, f"{trial.position + 1}")
        for x, trial in enumerate(trials)
    )
    return Picture(columns=tuple(columns), good=sum(bool(trial.timing_ok) for trial in trials), of=len(trials))


def shape(record: SessionRecord) -> Picture:
    """How often each category was answered to pictures that show plainly what they are; `good` is the most frequent."""
    answers = Counter(trial.response for trial in record.shape_trials())
    total = sum(answers.values())
    if not total:
        return Picture(columns=(), good=0, of=0)
    most = max(answers.values())
    columns = (
        _column(x, answers[choice] / most, ACCENT if choice != NO_ANSWER else BAD, f"{choice}: {answers[choice]}")
        for x, choice in enumerate((*RESPONSE_GRID, NO_ANSWER))
    )
    return Picture(columns=tuple(columns), good=most, of=total)


def _column(x: int, share: float, fill: str, title: str) -> Column:
    height = round(HEIGHT * share, 2)
    return Column(x, HEIGHT - height, height, fill, title)
