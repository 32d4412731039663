"""What a figure draws, apart from how: to compare it with what page and paper show."""

from __future__ import annotations

import math

from analysis.figures.value import Band, Bars, Cells, Estimates, Figure, Line, Numbers, Points

#: Kind, name, x and ordinates.
Series = tuple[str, str, Numbers, tuple[Numbers, ...]]


def series_of(figure: Figure) -> list[Series]:
    """What is drawn: (kind, observer, x, ordinates), of the traces that are shown."""
    drawn: list[Series] = []
    for trace in figure.traces:
        match trace:
            case Line():
                drawn.append(("line", trace.observer.name, trace.x, (trace.y,)))
            case Band() if trace.shown:
                drawn.append(("band", trace.observer.name, trace.x, (trace.lower, trace.upper)))
            case Points():
                drawn.append(("points", trace.observer.name, trace.x, (trace.y,)))
            case Bars():
                drawn.append(("bars", trace.observer.name, trace.x, (trace.height,)))
            case Estimates():
                drawn.append(("estimates", trace.meaning, trace.rows, (trace.x,)))
            case Cells():
                filled = tuple(tuple(math.nan if v is None else v for v in row) for row in trace.values)
                drawn.append(("cells", trace.name, tuple(map(float, range(len(filled)))), filled))
    return drawn
