"""Each figure of the papers beside numbers that were computed apart, and what is said where data are missing."""

from __future__ import annotations

import csv
import itertools
import json
import secrets
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from analysis.findings.model.findings import Findings
from analysis.similarity.published import PUBLISHED_CLASSES
from humanexp.console.figures import models
from humanexp.console.figures.figure import Drawn
from humanexp.console.figures.registry import FIGURES, figures_of
from humanexp.console.figures.subjects import Analysed, analysed
from humanexp.core.errors import ApplicationError, InputRefused, InvalidRequest, NotFound, StudyRefused
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.evaluations.models import Retraining
from humanexp.results.models import AnalysisRun
from humanexp.results.selectors import latest_run
from humanexp.studies.models import Study
from tests.results.large import MODELS, NAMES, V, make_large_study

pytestmark = pytest.mark.django_db

STORED = Path(__file__).parents[1] / "analysis" / "findings" / "stored" / "findings-3.json"


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("lab")


@pytest.fixture
def large(user: User) -> Study:
    return make_large_study(user)


@pytest.fixture
def with_run(large: Study) -> Analysed:
    return analysed(large)


def changed(study: Study, **parts: Any) -> Analysed:
    """The study with an analysis of which these parts are others."""
    run = latest_run(study)
    assert run is not None
    content = json.loads(media_path(run.findings_file).read_text(encoding="utf-8")) | parts
    # Findings are read once a file name.
    relative = f"{run.findings_file}.{secrets.token_hex(6)}"
    media_path(relative).write_text(json.dumps(content), encoding="utf-8")
    return Analysed(study, AnalysisRun(study=study, findings_file=relative, pk=run.pk))


def canvas(drawn: Drawn, width: str = "page") -> Any:
    made = drawn.draw(width)
    made.draw_without_rendering()
    return made


def drawn_by(axes: Any, gid: str) -> list[Any]:
    return [one for one in axes.get_children() if one.get_gid() == gid]


def rows(drawn: Drawn, table: int = 0) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(drawn.tables()[table].to_csv())))


def band(found: Findings, population: str, corruption: str, measure: str = "accuracy") -> Any:
    return next(
        one.band
        for one in found.curves
        if (one.population, one.corruption, one.property) == (population, corruption, measure)
    )


# People under several functions ---------------------------------------------------------------------------------


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


# Leads ----------------------------------------------------------------------------------------------------------


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


def test_one_model_has_a_panel_a_function(with_run: Analysed) -> None:
    made = canvas(FIGURES["leads"].drawn(with_run, {"model": MODELS[1]}))
    assert len(made.axes) == 12, "what a page holds"
    with pytest.raises(NotFound, match="there are: resnet50"):
        FIGURES["leads"].drawn(with_run, {"model": "vgg"})


def test_the_drawn_definitions_agree_with_a_closed_form() -> None:
    drawn = FIGURES["definitions"].drawn(None, {})
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


# Errors ---------------------------------------------------------------------------------------------------------

_POOLED = {"observed": 0.7, "expected": 0.5, "pictures": 400, "accuracies": [0.8, 0.7], "is_stratified": True}


def agreeing(study: Study) -> Analysed:
    """People among themselves at .5, the models below; the last shares too few pictures."""
    means = {"accuracy_difference": None, "observed_consistency": None, "error_consistency": None, "pairs": 0}
    entries = [("humans", "humans", 0.82, 0.5)]
    entries += [(name, "classifier", 0.8 - 0.05 * n, 0.4 - 0.06 * n) for n, name in enumerate(MODELS[:9])]
    agreement = [
        {"observer": name, "kind": kind, "ood_accuracy": accuracy, **means, "pooled": _POOLED | {"kappa": kappa},
         "interval": [kappa - 0.04, kappa + 0.04], "n": 400, "conditions": []}
        for name, kind, accuracy, kappa in entries
    ]  # fmt: skip
    last = agreement[-1] | {"observer": MODELS[9], "pooled": None, "interval": None}
    return changed(study, agreement=[*agreement, last])


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
    table = rows(FIGURES["confusions"].drawn(changed(large, confusion=entries), {"accuracy": "0.9"}))
    assert [row["from"] for row in table][::6] == ["0.5", "0.0"]


# Networks -------------------------------------------------------------------------------------------------------


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
    for label, name in (("net before", "before"), ("after retraining", "after"), ("people", "people")):
        found = np.trapezoid(lines[label].get_ydata(), lines[label].get_xdata())
        assert found == pytest.approx(areas[name])
    assert axes.get_title(loc="left") == "frost (not trained on)\nHMRI 0.600 → 0.800"
    assert [one["quantity"] for one in rows(drawn, 1)] == ["area", "hmri", "mrsi"]
    old = {name: value for name, value in row.items() if name != "curves"}
    for report, said in (({}, "not complete yet"), ({"rows": [old]}, "retrain again"), ({"rows": []}, "no curve")):
        with pytest.raises(InputRefused, match=said):
            FIGURES["retraining"].drawn(Retraining(name="net", report=report), {})


# Every figure ---------------------------------------------------------------------------------------------------


@pytest.mark.verify
def test_letters_are_readable_in_a_column(large: Study) -> None:
    subject = agreeing(large)
    for name in ("people-by-function", "indices", "consistency", "confusions"):
        made = canvas(FIGURES[name].drawn(subject, {}), "column")
        assert made.get_figwidth() == pytest.approx(3.5)
        from matplotlib.text import Text

        sizes = {text.get_fontsize() for text in made.findobj(Text) if text.get_text().strip() and text.get_visible()}
        assert min(sizes) >= 6.0, name


def test_choices_that_a_figure_does_not_take_are_refused(with_run: Analysed) -> None:
    for given, said in (
        ({"original": "cat"}, "Nothing can be chosen by original in this figure; it takes function, model, property"),
        ({"property": "speed"}, "accuracy or consistency, not 'speed'"),
    ):
        with pytest.raises(InvalidRequest, match=said):
            FIGURES["leads"].drawn(with_run, given)
    with pytest.raises(InvalidRequest, match="numbers from 0 to 1 with a point, not '1,5'|not '5'"):
        FIGURES["confusions"].drawn(with_run, {"accuracy": "5"})


_OF_DEFINITIONS = ["definitions.csv", "definitions.pdf", "definitions.png", "definitions.svg"]


@pytest.mark.verify
def test_the_command_writes_the_figure_with_its_data(large: Study, tmp_path: Path) -> None:
    subject = agreeing(large)
    subject.run.pk = None
    subject.run.save()
    out = StringIO()
    call_command("figure", "definitions", "--to", str(tmp_path), "--format", "pdf,svg,png", stdout=out)
    call_command("figure", "consistency", "large", "--to", str(tmp_path), "--width", "column", stdout=out)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["consistency.csv", "consistency.pdf", "definitions-areas.csv", *_OF_DEFINITIONS]
    # A page of 183 mm, in points.
    assert b"/MediaBox [ 0 0 518.4" in (tmp_path / "definitions.pdf").read_bytes()
    for arguments, said in (
        (["leads"], "is drawn of a study"),
        (["leads", "nothing"], "nothing"),
        (["nothing", "large"], "There is no figure 'nothing'; there are: definitions"),
        (["leads", "large", "--format", "gif"], "not as 'gif'"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("figure", *arguments, "--to", str(tmp_path / "not"))
    assert not (tmp_path / "not").exists()


def test_the_list_names_every_figure_once() -> None:
    out = StringIO()
    call_command("figure", "--list", stdout=out)
    heads = [line for line in out.getvalue().splitlines() if not line.startswith(" ")]
    assert [line.partition(":")[0] for line in heads] == list(FIGURES)
    assert set(itertools.chain(*(PUBLISHED_CLASSES.values()))) <= set(NAMES)


def test_the_documents_name_every_figure_with_its_papers() -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
    section = text.partition("## The papers' figures")[2].partition("\n## ")[0]
    told = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| `")]
    assert [(name.strip("`"), of, papers) for name, of, _, papers in told] == [
        (one.name, one.of, one.papers) for one in FIGURES.values()
    ]


@pytest.mark.verify
def test_the_page_shows_every_figure_or_says_what_it_lacks(client: Client, user: User, large: Study) -> None:
    client.force_login(user)
    body = client.get(reverse("console:figures", args=["large"])).content.decode()
    for figure in figures_of("study"):
        assert f'id="{figure.name}"' in body
        try:
            figure.drawn(analysed(large), {})
        except ApplicationError:
            assert f"It needs {escape(figure.needs)}." in body
        else:
            assert f"/studies/large/figures/{figure.name}.png?inline=1" in body
    csv_file = client.get(reverse("console:figure", args=["large", "leads", "csv"]), {"table": "areas"})
    assert len(csv_file.content.decode().splitlines()) == 1 + len(MODELS)
    assert client.get(reverse("console:figure", args=["large", "leads", "png"])).content.startswith(b"\x89PNG")
    assert client.get(reverse("console:figure", args=["large", "leads", "gif"])).status_code == 404
    assert client.get(reverse("console:figure", args=["large", "functions", "png"])).status_code == 404


def test_a_study_without_analysis_says_so(client: Client, user: User, large: Study) -> None:
    AnalysisRun.objects.all().delete()
    client.force_login(user)
    assert "has not been analysed" in client.get(reverse("console:figures", args=["large"])).content.decode()
    with pytest.raises(StudyRefused, match="humanexp analyse large"):
        analysed(large)


def test_curves_of_all_models_are_lines_alone(with_run: Analysed) -> None:
    # Bands and dots of eleven observers would hide each other.
    figure = models._curves(with_run.found, _name(NAMES[0]))
    assert {type(trace).__name__ for trace in figure.traces} == {"Line"}


def _name(corruption: str) -> Any:
    from humanexp.results.charts.chart import FigureName

    return FigureName(f"accuracy--{corruption}", corruption, "accuracy")
