"""Words at a level are where nothing is drawn, and a sheet names its axes and its level once."""

from __future__ import annotations

import pytest

from analysis.figures.drawing import draw
from analysis.figures.paper import draw_sheet
from analysis.figures.value import Axis, Figure, Line, Mark, Observer, Points

NET = Observer("net", "classifier")
LEVEL = 0.5


def figure(*traces: Line | Points, measure: str = "accuracy") -> Figure:
    return Figure(
        title="",
        description="",
        x=Axis("x", (0.0, 1.0), (0.0, 0.5, 1.0)),
        y=Axis(measure, (0.0, 1.0), (0.0, 0.5, 1.0)),
        traces=traces,
        marks=(Mark(LEVEL, "a level"),),
    )


@pytest.mark.parametrize("dots", [(0.9,), (0.05, 0.1, 0.15), (0.02, 0.5, 0.98)])
def test_words_at_a_level_keep_away_from_dots(dots: tuple[float, ...]) -> None:
    above = LEVEL + 0.03
    canvas = draw(figure(Points(NET, dots, (above,) * len(dots), (1,) * len(dots))), width="column")
    canvas.draw_without_rendering()
    (axes,) = canvas.axes
    (words,) = [text for text in axes.texts if text.get_text() == "a level"]
    box = words.get_window_extent()
    places = [axes.transData.transform((dot, above)) for dot in dots]
    assert not any(box.contains(*place) for place in places)
    assert dots != (0.9,) or words.xy[0] < 0.01, "on the left wherever that is free"


def test_panels_of_another_property_have_their_own_axis_and_the_level_is_in_the_legend() -> None:
    line = Line(NET, (0.0, 1.0), (1.0, 0.0))
    panels = [(name, figure(line, measure=name)) for name in ("accuracy", "accuracy", "consistency")]
    canvas = draw_sheet(panels, width="page")
    assert [axes.get_ylabel() for axes in canvas.axes] == ["accuracy", "", "consistency"]
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == ["net", "a level"]
    assert not [text for axes in canvas.axes for text in axes.texts if text.get_text() == "a level"]
