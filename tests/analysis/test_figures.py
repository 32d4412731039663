from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import InvalidInput
from analysis.figures.drawing import WIDTHS, draw
from analysis.figures.page import to_plotly
from analysis.figures.paper import to_file
from analysis.figures.performance import CurveBand, PlottedCurve, condition_figure, curve_figure
from analysis.figures.rows import IndexRow, index_figure
from analysis.figures.table import Column, Table
from analysis.figures.value import DASHES, LARGEST_DOT, PALETTE, Band, Figure, Observer, style_of
from tests.analysis.figures.series import series_of

GRID = tuple(np.linspace(0, 1, 21))


def plotted(
    name: str, role: str, index: int = 0, *, gaps: tuple[tuple[float, float], ...] = ((0.95, 1.0),)
) -> PlottedCurve:
    estimate = tuple(0.93 / (1 + np.exp((np.array(GRID) - 0.8 + 0.2 * index) / 0.05)))
    lower, upper = tuple(np.array(estimate) * 0.95), tuple(np.array(estimate) * 1.03)
    wider = (tuple(np.array(estimate) * 0.9), tuple(np.array(estimate) * 1.06))
    return PlottedCurve(
        observer=Observer(name, role, index),
        v=GRID,
        estimate=estimate,
        bands=(CurveBand("pointwise", 0.95, lower, upper), CurveBand("simultaneous", 0.834, *wider)),
        bins=((0.1, 20, 0.95), (0.5, 80, 0.9), (0.9, 40, 0.1)),
        gaps=gaps,
        area=0.8,
    )


@pytest.fixture
def figure() -> Figure:
    curves = [plotted("people", "human"), plotted("resnet50", "classifier"), plotted("a<b>", "classifier", 1)]
    return curve_figure(curves, title="Gaussian noise", measure="accuracy", chance=1 / 16)


def drawn_by_plotly(figure: Figure) -> list[tuple[str, str, list[float], list[list[float]]]]:
    series = []
    for entry in to_plotly(figure)["data"]:
        if entry.get("visible") is False:
            continue
        kind, x, y = entry["meta"]["kind"], entry["x"], entry["y"]
        if kind == "band":
            half = len(x) // 2
            series.append((kind, entry["name"], x[:half], [y[:half], y[: half - 1 : -1]]))
        else:
            series.append((kind, entry["name"], x, [y]))
    return series


def drawn_by_matplotlib(figure: Figure) -> list[tuple[str, str, list[float], list[list[float]]]]:
    series = []
    for axes in draw(figure).axes:
        for line in axes.lines:
            if line.get_gid() == "line":
                series.append(("line", line.get_label(), list(line.get_xdata()), [list(line.get_ydata())]))
        for collection in axes.collections:
            if collection.get_gid() == "points":
                offsets = np.asarray(collection.get_offsets())
                series.append(("points", collection.get_label(), list(offsets[:, 0]), [list(offsets[:, 1])]))
            if collection.get_gid() == "band":
                outline = collection.get_paths()[0].vertices
                x = sorted(set(outline[:, 0]))
                edges = [[pick(outline[outline[:, 0] == v, 1]) for v in x] for pick in (min, max)]
                series.append(("band", collection.get_label(), x, edges))
        for container in axes.containers:
            x = [bar.get_x() + bar.get_width() / 2 for bar in container]
            series.append(("bars", container.get_label(), x, [[bar.get_height() for bar in container]]))
    return series


def by_name(series: list) -> dict[tuple[str, str], np.ndarray]:
    return {(kind, name): np.array([x, *ordinates], dtype=float) for kind, name, x, ordinates in series}


def test_page_and_paper_draw_the_same_series(figure: Figure) -> None:
    wanted, page, paper = (
        by_name(s) for s in (series_of(figure), drawn_by_plotly(figure), drawn_by_matplotlib(figure))
    )
    assert wanted.keys() == page.keys() == paper.keys()
    assert {kind for kind, _ in wanted} == {"line", "band", "points", "bars"}
    for key, values in wanted.items():
        np.testing.assert_allclose(page[key], values, atol=1e-6)
        np.testing.assert_allclose(paper[key], values, atol=1e-6)


def test_page_and_paper_use_the_same_colours(figure: Figure) -> None:
    from matplotlib.colors import to_hex

    page = {
        entry["name"]: entry["line"]["color"] for entry in to_plotly(figure)["data"] if entry["meta"]["kind"] == "line"
    }
    paper = {
        line.get_label(): to_hex(line.get_color()) for line in draw(figure).axes[0].lines if line.get_gid() == "line"
    }
    assert page == paper == {"people": "#16202b", "resnet50": PALETTE[0], "a<b>": PALETTE[1]}


def test_another_band_is_shown_in_both(figure: Figure) -> None:
    other = figure.with_band("83.4 % simultaneous")
    assert figure.band_meanings == ("95 % pointwise", "83.4 % simultaneous")
    wide, narrow = by_name(drawn_by_plotly(other)), by_name(drawn_by_plotly(figure))
    assert (wide["band", "people"][2] > narrow["band", "people"][2]).any()
    np.testing.assert_allclose(by_name(drawn_by_matplotlib(other))["band", "people"], wide["band", "people"], atol=1e-6)
    assert sum(isinstance(trace, Band) and trace.shown for trace in other.traces) == 3


def test_people_are_black_thickest_and_drawn_last(figure: Figure) -> None:
    lines = [entry for entry in to_plotly(figure)["data"] if entry["meta"]["kind"] == "line"]
    assert lines[-1]["name"] == "people"
    assert lines[-1]["line"]["width"] > max(entry["line"]["width"] for entry in lines[:-1])


def test_36_classifiers_differ_in_colour_or_dashes() -> None:
    styles = [style_of(Observer(str(index), "classifier", index)) for index in range(len(PALETTE) * len(DASHES))]
    assert len(set(styles)) == len(styles)


def test_area_of_a_dot_is_proportional_to_n(figure: Figure) -> None:
    (points,) = [entry for entry in to_plotly(figure)["data"] if entry["meta"]["kind"] == "points"]
    areas = [size**2 for size in points["marker"]["size"]]
    np.testing.assert_allclose(np.array(areas) / areas[1], [20 / 80, 1, 40 / 80])
    assert max(points["marker"]["size"]) == 2 * LARGEST_DOT
    assert points["customdata"] == [20, 80, 40]


def test_unmeasured_range_is_shaded_and_named() -> None:
    (shade,) = curve_figure([plotted("people", "human")], title="", measure="accuracy").shaded
    assert (shade.start, shade.end, shade.label) == (0.95, 1.0, "not measured: 5.0 %")
    gaps = ((0.0, 0.1), (0.4, 0.5), (0.9, 1.0))
    all_of_them = curve_figure([plotted("people", "human", gaps=gaps)], title="", measure="accuracy").shaded
    assert [(shade.start, shade.end) for shade in all_of_them] == list(gaps)
    assert [shade.label for shade in all_of_them] == ["", "", "not measured: 30.0 %"]
    assert curve_figure([plotted("people", "human", gaps=())], title="", measure="accuracy").shaded == ()


def test_plotly_json_is_json_and_names_are_escaped_in_hover_text(figure: Figure) -> None:
    text = json.dumps(to_plotly(figure), allow_nan=False)
    assert "a&lt;b&gt;<br>" in text
    (mark,) = figure.marks
    assert mark.label == "chance 1/16"


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_files_are_of_their_kind_and_the_same_each_time(figure: Figure, tmp_path: Path, suffix: str) -> None:
    first, second = (to_file(figure, tmp_path / f"{name}.{suffix}").read_bytes() for name in "ab")
    assert first == second
    assert first.startswith({"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[suffix])


def test_another_suffix_is_refused(figure: Figure, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"\.svg, \.pdf or \.png"):
        to_file(figure, tmp_path / "figure.gif")


def test_conditions_stand_in_the_given_order() -> None:
    rates = [
        (Observer("people", "human"), {"c100": (0.9, 160), "c05": (0.3, 160)}),
        (Observer("vgg", "classifier"), {"c100": (0.8, 40)}),
    ]
    figure = condition_figure(rates, conditions=["c100", "c05"], title="", chance=1 / 16)
    assert figure.x.categories == ("c100", "c05")
    page, paper = by_name(drawn_by_plotly(figure)), by_name(drawn_by_matplotlib(figure))
    np.testing.assert_allclose(page["points", "people"], [[0, 1], [0.9, 0.3]])
    np.testing.assert_allclose(page["points", "vgg"], [[0], [0.8]])
    assert page.keys() == paper.keys()


def test_a_figure_without_curves_is_refused() -> None:
    with pytest.raises(InvalidInput):
        curve_figure([], title="", measure="accuracy")


def test_what_is_downloaded_is_what_is_shown(figure: Figure) -> None:
    chosen = figure.only(["people"]).with_band("")
    assert {name for _, name, *_ in series_of(chosen)} == {"people"}
    assert not any(kind == "band" for kind, *_ in series_of(chosen))


def test_hovering_over_a_curve_tells_bands_and_answers(figure: Figure) -> None:
    people = [entry for entry in to_plotly(figure)["data"] if entry["meta"]["kind"] == "line"][-1]
    told = people["customdata"][people["x"].index(0.5)]
    assert told.startswith("95 % pointwise: ") and "83.4 % simultaneous: " in told
    assert told.endswith("80 answers in this bin")


@pytest.mark.parametrize(("width", "inches"), [("column", 3.5), ("page", 7.2)])
def test_figures_are_as_wide_as_a_journal_s_columns(figure: Figure, tmp_path: Path, width: str, inches: float) -> None:
    text = to_file(figure, tmp_path / "figure.svg", width=width).read_text(encoding="utf-8")
    assert f'viewBox="0 0 {72 * inches:g} ' in text
    # Letters are outlines: the file looks alike where the font is not installed.
    assert "<text" not in text and figure.description.split(":")[0] in text


def test_letters_are_embedded_in_the_pdf(figure: Figure, tmp_path: Path) -> None:
    content = to_file(figure, tmp_path / "figure.pdf").read_bytes()
    assert b"/FontFile2" in content and b"/Type3" not in content


def test_another_width_is_refused(figure: Figure, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="column, page, text"):
        to_file(figure, tmp_path / "figure.svg", width="poster")


@pytest.mark.parametrize("width", ["column", "page"])
def test_long_names_are_cut_off_nowhere(width: str) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    names = ["vit_base_patch16_224.augreg_in21k_ft_in1k", "trained on corrupted pictures too", "c"]
    curves = [plotted("people", "human"), *(plotted(name, "classifier", k) for k, name in enumerate(names))]
    rows = [
        IndexRow(
            observer=Observer(name, "classifier", k), hmri=0.9, hmri_interval=(0.8, 1.0), mrsi=0.1, mrsi_interval=None
        )
        for k, name in enumerate(names)
    ]
    for described in (
        curve_figure(curves, title="Contrast of the picture after a night of snow: accuracy", measure="accuracy"),
        index_figure(rows, title="Contrast of the picture after a night of snow: models against people, accuracy"),
    ):
        canvas = draw(described, width=width)
        surface = FigureCanvasAgg(canvas)
        surface.draw()
        across, high = canvas.get_size_inches() * canvas.dpi
        assert across == WIDTHS[width] * canvas.dpi
        for text in canvas.findobj(Text):
            if text.get_text() and text.get_visible():
                extent = text.get_window_extent(surface.get_renderer())
                assert extent.x0 >= 0 and extent.x1 <= across and extent.y0 >= 0 and extent.y1 <= high, text.get_text()


def test_a_legend_says_what_the_band_is(figure: Figure) -> None:
    canvas = draw(figure)
    assert "95 % pointwise" in [text.get_text() for text in canvas.legends[0].get_texts()]
    none = draw(figure.with_band("none"))
    assert "95 % pointwise" not in [text.get_text() for text in none.legends[0].get_texts()]


def test_no_cell_of_a_table_runs_as_a_formula() -> None:
    link = '=HYPERLINK("http://example.org","net")'
    table = Table("areas", "Areas", (Column("classifier", "Model"), Column("gap", "Gap", "number")), ((link, -0.5),))
    (cells,) = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert cells == {"classifier": f"'{link}", "gap": "-0.5"}
