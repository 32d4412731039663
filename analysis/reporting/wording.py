"""Numbers and names as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def with_interval(value: float, interval: Sequence[float] | None) -> str:
    return f"{value:.3f}" if interval is None else f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


def range_of(values: Sequence[float], *, percent: bool = False) -> str:
    low, high = (f"{100 * one:.0f} %" if percent else f"{one:.2f}" for one in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def counted(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def listed(parts: Iterable[str]) -> str:
    return ", ".join(words(part) for part in parts)


def words(name: str) -> str:
    return name.replace("_", " ")
