"""Figures of networks beside numbers that were computed apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanexp.console.figures import models
from humanexp.console.figures.registry import FIGURES
from humanexp.console.figures.subjects import Analysed, analysed
from humanexp.core.errors import InputRefused
from humanexp.evaluations.models import Retraining
from humanexp.studies.models import Study
from tests.console.figures.parts import canvas, changed, drawn_by, rows
from tests.results.large import MODELS, NAMES

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("measure", ["accuracy", "consistency"])
def test_indices_are_bars_of_the_findings(with_run: Analysed, measure: str) -> None:
    drawn = FIGURES["indices"].drawn(with_run, {"function": NAMES[1], "property": measure})
    made = canvas(drawn)
    hmri, mrsi, curves = made.axes
    longest = max(bar.get_width() for bar in mrsi.patches)
    assert longest <= mrsi.get_xlim()[1] <= max(4 * longest, 0.06), "MRSI is small: its axis ends near the longest bar"
    wanted = {one.classifier: one for one in with_run.found.own_comparisons(measure) if one.corruption == NAMES[1]}
    names = [text.get_text() for text in hmri.get_yticklabels()]
    for axes, index in ((hmri, "hmri"), (mrsi, "mrsi")):
        lengths = dict(zip(names, (bar.get_width() for bar in axes.patches), strict=True))
        assert lengths == {name: getattr(one, index) for name, one in wanted.items()}
    assert len(drawn_by(curves, "line")) == 1 + len(MODELS)


def test_networks_of_a_kind_stand_together_in_its_colour(large: Study, with_run: Analysed) -> None:
    kinds = {name: "supervised" if place % 2 else "vit" for place, name in enumerate(MODELS)}
    settings = {"seed": 7, "n_bootstrap": 1000, "level": 0.95, "margin": 0.03, "network_kinds": kinds}
    subject = changed(large, settings=settings)
    made = canvas(FIGURES["indices"].drawn(subject, {"function": "all"}))
    names = [text.get_text() for text in made.axes[0].get_yticklabels()]
    assert [kinds[name] for name in names] == ["vit"] * 5 + ["supervised"] * 5
    colours = dict(zip(names, (bar.get_facecolor() for bar in made.axes[0].patches), strict=True))
    assert len({colours[name] for name in names}) == 2
    (legend,) = made.legends
    assert len(legend.get_texts()) == 2


def test_over_all_functions_indices_have_intervals(with_run: Analysed) -> None:
    hmri, mrsi = canvas(FIGURES["indices"].drawn(with_run, {"function": "all"})).axes
    assert len(drawn_by(hmri, "interval")) == len(drawn_by(mrsi, "interval")) == len(MODELS)
    with pytest.raises(InputRefused, match="no means over functions"):
        FIGURES["indices"].drawn(changed(with_run.study, leaderboard=[]), {"function": "all"})


def test_levels_stand_beside_areas_with_places_counted_by_hand(large: Study) -> None:
    numbers = {"alexnet": (0.30, 0.50, 0.60), "vgg16": (0.35, 0.45, 0.70), "resnet50": (0.20, 0.40, 0.65)}
    of = [
        {"classifier": name, "fixed_accuracy": one[0], "area_accuracy": one[1], "area_consistency": one[2],
         "by_function": [{"corruption": "frost", "fixed_accuracy": one[0], "area_accuracy": one[1],
                          "area_consistency": one[2]}],
         "ranks": {"fixed": 1, "accuracy": 1, "consistency": 1}}
        for name, one in numbers.items()
    ]  # fmt: skip
    levels = {"functions": ["frost"], "models": of, "rank_changes": [], "swaps": [], "coverage": None}
    drawn = FIGURES["levels"].drawn(changed(large, levels=levels), {"function": "frost"})
    fixed, accuracy, consistency = canvas(drawn).axes
    assert [text.get_text() for text in fixed.get_yticklabels()] == ["vgg16", "alexnet", "resnet50"]
    assert [bar.get_width() for bar in accuracy.patches] == [0.45, 0.50, 0.40]
    assert [text.get_text() for text in fixed.texts] == ["1", "2", "3"]
    assert [text.get_text() for text in accuracy.texts] == ["2 ↓1", "1 ↑1", "3"]
    assert [text.get_text() for text in consistency.texts] == ["1", "3 ↓1", "2 ↑1"]
    with pytest.raises(InputRefused, match="generate_stimuli --sampling imagenet-c-levels"):
        FIGURES["levels"].drawn(analysed(large), {})


def test_a_retrained_network_is_drawn_before_and_after_beside_people() -> None:
    v = np.linspace(0.0, 1.0, 101)
    heights = {"before": 0.9 - 0.8 * v, "after": 0.9 - 0.4 * v, "people": 0.95 - 0.2 * v}
    # The areas of straight lines, by hand.
    areas = {"before": 0.5, "after": 0.7, "people": 0.85}
    row = {
        "corruption": "frost", "property": "accuracy", "trained_on": False, "interval": None,
        "before": {"area": areas["before"], "hmri": 0.6, "mrsi": 0.0},
        "after": {"area": areas["after"], "hmri": 0.8, "mrsi": 0.01},
        "difference": {"area": 0.2, "hmri": 0.2, "mrsi": 0.01},
        "curves": {"visual_change": v.tolist(), **{name: one.tolist() for name, one in heights.items()}},
    }  # fmt: skip
    drawn = FIGURES["retraining"].drawn(Retraining(name="net", report={"rows": [row]}), {})
    (axes,) = canvas(drawn, "column").axes
    lines = {line.get_label(): line for line in drawn_by(axes, "line")}
    for label, name in (("net before retraining", "before"), ("after retraining", "after"), ("people", "people")):
        found = np.trapezoid(lines[label].get_ydata(), lines[label].get_xdata())
        assert found == pytest.approx(areas[name])
    assert axes.get_title(loc="left") == "frost (not trained on)\nHMRI 0.600 → 0.800"
    assert [one["quantity"] for one in rows(drawn, 1)] == ["area", "hmri", "mrsi"]
    old = {name: value for name, value in row.items() if name != "curves"}
    for report, said in (({}, "not complete yet"), ({"rows": [old]}, "retrain again"), ({"rows": []}, "no curve")):
        with pytest.raises(InputRefused, match=said):
            FIGURES["retraining"].drawn(Retraining(name="net", report=report), {})


def test_curves_of_all_models_are_lines_alone(with_run: Analysed) -> None:
    # Bands and dots of eleven observers would hide each other.
    figure = models._curves(with_run.found, _name(NAMES[0]))
    assert {type(trace).__name__ for trace in figure.traces} == {"Line"}


def _name(corruption: str) -> Any:
    from humanexp.results.charts.chart import FigureName

    return FigureName(f"accuracy--{corruption}", corruption, "accuracy")
