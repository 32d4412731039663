"""Machines caught in people's places, over the false alarms that this costs."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.errors import InvalidInput
from analysis.figures.style import Observer
from analysis.figures.value import Axis, Figure, Line

_ROOM = 0.02


def catches_figure(
    lines: Sequence[tuple[Observer, Sequence[tuple[float, float]]]], *, title: str, notes: Sequence[str]
) -> Figure:
    """Shares caught over shares of false alarms, one line each.

    Parameters
    ----------
    lines : sequence of (Observer, sequence of (false alarms, caught))
    title : str
    notes : sequence of str

    Raises
    ------
    InvalidInput
        If there is no line.
    """
    if not lines:
        raise InvalidInput("A figure of catches needs at least one line.")
    most = max(alarms for _, points in lines for alarms, _ in points)
    told = (
        f"{observer.name}: " + ", ".join(f"{caught:.2f} at {alarms:g} false alarms" for alarms, caught in points)
        for observer, points in lines
    )
    return Figure(
        title=title,
        description="; ".join(told) + ".",
        x=Axis("false alarms (share of people)", (0.0, most * (1.0 + _ROOM))),
        y=Axis("caught (share of models)", (-_ROOM, 1.0 + _ROOM), (0.0, 0.25, 0.5, 0.75, 1.0)),
        traces=tuple(
            Line(observer, tuple(alarms for alarms, _ in points), tuple(caught for _, caught in points))
            for observer, points in lines
        ),
        notes=tuple(notes),
    )
