"""What journals ask of a figure: small letters, no title, whole dots, counts apart, panels with letters."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.text import Text

from analysis.clusters import exact_bound
from analysis.errors import InvalidInput
from analysis.figures.drawing import draw
from analysis.figures.paper import draw_sheet, installed_fonts, sheet_to_file, to_file
from analysis.figures.performance import PlottedCurve, curve_figure, difficulty_figure
from analysis.figures.rows import Pair, similarity_figure
from analysis.figures.value import Figure, Line, Observer, Points, style_of
from analysis.findings.model.agreement import Difficulty

#: Two bins whose mean visual changes nearly meet, and rates of 0 and 1.
BINS = ((0.01, 12, 1.0), (0.074, 30, 0.8), (0.076, 9, 0.5), (0.99, 20, 0.0))


@pytest.fixture
def figure() -> Figure:
    people, model = (
        PlottedCurve(
            observer=observer,
            v=(0.0, 0.5, 1.0),
            estimate=(0.9, 0.5, 0.1),
            bands=(),
            bins=BINS,
            gaps=(),
            area=0.5,
        )
        for observer in (Observer("people", "human"), Observer("net", "classifier"))
    )
    return curve_figure([people, model], title="A title", measure="accuracy", chance=1 / 16)


def test_letters_have_5_to_7_pt_and_no_title_stands_inside(figure: Figure) -> None:
    for canvas in (draw(figure, width="column"), draw(figure), draw_sheet([("one", figure), ("two", figure)])):
        texts = [text for text in canvas.findobj(Text) if text.get_text().strip() and text.get_visible()]
        assert {5 <= text.get_fontsize() <= 7 for text in texts} == {True}
        assert not any("A title" in text.get_text() for text in texts)


def test_dots_are_whole_and_have_exact_intervals(figure: Figure) -> None:
    (points,) = [trace for trace in figure.traces if isinstance(trace, Points)]
    assert points.intervals[1] == exact_bound(24, 30, 0.025)
    assert points.intervals[0][1] == 1.0 and points.intervals[3][0] == 0.0
    (drawn,) = [one for one in draw(figure).axes[0].collections if one.get_gid() == "points"]
    assert not drawn.get_clip_on()


def test_bars_of_counts_never_overlap(figure: Figure) -> None:
    bars = sorted(draw(figure).axes[1].containers[0], key=lambda bar: bar.get_x())
    assert sum(bar.get_height() for bar in bars) == sum(n for _, n, _ in BINS)
    assert all(left.get_x() + left.get_width() < right.get_x() for left, right in pairwise(bars))


def test_no_classifier_has_the_solid_line_of_people() -> None:
    assert style_of(Observer("people", "human")).dash == ()
    assert all(style_of(Observer(str(place), "classifier", place)).dash for place in range(36))


def test_panels_are_equally_large_and_carry_letters(figure: Figure) -> None:
    canvas = draw_sheet([(f"corruption {place}", figure) for place in range(5)])
    canvas.draw_without_rendering()
    upper = canvas.axes[::2]
    sizes = {tuple(round(side, 4) for side in axes.get_position().size) for axes in upper}
    assert len(sizes) == 1
    assert [axes.texts[-1].get_text() for axes in upper] == ["a", "b", "c", "d", "e"]
    assert [axes.get_title(loc="left") for axes in upper][:2] == ["corruption 0", "corruption 1"]


def test_a_small_matrix_is_not_stretched() -> None:
    pairs = [Pair(first="a", second="b", difference=0.1, verdict="different")]
    small = draw(similarity_figure(["a", "b", "c"], pairs, title=""), width="page")
    assert small.get_figwidth() < 3


def test_letters_that_the_machine_lacks_are_refused(figure: Figure, tmp_path: Path) -> None:
    assert installed_fonts()[-1] == "DejaVu Sans"
    with pytest.raises(InvalidInput, match="no letters called 'Wingdings'"):
        to_file(figure, tmp_path / "figure.svg", font="Wingdings")
    with pytest.raises(InvalidInput, match="at least one panel"):
        sheet_to_file([], tmp_path / "sheet.pdf", title="")
    first, second = (
        sheet_to_file([("one", figure)], tmp_path / f"{name}.pdf", title="S").read_bytes() for name in "ab"
    )
    assert first == second


def test_bins_that_hold_next_to_nothing_are_joined_to_dots() -> None:
    bins = ((0.01, 4, 1.0), (0.03, 4, 0.5), (0.06, 2, 0.0), (0.51, 12, 0.75))
    people = PlottedCurve(
        observer=Observer("people", "human"), v=(0.0, 1.0), estimate=(0.9, 0.1), bands=(), bins=bins, gaps=(), area=0.5
    )
    drawn = curve_figure([people], title="", measure="accuracy")
    (points,) = [trace for trace in drawn.traces if isinstance(trace, Points)]
    assert points.n == (10, 12)
    assert points.x == pytest.approx((0.028, 0.51))
    assert points.y == pytest.approx((0.6, 0.75))
    assert "in steps of 0.1" in drawn.notes[0]


def test_people_are_the_diagonal_of_difficulty_and_intervals_stay_inside() -> None:
    places = [
        Difficulty.model_construct(people=0.3, difference=-0.2, interval=(-0.5, 0.1), n=40),
        Difficulty.model_construct(people=0.9, difference=0.05, interval=(0.0, 0.2), n=80),
    ]
    people, model = Observer("people", "human"), Observer("net", "classifier")
    figure = difficulty_figure([(model, places)], people=people, title="", notes=())
    (diagonal,) = [trace for trace in figure.traces if isinstance(trace, Line)]
    assert (diagonal.observer, diagonal.x) == (people, diagonal.y)
    (points,) = [trace for trace in figure.traces if isinstance(trace, Points)]
    assert points.x == (0.9, 0.3) and points.y == pytest.approx((0.95, 0.1))
    assert points.intervals == ((0.9, 1.0), (0.0, pytest.approx(0.4)))
    assert figure.x.range[0] > figure.x.range[1]
