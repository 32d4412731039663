"""Models over people's own accuracy: what is hard for people instead of how much a picture is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.errors import InvalidInput
from analysis.figures.style import Observer
from analysis.figures.value import Axis, Figure, Line, Points, Trace

_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: From 0 to 1, and room for a dot on either of them.
_ROOM = 0.03


@dataclass(frozen=True, kw_only=True)
class PlottedDifficulty:
    """A model where people are right so often: a share, the model's difference from it with its interval, answers."""

    people: float
    difference: float
    interval: tuple[float, float]
    n: int


def difficulty_figure(
    models: Sequence[tuple[Observer, Sequence[PlottedDifficulty]]],
    *,
    people: Observer,
    title: str,
    notes: Sequence[str],
) -> Figure:
    """Each model's accuracy over people's, the hardest pictures to the right as over visual change; people are the
    diagonal.

    Parameters
    ----------
    models : sequence of (Observer, sequence of PlottedDifficulty)
    people : Observer
    title : str
    notes : sequence of str

    Raises
    ------
    InvalidInput
        If there is no model.
    """
    if not models:
        raise InvalidInput("A figure of difficulty needs at least one model.")
    traces: list[Trace] = [Line(people, (1.0, 0.0), (1.0, 0.0))]
    for observer, places in models:
        ordered = sorted(places, key=lambda place: -place.people)
        traces.append(
            Points(
                observer,
                tuple(place.people for place in ordered),
                tuple(place.people + place.difference for place in ordered),
                tuple(place.n for place in ordered),
                joined=True,
                intervals=tuple(
                    (max(place.people + place.interval[0], 0.0), min(place.people + place.interval[1], 1.0))
                    for place in ordered
                ),
            )
        )
    told = (
        f"{observer.name}: "
        + ", ".join(
            f"{place.people + place.difference:.2f} where people are right in {place.people:.2f}" for place in own
        )
        for observer, own in models
    )
    return Figure(
        title=title,
        description="; ".join(told) + ".",
        x=Axis("people’s accuracy (harder to the right)", (1.0 + _ROOM, -_ROOM), _TICKS),
        y=Axis("accuracy on the same pictures", (-_ROOM, 1.0 + _ROOM), _TICKS),
        traces=tuple(traces),
        notes=tuple(notes),
    )
