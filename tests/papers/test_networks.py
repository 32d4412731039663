"""VCR's networks by kind and functions by class, by the commands of docs/papers.md, beside closed forms and counts."""

from __future__ import annotations

import json
from itertools import combinations
from statistics import NormalDist, fmean
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.db.models import F

from analysis.observers.kinds import KINDS
from analysis.similarity.published import PUBLISHED_CLASSES
from humanexp.core.storage import media_path
from humanexp.evaluations.models import EvaluationRun
from humanexp.participation.models import Response
from tests.downloads import rows_of
from tests.factories import make_stimulus_set, no_png
from tests.labels import of_the_sixteen
from tests.papers.test_curves import TRUE_AREA, area, found, planned
from tests.papers.workspace import Workspace, answered, told
from tests.results.collected import human_rate, make_predictions

pytestmark = [pytest.mark.verify, of_the_sixteen]
NOISE, BLUR = ("gaussian_noise", "shot_noise"), ("gaussian_blur", "defocus_blur")
#: From which visual change on each network is wrong, and its kind.
NETWORKS = {"late": (0.9, "vit"), "early": (0.4, "supervised"), "never": (0.0, "supervised"), "all": (2.0, "clip")}
#: People are wrong about every blurred picture beyond it.
BLURRED = 0.4


@pytest.fixture(scope="module")
def apart(workspace: Workspace) -> dict[str, Any]:
    """Findings of a study in which blur is harder than noise, and of networks of three kinds.

    A verdict needs five stimuli in each twentieth of visual change.
    """
    made = make_stimulus_set(
        "apart", per_category=4, per_function=120, functions=NOISE + BLUR, plain=(), picture=no_png
    )
    analysis = {"estimand": "people", "margin": 0.1, "band_margin": 0.3}
    study = planned(workspace, "apart", stimuli=made.name, rules="none", analysis=analysis)
    answered(study)
    late = Response.objects.filter(
        session__study=study, trial__stimulus__corruption__in=BLUR, trial__stimulus__visual_change__gt=BLURRED
    ).filter(correct=True)
    late.filter(trial__correct_response="cat").update(response="dog", correct=False)
    late.update(response="cat", correct=False)
    for name, (loses_from, kind) in NETWORKS.items():
        run = make_predictions(study, name, loses_from=loses_from)
        run.kind = kind
        run.save()
    told("analyse", "apart", "--bootstrap=40", f"--json={workspace.folder / 'apart.json'}")
    numbers: dict[str, Any] = json.loads((workspace.folder / "apart.json").read_text(encoding="utf-8"))
    return numbers


def given(**which: Any) -> pd.DataFrame:
    """People's answers in the database."""
    columns = {
        "v": F("trial__stimulus__visual_change"), "original": F("trial__stimulus__source_image__key"),
        "person": F("session__code"), "said": F("response"), "right": F("correct"),
    }  # fmt: skip
    rows = Response.objects.filter(session__study__slug="apart", **which).values(**columns)
    return pd.DataFrame(list(rows)).astype({"right": float})


def people(function: str, measure: str = "accuracy") -> float:
    """The mean over visual change, whose values are spaced evenly, without any curve."""
    own = given(trial__stimulus__corruption=function)
    if measure == "accuracy":
        return float(own["right"].mean())
    pairs = own.merge(given(trial__role="clean"), on="original", suffixes=("", "_clean"))
    pairs = pairs[pairs["person"] != pairs["person_clean"]]
    return float((pairs["said"] == pairs["said_clean"]).mean())


def network(name: str, function: str, measure: str = "accuracy") -> float:
    """The same of a network; its consistency is with its own answer to the clean picture."""
    run = EvaluationRun.objects.get(name=name, stimulus_set__name="apart")
    table = pd.read_parquet(media_path(run.predictions_file))
    own = table[table["corruption"] == function]
    clean = table[table["corruption"] == "none"].set_index("original")["response"]
    wanted = own["category"] if measure == "accuracy" else own["original"].map(clean)
    return float((own["response"] == wanted).mean())


def table(workspace: Workspace, key: str, name: str) -> list[dict[str, str]]:
    """A table of the results' pages as it is downloaded."""
    return rows_of(workspace.client.get(f"/studies/apart/results/tables/{key}/{name}.csv"))


@pytest.mark.parametrize("name", NETWORKS)
def test_indices_and_where_a_network_is_above_people_are_those_of_a_closed_form(
    workspace: Workspace, apart: dict[str, Any], name: str
) -> None:
    v = np.linspace(0.0, 1.0, 10_001)
    ahead = (v < NETWORKS[name][0]) - np.array([human_rate(one) for one in v])
    human_lead, model_lead = (float(np.trapezoid(np.maximum(one, 0.0), v)) for one in (-ahead, ahead))
    one = found(apart["comparisons"], classifier=name, corruption=NOISE[0], property="accuracy")
    assert one["hmri"] == pytest.approx(1 - human_lead / TRUE_AREA, abs=0.03)
    assert one["mrsi"] == pytest.approx(model_lead / (min(NETWORKS[name][0], 1.0) or 1.0), abs=0.03)
    windows = one["verdict"]["windows"]
    assert len(windows) > 5
    for window in windows:
        low, high = window["range"]
        assert window["difference"] == pytest.approx(ahead[(v >= low) & (v <= high)].mean(), abs=0.08)
    for word, sign in (("exceeds", 1), ("falls_short", -1)):
        for low, high in one[word]:
            assert sign * ahead[(v >= low) & (v <= high)].mean() > 0
    # The three cases: never below people, never above, and both.
    shown = (bool(one["exceeds"]), bool(one["falls_short"]))
    assert shown == {"all": (True, False), "never": (False, True)}.get(name, shown)
    assert name != "late" or 0.8 <= one["exceeds"][-1][1] < 1.0, "up to where it is wrong"
    rows = table(workspace, f"indices--accuracy--{NOISE[0]}", "indices")
    cell = found(rows, model=name)["verdict"]
    assert cell.startswith(one["verdict"]["statement"])
    for word, ranges in (("above", one["exceeds"]), ("below", one["falls_short"])):
        assert (f"{word} people" in cell) == bool(ranges)
        assert all(f"{low:.2f} to {high:.2f}" in cell for low, high in ranges)


def test_networks_are_drawn_by_kind_in_its_colour(workspace: Workspace, apart: dict[str, Any]) -> None:
    kinds = {"clean": "supervised", "robust": "corruptions"}
    assert workspace.findings["settings"]["network_kinds"] == kinds, "as evaluate --kind says"
    rows = workspace.drawn("indices", "apart", "--function=all")["indices"]
    assert [row["model"] for row in rows] == ["late", "early", "never", "all"], "by kind, and by HMRI in each"
    for row in rows:
        numbers = indices_of(apart, [row["model"]], NOISE + BLUR, "accuracy")
        assert float(row["hmri"]) == pytest.approx(numbers["hmri"], abs=5e-3)
        assert float(row["mrsi"]) == pytest.approx(numbers["mrsi"], abs=5e-3)
    drawing = max(workspace.folder.glob("figures-*/indices.svg"), key=lambda file: file.stat().st_mtime).read_text()
    for kind, bars in (("vit", 2), ("supervised", 4), ("clip", 2)):
        assert KINDS[kind].name in drawing
        assert drawing.count(f"fill: {KINDS[kind].colour.lower()}") == bars + 1, "HMRI and MRSI, and the legend"


def indices_of(apart: dict[str, Any], networks: list[str], functions: tuple[str, ...], measure: str) -> dict[str, Any]:
    """Means of HMRI and MRSI from areas between the stored curves."""
    numbers: dict[str, list[float]] = {"hmri": [], "mrsi": []}
    for function in functions:
        for name in networks:
            both = [
                found(apart["curves"], population=one, corruption=function, property=measure)["band"]
                for one in ("humans", name)
            ]
            heights = zip(both[0]["v"], both[0]["estimate"], both[1]["estimate"], strict=True)
            rows: Any = [{"visual_change": v, "people": human, "model": model} for v, human, model in heights]
            numbers["hmri"].append(1 - area(rows, "people", "model") / area(rows, "people"))
            numbers["mrsi"].append(area(rows, "model", "people") / max(area(rows, "model"), 1e-9))
    return {name: fmean(values) for name, values in numbers.items()}


@pytest.mark.parametrize("grouping", ["kinds", "families"])
def test_means_of_kinds_and_families_are_those_of_the_answers(
    workspace: Workspace, apart: dict[str, Any], grouping: str
) -> None:
    groups: dict[str, tuple[list[str], tuple[str, ...]]] = {
        "noise": (list(NETWORKS), NOISE), "blur": (list(NETWORKS), BLUR)
    }  # fmt: skip
    if grouping == "kinds":
        kinds = dict.fromkeys(kind for _, kind in NETWORKS.values())
        groups = {
            KINDS[kind].name: ([name for name in NETWORKS if NETWORKS[name][1] == kind], NOISE + BLUR) for kind in kinds
        }
    rows = table(workspace, f"means--{grouping}", f"means-{grouping}")
    assert {row["group"] for row in rows} == set(groups)
    gaps = [float(row["difference"]) for row in rows]
    assert grouping == "kinds" or gaps == sorted(gaps), "the family with the widest gap is first"
    for group, (names, functions) in groups.items():
        row = found(rows, group=group)
        differences = [network(name, one) - people(one) for name in names for one in functions]
        assert float(row["difference"]) == pytest.approx(fmean(differences), abs=0.02)
        assert float(row["hmri"]) == pytest.approx(indices_of(apart, names, functions, "accuracy")["hmri"], abs=5e-3)
        consistent = found(table(workspace, f"means--{grouping}", f"consistency-{grouping}"), group=group)
        human = fmean(people(one, "consistency") for one in functions)
        model = fmean(network(name, one, "consistency") for name in names for one in functions)
        assert float(consistent["human_area"]) == pytest.approx(human, abs=0.03)
        assert float(consistent["model_area"]) == pytest.approx(model, abs=0.03)
        numbers = indices_of(apart, names, functions, "consistency")
        assert float(consistent["hmri"]) == pytest.approx(numbers["hmri"], abs=5e-3)


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize("measure", ["accuracy", "consistency"])
def test_people_s_curves_of_several_functions_are_in_one_axes_with_their_bands(
    workspace: Workspace, measure: str
) -> None:
    rows = workspace.drawn("people-by-function", "apart", "--panels=published", f"--property={measure}")
    members: dict[str, set[str]] = {}
    for row in rows["people-by-function"]:
        members.setdefault(row["class"], set()).add(row["function"])
    assert members == {"Noise": set(NOISE), "Blur": set(BLUR)}
    assert all(members[name] <= set(PUBLISHED_CLASSES[name]) for name in members)
    for function in NOISE + BLUR:
        own = [row for row in rows["people-by-function"] if row["function"] == function]
        assert area(own, "estimate") == pytest.approx(people(function, measure), abs=0.03)
        v, low, high = (np.array([float(row[name]) for row in own]) for name in ("visual_change", "lower", "upper"))
        if function in NOISE:
            right = np.array([human_rate(one) for one in v])
            # Another person's clean answer is right in .95, and all wrong answers to one picture are the same.
            truth = right if measure == "accuracy" else 0.95 * right + 0.05 * (1 - right)
            assert ((low <= truth) & (truth <= high)).mean() > 0.8


def test_functions_differ_where_the_drawn_bands_do_not_overlap(workspace: Workspace, apart: dict[str, Any]) -> None:
    drawn = workspace.drawn("people-by-function", "apart")["people-by-function"]
    rows = table(workspace, "similarity--accuracy--humans", "similarity")
    assert len(rows) == 6
    alike = {frozenset(pair) for pair in (NOISE, BLUR)}
    for first, second in combinations(NOISE + BLUR, 2):
        (one,) = [
            one for one in apart["similarity"] if one["property"] == "accuracy" and set(one["pair"]) == {first, second}
        ]
        (row,) = [row for row in rows if {row["first"], row["second"]} == {_spaced(first), _spaced(second)}]
        wide, near = [], []
        for function in (first, second):
            own = [row for row in drawn if row["function"] == function]
            wide.append(tuple(np.array([float(row[name]) for row in own]) for name in ("lower", "upper")))
            near.append(_pointwise(apart, function))
        v = np.array([float(row["visual_change"]) for row in own])
        inside = (v >= one["range"][0]) & (v <= one["range"][1])
        for column, ((low, high), (low_two, high_two)) in (("overlap_83", wide), ("overlap_83_pointwise", near)):
            overlap = bool(((low <= high_two) & (low_two <= high))[inside].all())
            assert row[column] == ("overlap" if overlap else "part")
            assert column != "overlap_83" or overlap == ({first, second} in alike)
        assert row["verdict"].startswith("equivalent" if {first, second} in alike else "different")


def _spaced(function: str) -> str:
    return function.replace("_", " ")


def _pointwise(apart: dict[str, Any], function: str) -> tuple[np.ndarray, np.ndarray]:
    """The 83 % band at each visual change for itself, from the stored one of 95 %."""
    band = found(apart["curves"], population="humans", corruption=function, property="accuracy")["band"]
    estimate, lower, upper = (np.array(band[name]) for name in ("estimate", "lower", "upper"))
    wide, near = (NormalDist().inv_cdf(0.5 + level / 2) for level in (band["level"], 0.8342))
    reach = np.maximum(estimate - lower, upper - estimate) * near / wide
    return np.clip(estimate - reach, 0, 1), np.clip(estimate + reach, 0, 1)


def test_classes_are_the_functions_of_which_all_pairs_are_equivalent(
    workspace: Workspace, apart: dict[str, Any]
) -> None:
    (entry,) = [one for one in apart["classes"] if (one["population"], one["property"]) == ("humans", "accuracy")]
    assert {frozenset(one) for one in entry["classes"]} == {frozenset(NOISE), frozenset(BLUR)}
    page = workspace.page("/studies/apart/results/corruptions/")
    for names in entry["classes"]:
        assert " · ".join(map(_spaced, names)) in page
