"""Small columns for the monitor page: geometry in the units of an SVG view box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from humanexp.recruitment.selectors.timeline import OpenedBin

WIDTH, HEIGHT, GAP = 640.0, 120.0, 3.0


@dataclass(frozen=True, kw_only=True)
class Column:
    x: float
    width: float
    opened_y: float
    opened_height: float
    completed_y: float
    completed_height: float
    start: datetime
    opened: int
    completed: int


@dataclass(frozen=True, kw_only=True)
class Columns:
    columns: tuple[Column, ...]
    most: int
    view_box: str = f"0 0 {WIDTH:g} {HEIGHT:g}"


def columns(bins: Sequence[OpenedBin]) -> Columns | None:
    """One column a bin: begun, and inside it finished. None when there is nothing to show."""
    most = max((max(b.opened, b.completed) for b in bins), default=0)
    if not most:
        return None
    width = WIDTH / len(bins)

    def height(count: int) -> float:
        return round(HEIGHT * count / most, 2)

    return Columns(
        most=most,
        columns=tuple(
            Column(
                x=round(number * width + GAP / 2, 2),
                width=round(width - GAP, 2),
                opened_y=HEIGHT - height(b.opened),
                opened_height=height(b.opened),
                completed_y=HEIGHT - height(b.completed),
                completed_height=height(b.completed),
                start=b.start,
                opened=b.opened,
                completed=b.completed,
            )
            for number, b in enumerate(bins)
        ),
    )
