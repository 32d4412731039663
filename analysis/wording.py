"""Numbers and names as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.figures.table import number_text


def with_interval(value: float, interval: Sequence[float] | None) -> str:
    ends = "" if interval is None else f" [{number_text(interval[0], 3)}, {number_text(interval[1], 3)}]"
    return number_text(value, 3) + ends


def range_of(values: Sequence[float], *, percent: bool = False) -> str:
    low, high = (f"{100 * one:.0f} %" if percent else f"{one:.2f}" for one in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def counted(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def listed(parts: Iterable[str]) -> str:
    return ", ".join(words(part) for part in parts)


def words(name: str) -> str:
    return name.replace("_", " ")


def quoted(name: str) -> str:
    """A name as it stands in a sentence: of several words in quotation marks."""
    return f"\u201c{name}\u201d" if " " in name else name


def joined(parts: Sequence[str]) -> str:
    """Join parts as in "a, b and c"."""
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part) if parts else ""
