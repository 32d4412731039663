"""Figures of curves beside numbers that were computed apart, and what is said where data are missing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.similarity.published import PUBLISHED_CLASSES
from humanexp.console.figures.registry import FIGURES
from humanexp.console.figures.subjects import Analysed
from humanexp.core.errors import InputRefused, InvalidRequest, NotFound
from humanexp.core.storage import media_path
from humanexp.studies.models import Study
from tests.console.figures.parts import band, canvas, changed, drawn_by, rows
from tests.results.large import MODELS, NAMES, V

pytestmark = pytest.mark.django_db


def test_people_s_curves_stand_in_a_panel_a_class_each_with_its_band(with_run: Analysed) -> None:
    drawn = FIGURES["people-by-function"].drawn(with_run, {})
    made = canvas(drawn)
    lines = [line for axes in made.axes for line in drawn_by(axes, "line")]
    bands = [one for axes in made.axes for one in drawn_by(axes, "band")]
    assert len(lines) == len(bands) == 14
    # The classes of the findings: the first three functions, and the other eleven, of which one axes holds eight.
    assert [len(drawn_by(axes, "line")) for axes in made.axes] == [3, 8, 3]
    human = band(with_run.found, "humans", NAMES[0])
    assert np.allclose(lines[0].get_ydata(), human.estimate)
    outline = bands[0].get_paths()[0].vertices
    assert outline[:, 1].max() == pytest.approx(max(human.simultaneous_upper))
    assert len({line.get_color() for line in drawn_by(made.axes[1], "line")}) >= 6, "told apart"
    overlapping = sum(one.overlap_83 for one in with_run.found.similarity if one.property == "accuracy")
    assert drawn.caption[1].startswith(f"{overlapping} of {14 * 13 // 2} pairs")


def test_the_data_beside_it_are_the_findings(with_run: Analysed) -> None:
    table = rows(FIGURES["people-by-function"].drawn(with_run, {"property": "consistency"}))
    assert len(table) == 14 * len(V)
    own = [row for row in table if row["function"] == NAMES[5]]
    human = band(with_run.found, "humans", NAMES[5], "consistency")
    assert [float(row["upper"]) for row in own] == list(human.simultaneous_upper)
    classes = {row["class"] for row in table}
    assert classes == {"blur", "noise", "colour", "weather"}, "families, as no classes of consistency were sought"


def test_panels_are_published_classes_or_families_where_these_are_chosen(with_run: Analysed) -> None:
    drawn = FIGURES["people-by-function"].drawn(with_run, {"panels": "published"})
    members: dict[str, set[str]] = {}
    for row in rows(drawn):
        members.setdefault(row["class"], set()).add(row["function"])
    assert {name: members[name] for name in PUBLISHED_CLASSES} == {k: set(v) for k, v in PUBLISHED_CLASSES.items()}
    assert len(members["Unlike any other"]) == 5 and len(members) == 3
    within = [
        one.verdict
        for one in with_run.found.similarity
        if one.property == "accuracy" and any(set(one.pair) <= set(own) for own in PUBLISHED_CLASSES.values())
    ]
    assert len(within) == 4 * 3 // 2 + 5 * 4 // 2
    (said,) = [one for one in drawn.caption if one.startswith("Panels: classes as published")]
    assert all(f"{within.count(verdict)} {verdict}" in said for verdict in set(within))
    families = rows(FIGURES["people-by-function"].drawn(with_run, {"panels": "families"}))
    assert {row["class"] for row in families} == {"blur", "noise", "colour", "weather"}
    with pytest.raises(InvalidRequest, match="found, families or published, not 'mine'"):
        FIGURES["people-by-function"].drawn(with_run, {"panels": "mine"})


def test_published_curves_are_drawn_with_the_bands_of_the_default_curve(large: Study, with_run: Analysed) -> None:
    found = json.loads(media_path(with_run.run.findings_file).read_text(encoding="utf-8"))
    for one in found["curves"]:
        ours = one["band"]
        one["band"] = {"v": ours["v"], "estimate": [0.5 for _ in ours["v"]]}
        one["own"] = {"area": one["area"], "interval": None, "band": ours}
    settings = {"seed": 7, "n_bootstrap": 1000, "level": 0.95, "margin": 0.03, "curve": "paper"}
    paper = changed(large, curves=found["curves"], settings=settings)
    drawn = FIGURES["people-by-function"].drawn(paper, {})
    made = canvas(drawn)
    assert set(drawn_by(made.axes[0], "line")[0].get_ydata()) == {0.5}
    outline = drawn_by(made.axes[0], "band")[0].get_paths()[0].vertices
    assert outline[:, 1].max() == pytest.approx(max(band(with_run.found, "humans", NAMES[0]).simultaneous_upper))
    assert any("as published" in one for one in drawn.caption)
    assert any("those of the default curve" in one for one in drawn.caption)
    for one in found["curves"]:
        del one["own"]["band"]
    with pytest.raises(InputRefused, match="humanexp analyse large --curve paper --bootstrap 1000"):
        FIGURES["people-by-function"].drawn(changed(large, curves=found["curves"], settings=settings), {})


def test_without_bands_it_says_how_to_get_them(large: Study, with_run: Analysed) -> None:
    found = json.loads(media_path(with_run.run.findings_file).read_text(encoding="utf-8"))
    for one in found["curves"]:
        one["band"] = {name: one["band"][name] for name in ("v", "estimate")}
    bare = changed(large, curves=found["curves"])
    with pytest.raises(InputRefused, match="humanexp analyse large --bootstrap 1000"):
        FIGURES["people-by-function"].drawn(bare, {})
    with pytest.raises(InputRefused, match="no curve of people's accuracy"):
        FIGURES["people-by-function"].drawn(changed(large, curves=[]), {})


def test_leads_are_the_regions_between_the_curves(with_run: Analysed) -> None:
    drawn = FIGURES["leads"].drawn(with_run, {"function": NAMES[2]})
    made = canvas(drawn)
    assert len(made.axes) == len(MODELS)
    table, areas = rows(drawn), rows(drawn, 1)
    best = max(areas, key=lambda row: float(row["hmri"]))
    own = [row for row in table if row["model"] == best["model"]]
    human, net = (np.array([float(row[name]) for row in own]) for name in ("people", "model_curve"))
    # The area of each drawn region against the mean of the difference, taken here.
    for gap, words in ((human - net, "A(h>m)"), (net - human, "A(m>h)")):
        wanted = float(np.trapezoid(np.maximum(gap, 0.0), V))
        regions = [one for one in drawn_by(made.axes[0], "band") if one.get_hatch() == _hatch(words)]
        found = sum(_area(path.vertices) for one in regions for path in one.get_paths())
        assert found == pytest.approx(wanted, abs=2e-4)
    assert f"A(h>m) {float(best['human_lead']):.3f}" in made.axes[0].get_title(loc="left")


def _hatch(words: str) -> str:
    return {"A(h>m)": "xxx", "A(m>h)": "////"}[words]


def _area(vertices: np.ndarray) -> float:
    """The area of a polygon, by the shoelace formula."""
    x, y = vertices[:, 0], vertices[:, 1]
    return abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2


def test_over_conditions_no_axis_is_called_visual_change(large: Study, with_run: Analysed) -> None:
    found = json.loads(media_path(with_run.run.findings_file).read_text(encoding="utf-8"))
    of_conditions = changed(large, curves=[one | {"abscissa": "condition"} for one in found["curves"]])
    for name in ("leads", "indices"):
        labels = {axes.get_xlabel() for axes in canvas(FIGURES[name].drawn(of_conditions, {})).axes} - {""}
        assert labels == {"condition"}, name
    title = canvas(FIGURES["confusions"].drawn(of_conditions, {})).axes[0].get_title(loc="left")
    assert title.startswith("people, condition")


def test_one_model_has_a_panel_a_function(with_run: Analysed) -> None:
    made = canvas(FIGURES["leads"].drawn(with_run, {"model": MODELS[1]}))
    assert len(made.axes) == 12, "what a page holds"
    with pytest.raises(NotFound, match="there are: resnet50"):
        FIGURES["leads"].drawn(with_run, {"model": "vgg"})


def test_the_drawn_definitions_agree_with_a_closed_form() -> None:
    drawn = FIGURES["definitions"].drawn(None, {})
    assert "Rγ is the mean of a property γ over visual change" in canvas(drawn).get_suptitle()
    found: dict[str, dict[str, float]] = {"accuracy": {}, "consistency": {}}
    for row in rows(drawn, 1):
        found[row["property"]][row["what"]] = float(row["value"])
    areas, consistency = found.values()

    def logistic(floor: float, height: float, middle: float, scale: float) -> float:
        soft = [np.log1p(np.exp((x - middle) / scale)) for x in (0.0, 1.0)]
        return floor + height * (1.0 - scale * (soft[1] - soft[0]))

    assert areas["human_area"] == pytest.approx(logistic(0.06, 0.90, 0.70, 0.06), abs=1e-4)
    assert areas["classifier_area"] == pytest.approx(logistic(0.32, 0.60, 0.45, 0.10), abs=1e-4)
    assert consistency["human_area"] == pytest.approx(logistic(0.10, 0.88, 0.74, 0.06), abs=1e-4)
    assert consistency["classifier_area"] == pytest.approx(logistic(0.40, 0.60, 0.50, 0.09), abs=1e-4)
    titles = [axes.get_title(loc="left").partition(" =")[0] for axes in canvas(drawn).axes]
    assert titles == ["people: R̂a", "model: R̂a", "HMRIa", "people: R̂p", "model: R̂p", "HMRIp"]
    # What is in both: the two definitions of the overlap must agree.
    overlap = areas["human_area"] - areas["human_lead"]
    assert overlap == pytest.approx(areas["classifier_area"] - areas["classifier_lead"], abs=1e-9)
    assert areas["hmri"] == pytest.approx(overlap / areas["human_area"])
