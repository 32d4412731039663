"""Answers over visual change as bars, wherever a study's progress is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from humanexp.experiments.answer_counts import BinCount


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Answers in one bin of visual change, all corruptions together, and where its rectangle is in a 0-100 box."""

    low: float
    high: float
    planned: int
    answered: int
    x: float
    width: float
    planned_height: float
    answered_height: float

    @property
    def planned_y(self) -> float:
        return 100 - self.planned_height

    @property
    def answered_y(self) -> float:
        return 100 - self.answered_height


def bars(bins: Iterable[BinCount]) -> list[Bar]:
    """One bar a bin, summed over corruptions; the tallest is as high as the box."""
    planned: Counter[tuple[float, float]] = Counter()
    answered: Counter[tuple[float, float]] = Counter()
    for found in bins:
        planned[found.low, found.high] += found.planned
        answered[found.low, found.high] += found.answered
    tallest = max([*planned.values(), *answered.values(), 1])
    return [
        Bar(
            low=low,
            high=high,
            planned=planned[low, high],
            answered=answered[low, high],
            x=100 * low + 0.5,
            width=100 * (high - low) - 1,
            planned_height=100 * planned[low, high] / tallest,
            answered_height=100 * answered[low, high] / tallest,
        )
        for low, high in sorted(planned)
    ]
