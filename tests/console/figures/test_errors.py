"""Figures of how observers err beside numbers that were counted apart."""

from __future__ import annotations

from typing import Any

import pytest

from humanexp.console.figures.registry import FIGURES
from humanexp.core.errors import InputRefused
from humanexp.studies.models import Study
from tests.console.figures.parts import agreeing, canvas, changed, drawn_by, rows
from tests.results.large import MODELS

pytestmark = pytest.mark.django_db


def test_consistency_stands_against_accuracy_below_the_ceiling(large: Study) -> None:
    subject = agreeing(large)
    drawn = FIGURES["consistency"].drawn(subject, {})
    (axes,) = canvas(drawn).axes
    dots = {one.get_label(): one.get_offsets()[0] for one in drawn_by(axes, "points")}
    assert dots.keys() == {"people", *MODELS[:9]}
    assert dots[MODELS[3]].tolist() == pytest.approx([0.8 - 0.15, 0.4 - 0.18])
    lines = {line.get_ydata()[0] for line in axes.lines if line.get_gid() is None}
    assert 0.5 in lines, "the ceiling is the kappa of people among themselves"
    assert "1 observers share too few pictures" in " ".join(drawn.caption)
    shapes = {one.get_paths()[0].vertices.tobytes() for one in drawn_by(axes, "points")}
    assert len(shapes) >= 8, "dots differ by shape, too"
    with pytest.raises(InputRefused, match="evaluate a model"):
        FIGURES["consistency"].drawn(changed(large, agreement=[]), {})


def test_the_matrix_of_kappas_frames_people(large: Study) -> None:
    pairs = [
        (("P-00000", "P-00001"), 0.6),
        (("P-00000", "alexnet"), 0.2),
        (("P-00001", "alexnet"), 0.25),
        (("alexnet", "vgg16"), 0.7),
    ]
    entries = [
        {"pair": list(pair), "condition": "noise", "n": 50, "kappa": kappa, "observed": 0.8, "expected": 0.5}
        for pair, kappa in pairs
    ]
    subject = changed(large, error_consistency=[*entries, entries[0] | {"condition": "other", "kappa": 0.9}])
    drawn = FIGURES["kappas"].drawn(subject, {})
    (axes,) = canvas(drawn).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["P-00000", "P-00001", "alexnet", "vgg16"]
    (frame,) = drawn_by(axes, "block")
    assert (frame.get_width(), frame.get_height()) == (2, 2)
    printed = {text.get_position(): text.get_text() for text in axes.texts if text.get_text()}
    assert printed[1, 0] == printed[0, 1] == "0.60" and printed[3, 2] == "0.70"
    assert (3, 0) not in printed, "they share no picture"
    assert FIGURES["kappas"].drawn(subject, {"condition": "other"}).tables()[0].rows[0][4][0] == 0.9  # type: ignore[index]


def test_shape_bias_by_category_counts_as_by_hand(large: Study) -> None:
    def own(category: str, shape: int, texture: int) -> dict[str, Any]:
        total = shape + texture
        bias = shape / total if total else None
        return {"category": category, "shape": shape, "texture": texture, "other": 1, "bias": bias, "interval": [0, 1]}

    people, net = [own("cat", 9, 1), own("dog", 6, 4)], [own("cat", 2, 8), own("dog", 0, 0)]
    entries = [
        {"observer": name, "kind": kind, "shape": sum(one["shape"] for one in by), "other": 2,
         "texture": sum(one["texture"] for one in by), "bias": bias, "interval": [0, 1], "by_category": by}
        for name, kind, by, bias in (("humans", "humans", people, 0.75), ("alexnet", "classifier", net, 0.2))
    ]  # fmt: skip
    (axes,) = canvas(FIGURES["shape-bias"].drawn(changed(large, shape_bias=entries), {})).axes
    dots = {one.get_label(): one.get_offsets().tolist() for one in drawn_by(axes, "points")}
    assert dots["people"] == [[0.0, 0.9], [1.0, 0.6], [2.0, 0.75]]
    assert dots["alexnet"] == [[0.0, 0.2], [2.0, 0.2]], "of dogs neither shape nor texture was named"
    old = [{name: value for name, value in entries[0].items() if name != "by_category"}]
    with pytest.raises(InputRefused, match="analyse again"):
        FIGURES["shape-bias"].drawn(changed(large, shape_bias=old), {})


def test_confusions_are_compared_where_as_many_are_right(large: Study) -> None:
    def entry(population: str, low: float, right: int, wrong: int) -> dict[str, Any]:
        counts = [[right, wrong, 0], [wrong, right, 0]]
        return {"population": population, "corruption": "frost", "low": low, "high": low + 0.25, "favourite": None,
                "categories": ["cat", "dog"], "responses": ["cat", "dog", "na"], "counts": counts}  # fmt: skip

    entries = [entry("humans", 0.5, 9, 1), entry("humans", 0.75, 5, 5)]
    entries += [entry("alexnet", 0.0, 8, 2), entry("alexnet", 0.25, 4, 6), entry("alexnet", 0.5, 1, 9)]
    drawn = FIGURES["confusions"].drawn(changed(large, confusion=entries), {})
    made = canvas(drawn)
    titles = [axes.get_title(loc="left").replace("\n", " ") for axes in made.axes]
    assert titles == ["people, Δv 0.75 to 1.00: 0.50 right", "alexnet, Δv 0.25 to 0.50: 0.40 right"]
    cells = [len(drawn_by(axes, "cells")) for axes in made.axes]
    assert cells == [6, 6]
    assert [label.get_text() for label in made.axes[0].get_xticklabels()] == ["cat", "dog", "none"]
    table = rows(FIGURES["confusions"].drawn(changed(large, confusion=entries), {"accuracy": "0.9"}))
    assert [row["from"] for row in table][::6] == ["0.5", "0.0"]
