"""Networks by kind: how figures look with kinds, and that they look as ever without."""

from __future__ import annotations

from itertools import combinations

import pytest

from analysis.errors import UnknownName
from analysis.figures.drawing import draw
from analysis.figures.page import to_plotly
from analysis.figures.performance import PlottedCurve, curve_figure
from analysis.figures.rows import IndexRow, index_figure
from analysis.figures.value import Figure, Observer, style_of
from analysis.findings.model.settings import Settings
from analysis.observers.kinds import HUMAN, KINDS, kind_named, observers_by_kind

NAMES = ("clip", "a", "plain", "b", "mine")
OF = {"clip": "clip", "a": "vit", "b": "vit", "plain": "supervised"}


def bars(observers: dict[str, Observer]) -> Figure:
    rows = [
        IndexRow(observer=observer, hmri=hmri, hmri_interval=None, mrsi=0.0, mrsi_interval=None)
        for observer, hmri in zip(observers.values(), (0.5, 0.9, 0.95, 0.7, 0.6), strict=True)
    ]
    return index_figure(rows, title="")


def test_networks_are_ordered_coloured_and_told_apart_within_their_kind() -> None:
    found = observers_by_kind(NAMES, OF)
    assert list(found) == ["a", "b", "plain", "clip", "mine"]
    assert [(one.kind.id if one.kind else "", one.index) for one in found.values()] == [
        ("vit", 0), ("vit", 1), ("supervised", 0), ("clip", 0), ("other", 0),
    ]  # fmt: skip
    first, second = style_of(found["a"]), style_of(found["b"])
    assert first.colour == second.colour == KINDS["vit"].colour and first.dash != second.dash


@pytest.mark.parametrize("kinds", [{}, {"a": "vit"}, {"a": "vit", "b": "vit"}])
def test_with_fewer_than_two_kinds_figures_look_as_without(kinds: dict[str, str]) -> None:
    assert observers_by_kind(NAMES, kinds) == {
        name: Observer(name, "classifier", place) for place, name in enumerate(NAMES)
    }
    page = to_plotly(bars(observers_by_kind(NAMES, kinds)))
    assert page["layout"]["annotations"] == [] and len(page["data"]) == 2


def test_what_is_no_kind_is_refused_with_the_list() -> None:
    with pytest.raises(UnknownName, match="no kind of networks 'cnn'; choose from vit, supervised"):
        kind_named("cnn")
    with pytest.raises(UnknownName, match="'cnn'"):
        Settings.planned(seed=1, network_kinds={"net": "cnn"})


def test_settings_state_kinds_where_there_are_some() -> None:
    assert "network_kinds" not in Settings.planned(seed=1, network_kinds={}).to_json()
    assert Settings.planned(seed=1, network_kinds=OF).to_json()["network_kinds"] == OF


def test_bars_stand_by_kind_and_within_it_by_hmri_with_a_legend_on_page_and_paper() -> None:
    figure = bars(observers_by_kind(NAMES, OF))
    assert figure.y.categories == ("b", "a", "plain", "clip", "mine")
    wanted = ["vision transformer", "supervised", "CLIP", "other"]
    page = to_plotly(figure)
    legend = page["layout"]["annotations"][::-1]
    assert [one["text"] for one in legend[::2]] == wanted
    assert [one["font"]["color"] for one in legend[1::2]] == [kind.colour for kind in figure.kinds]
    assert page["data"][0]["marker"]["color"][:2] == [KINDS["vit"].colour] * 2
    (drawn,) = draw(figure).legends
    assert [text.get_text() for text in drawn.get_texts()] == ["HMRI", "MRSI", *wanted]


def test_curves_have_the_kinds_in_their_legend_on_paper() -> None:
    curves = [
        PlottedCurve(observer=one, v=(0.0, 1.0), estimate=(0.9, 0.1), bands=(), bins=(), gaps=(), area=0.5)
        for one in (Observer("people", "human"), *observers_by_kind(NAMES, OF).values())
    ]
    (drawn,) = draw(curve_figure(curves, title="", measure="accuracy")).legends
    texts = [text.get_text() for text in drawn.get_texts()]
    assert texts == ["people", "a", "b", "plain", "clip", "mine", "vision transformer", "supervised", "CLIP", "other"]


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _lab(colour: str) -> tuple[float, float, float]:
    """CIELAB of D65, by hand."""
    r, g, b = (_linear(int(colour[start : start + 2], 16) / 255) for start in (1, 3, 5))
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_colours_of_kinds_are_far_apart_and_dark_enough_on_white() -> None:
    kinds = [HUMAN, *KINDS.values()]
    for one, other in combinations(kinds, 2):
        assert sum((a - b) ** 2 for a, b in zip(_lab(one.colour), _lab(other.colour), strict=True)) ** 0.5 > 25, (
            one.id, other.id,
        )  # fmt: skip
    assert all(_lab(kind.colour)[0] < 75 for kind in kinds)
    assert [kind.order for kind in kinds] == list(range(len(kinds)))
