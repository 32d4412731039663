"""Figures with names down the side: page and paper show the same estimates, intervals and cells."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import InvalidInput
from analysis.figures.drawing import draw
from analysis.figures.page import to_plotly
from analysis.figures.paper import to_file
from analysis.figures.performance import times_figure
from analysis.figures.rows import IndexRow, Names, Pair, index_figure, matrix_figure, similarity_figure
from analysis.figures.value import SCALES, Cells, Estimates, Figure, Observer, cell_colour, text_colour
from analysis.findings.model.agreement import TimeBin
from tests.analysis.figures.series import series_of

NAMES = ("gaussian noise", "uniform noise", "frost")


@pytest.fixture
def indices() -> Figure:
    rows = [
        IndexRow(observer=Observer("a<b>", "classifier", 0), hmri=0.5, hmri_interval=(0.4, 0.6), mrsi=0.1,
                 mrsi_interval=None),
        IndexRow(observer=Observer("net", "classifier", 1), hmri=0.8, hmri_interval=None, mrsi=0.0,
                 mrsi_interval=(0.0, 0.02)),
    ]  # fmt: skip
    return index_figure(rows, title="Models")


@pytest.fixture
def similarity() -> Figure:
    pairs = [
        Pair(first=NAMES[0], second=NAMES[1], difference=0.004, verdict="equivalent"),
        Pair(first=NAMES[2], second=NAMES[0], difference=-0.05, verdict="different"),
    ]
    return similarity_figure(NAMES, pairs, title="Alike?")


def test_the_best_model_stands_on_top_in_both(indices: Figure) -> None:
    bars, dots = (trace for trace in indices.traces if isinstance(trace, Estimates))
    assert indices.y.categories == ("net", "a<b>") and bars.rows == (0.0, 1.0)
    page = {entry["name"]: entry for entry in to_plotly(indices)["data"]}
    assert to_plotly(indices)["layout"]["yaxis"]["range"] == [1.5, -0.5]
    (axes,) = draw(indices).axes
    drawn = [bar.get_width() for bar in axes.containers[0]]
    (scatter,) = axes.collections
    for trace, paper in ((bars, drawn), (dots, scatter.get_offsets()[:, 0])):
        np.testing.assert_allclose(page[trace.meaning]["x"], trace.x)
        np.testing.assert_allclose(paper, trace.x)
    assert axes.get_ylim() == (1.5, -0.5)


def test_intervals_are_the_same_in_both(indices: Figure) -> None:
    entry = to_plotly(indices)["data"][0]
    x, error = np.array(entry["x"]), entry["error_x"]
    page = [(low, high) for low, high in zip(x - error["arrayminus"], x + error["array"], strict=True) if high > low]
    paper = [tuple(line.get_xdata()) for line in draw(indices).axes[0].lines if line.get_gid() == "interval"]
    np.testing.assert_allclose(page, [(0.4, 0.6)])
    np.testing.assert_allclose(sorted(paper), [(0.0, 0.02), (0.4, 0.6)])


def test_names_and_numbers_are_told_as_text(indices: Figure) -> None:
    text = json.dumps(to_plotly(indices), allow_nan=False)
    assert "a&lt;b&gt;" in text and "HMRI 0.500 [0.400, 0.600]" in text
    assert indices.description == "net: HMRI 0.800, MRSI 0.000; a<b>: HMRI 0.500, MRSI 0.100."


def test_pairs_stand_below_the_diagonal_with_a_sign_and_a_number(similarity: Figure) -> None:
    (cells,) = similarity.traces
    assert isinstance(cells, Cells)
    assert similarity.y.categories == ("uniform noise", "frost") and similarity.x.categories == NAMES[:2]
    assert cells.texts == (("= .004", ""), ("≠ .050", ""))
    assert cells.values == ((1.0, None), (2.0, None))


def test_cells_have_the_same_values_and_colours_in_both(similarity: Figure) -> None:
    from matplotlib.colors import to_hex

    (entry,) = to_plotly(similarity)["data"]
    (cells,) = similarity.traces
    assert entry["z"] == [list(row) for row in cells.values]
    colours = [to_hex(patch.get_facecolor()) for patch in draw(similarity).axes[0].patches]
    scale = dict(entry["colorscale"])
    wanted = ["#ffffff" if value is None else scale[value / 2] for row in entry["z"] for value in row]
    assert colours == wanted


def test_colours_between_the_steps_are_mixed_and_texts_readable() -> None:
    assert cell_colour("amount", 0.0, (0, 8)) == SCALES["amount"][0]
    assert cell_colour("amount", 8.0, (0, 8)) == cell_colour("amount", 9.0, (0, 8)) == SCALES["amount"][-1]
    assert cell_colour("amount", None, (0, 8)) == "#ffffff"
    assert (text_colour("amount", 0, (0, 8)), text_colour("amount", 8, (0, 8))) == ("#16202b", "#ffffff")


def test_a_matrix_names_only_the_columns_that_are_asked_for(tmp_path: Path) -> None:
    figure = matrix_figure(
        Names(["blur"]),
        Names(["0", "0.5", "1"], "Δv", (0, 2)),
        [[1.0, None, 3.0]],
        title="Answers",
        name="answers",
        description="",
        largest=3.0,
        details=[["one", "", "three"]],
    )
    assert to_plotly(figure)["layout"]["xaxis"]["ticktext"] == ["0", "1"]
    assert [tick.get_text() for tick in draw(figure).axes[0].get_xticklabels()] == ["0", "1"]
    assert to_file(figure, tmp_path / "matrix.png", width="column").read_bytes().startswith(b"\x89PNG")


def test_response_times_have_their_quartiles_as_a_band() -> None:
    bins = [TimeBin.model_construct(v=v, n=10, median_ms=600 + 100 * v, lower_ms=500, upper_ms=900) for v in (0.1, 0.9)]
    figure = times_figure([(Observer("people", "human"), bins)], title="Times")
    kinds = {kind: ordinates for kind, _, _, ordinates in series_of(figure)}
    assert kinds == {"band": ((500, 500), (900, 900)), "points": ((610.0, 690.0),)}
    assert figure.y.range == (0.0, 1000.0)


def test_figures_of_nothing_are_refused() -> None:
    for refused in (
        lambda: index_figure([], title=""),
        lambda: similarity_figure(["a"], [], title=""),
        lambda: times_figure([(Observer("people", "human"), [])], title=""),
    ):
        with pytest.raises(InvalidInput):
            refused()
