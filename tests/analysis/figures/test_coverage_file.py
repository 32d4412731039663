"""The coverage of a set as a file: bins in their kind, pictures square and in their place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

from analysis.errors import InvalidInput
from analysis.figures import coverage
from analysis.figures.coverage import CoverageRow, Example, write_coverage

ROWS = [
    CoverageRow("Noise", [0, 5, 20, 49, 50, 199, 200, 3, 0, 0], reach=0.8),
    CoverageRow("Frost", [0] * 10),
]
PICTURES = [Example(change, np.full((8, 8, 3), 90, np.uint8)) for change in (0.02, 0.55, 1.0)]


def test_every_bin_wears_the_colour_of_its_count() -> None:
    (axes,) = coverage._draw(ROWS, "title", 20, ()).axes
    faces = [to_hex(patch.get_facecolor()) for patch in axes.patches]
    light, middle, dark = coverage._COVERED
    thin = coverage._THIN
    assert faces[:8] == ["#ffffff", thin, light, light, middle, middle, dark, thin]
    assert [patch.get_hatch() is not None for patch in axes.patches] == [False] * 8 + [True] * 2 + [False] * 10
    assert set(faces[10:]) == {"#ffffff"}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Frost", "Noise"]


def test_pictures_are_square_and_stand_in_their_tenth() -> None:
    canvas = coverage._draw(ROWS, "title", 20, PICTURES)
    axes = canvas.axes[1]
    canvas.draw_without_rendering()
    middles = []
    for image in axes.images:
        box = image.get_window_extent()
        assert box.width == pytest.approx(box.height, rel=0.02)
        left, right, _, _ = image.get_extent()
        middles.append((left + right) / 2)
    assert middles == pytest.approx([0.05, 0.55, 0.95])
    upper = canvas.axes[0].get_window_extent()
    assert (axes.get_window_extent().x0, axes.get_window_extent().width) == pytest.approx((upper.x0, upper.width))


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_equal_arguments_give_equal_bytes(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in paths:
        write_coverage(path, ROWS, title="title", minimum=20, examples=PICTURES)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=".svg, .pdf or .png"):
        write_coverage(tmp_path / "a.gif", ROWS, title="", minimum=20)
    with pytest.raises(InvalidInput, match="no function"):
        write_coverage(tmp_path / "a.svg", [], title="", minimum=20)


def test_shares_stand_right_of_their_rows_where_they_are_known() -> None:
    rows = [CoverageRow("Noise", [20] * 10, share=1.0, published=0.872), CoverageRow("Own", [20, 0], share=0.5)]
    (axes,) = coverage._draw(rows, "title", 20, ()).axes
    told = [(text.get_text(), round(text.get_position()[1])) for text in axes.texts]
    assert told == [("covered", 2), ("published", 2), ("1.000", 1), ("0.872", 1), ("0.500", 0), ("–", 0)]
    (bare,) = coverage._draw(ROWS, "title", 20, ()).axes
    assert not bare.texts
