"""VCR's studies, curves and indices by the commands of docs/papers.md, beside numbers that are computed apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.test import Client

from analysis.generation.files import decode_png
from analysis.study.study import StudyConfiguration
from humanexp.participation.models import Response
from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Study
from humanexp.studies.presets import preset
from humanexp.studies.services import start_collecting
from tests.factories import SIZE_PX, Tab, configuration, make_stimulus_set, no_png, whole_plan
from tests.labels import of_the_sixteen
from tests.papers.workspace import FUNCTIONS, Workspace, answered, stimulus_set, told
from tests.participation.test_qualification import answer_block, someone
from tests.results.collected import human_rate

pytestmark = [pytest.mark.verify, of_the_sixteen]
#: Of straight pieces: .95 to .7, then down by 2.5 a unit to .2.
TRUE_AREA = 0.95 - 0.3 * 0.75 / 2
NETWORKS = ("clean", "robust")
DOCS = Path(__file__).resolve().parents[2] / "docs" / "paper-mode.md"


def found(entries: list[dict[str, Any]], **wanted: Any) -> dict[str, Any]:
    (one,) = [one for one in entries if all(one[name] == value for name, value in wanted.items())]
    return one


def people(workspace: Workspace, function: str) -> dict[str, Any]:
    return found(workspace.findings["curves"], population="humans", corruption=function, property="accuracy")


def answers(function: str) -> tuple[np.ndarray, np.ndarray]:
    """Visual change and whether it was right, of every answer in the database."""
    rows = Response.objects.filter(session__study__slug="demo", trial__stimulus__corruption=function)
    v, right = zip(*rows.values_list("trial__stimulus__visual_change", "correct"), strict=True)
    return np.array(v), np.array(right, dtype=float)


def mean_of_bins(v: np.ndarray, values: np.ndarray, n: int) -> float:
    """The mean over visual change without any curve: of the means in bins of equal width."""
    places = np.minimum((v * n).astype(int), n - 1)
    return float(np.mean([values[places == place].mean() for place in range(n) if (places == place).any()]))


def area(rows: list[dict[str, str]], upper: str, lower: str = "") -> float:
    """Between two columns of a table of curves, where the first is above; of one alone, below it."""
    v, high = (np.array([float(row[name]) for row in rows]) for name in ("visual_change", upper))
    low = np.array([float(row[lower]) for row in rows]) if lower else 0.0
    return float(np.trapezoid(np.maximum(high - low, 0.0), v))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_areas_are_the_truth_and_the_mean_of_the_answers(workspace: Workspace, function: str) -> None:
    v, right = answers(function)
    curve = people(workspace, function)
    assert curve["n"] == len(right) and sum(one["n"] for one in curve["bins"]) == len(right)
    assert curve["area"] == pytest.approx(TRUE_AREA, abs=0.02) == pytest.approx(mean_of_bins(v, right, 10), abs=0.03)
    for name in NETWORKS:
        own = found(workspace.findings["curves"], population=name, corruption=function, property="accuracy")
        assert own["n"] == stimulus_set().stimuli.filter(corruption=function).count()


def test_people_are_counted_and_right_as_in_the_answers(workspace: Workspace) -> None:
    """What is fed in: accepted answers to corrupted pictures, nothing else."""
    given = Response.objects.filter(session__study__slug="demo")
    trials = workspace.findings["trials"]
    assert trials["in_accepted_sessions"] == given.count()
    assert workspace.findings["sessions"]["accepted"] == workspace.findings["sessions"]["submitted"]
    told_rates = {one["condition"]: one["mean_over_observers"] for one in workspace.findings["human_accuracy"]}
    for function in FUNCTIONS:
        assert told_rates[function] == pytest.approx(answers(function)[1].mean(), abs=1e-9)


def test_algorithm_1_is_drawn_through_the_bins_that_are_counted_apart(workspace: Workspace) -> None:
    paper = workspace.analysed("demo", "--curve=paper")
    clean = Response.objects.filter(session__study__slug="demo", trial__role="clean").values_list("correct", flat=True)
    for function in FUNCTIONS:
        v, right = answers(function)
        curve = found(paper["curves"], population="humans", corruption=function, property="accuracy")
        # j = floor(v (M - 1)), M = 40; fewer than 20 answers are no bin.
        places = np.floor(39 * v).astype(int)
        counts = np.bincount(places, minlength=40)
        kept = np.flatnonzero(counts >= 20)
        assert [one["n"] for one in curve["bins"]] == counts[kept].tolist()
        rates = np.array([right[places == place].mean() for place in kept])
        assert [one["rate"] for one in curve["bins"]] == pytest.approx(rates.tolist())
        assert curve["anchor"]["value"] == pytest.approx(np.mean([float(one) for one in clean]))
        # A monotone median line, nowhere far from the mean through the bins, which has the same area.
        line = np.array(curve["band"]["estimate"])
        assert (np.diff(line) <= 1e-9).all()
        assert curve["area"] == pytest.approx(np.trapezoid(line, curve["band"]["v"]), abs=2e-3)
        assert curve["area"] == pytest.approx(np.mean(rates), abs=0.03) and curve["interval"] is None


def test_leads_and_indices_are_areas_between_the_drawn_curves(workspace: Workspace) -> None:
    drawn = workspace.drawn("leads", "demo", "--function=gaussian_noise")
    for row in drawn["leads-areas"]:
        own = [one for one in drawn["leads"] if one["model"] == row["model"]]
        human, model = area(own, "people"), area(own, "model_curve")
        lead, other = area(own, "people", "model_curve"), area(own, "model_curve", "people")
        numbers = {"human_area": human, "model_area": model, "human_lead": lead, "model_lead": other,
                   "hmri": (human - lead) / human, "mrsi": other / model}  # fmt: skip
        assert {name: float(row[name]) for name in numbers} == pytest.approx(numbers, abs=2e-3)
        compared = found(
            workspace.findings["comparisons"], classifier=row["model"], corruption="gaussian_noise", property="accuracy"
        )
        assert compared["corruption_error"]["value"] == pytest.approx((1 - model) / (1 - human), abs=0.02)
    assert len(drawn["leads-areas"]) == len(NETWORKS)


def test_the_definitions_are_drawn_with_their_areas(workspace: Workspace) -> None:
    drawn = workspace.drawn("definitions")
    for measure in ("accuracy", "consistency"):
        own = [row for row in drawn["definitions"] if row["property"] == measure]
        values = {row["what"]: float(row["value"]) for row in drawn["definitions-areas"] if row["property"] == measure}
        assert values["human_area"] == pytest.approx(area(own, "people"), abs=1e-6)
        assert values["human_lead"] == pytest.approx(area(own, "people", "model"), abs=1e-6)
        assert values["mrsi"] == pytest.approx(area(own, "model", "people") / area(own, "model"), abs=1e-6)


def test_networks_are_told_apart_where_they_differ(workspace: Workspace) -> None:
    pairs = [one for one in workspace.findings["classifier_similarity"] if one["property"] == "accuracy"]
    page = workspace.page("/studies/demo/results/corruptions/?similarity=similarity--accuracy--clean")
    for one in pairs:
        if one["population"] == "clean":
            first, second = (_named_right("clean", name) for name in one["pair"])
            assert one["difference"] == pytest.approx(mean_of_bins(*first, 10) - mean_of_bins(*second, 10), abs=0.06)
            assert one["verdict"] in page


def _named_right(network: str, function: str) -> tuple[np.ndarray, np.ndarray]:
    from humanexp.core.storage import media_path
    from humanexp.evaluations.models import EvaluationRun

    run = EvaluationRun.objects.get(name=network, stimulus_set__name="demo")
    table = pd.read_parquet(media_path(run.predictions_file))
    own = table[table["corruption"] == function]
    return own["visual_change"].to_numpy(float), (own["response"] == own["category"]).to_numpy(float)


def test_weights_and_borrowed_curves_are_settings_of_a_study_file(workspace: Workspace) -> None:
    lines = (
        'change_weights = [[0,0],[0.6,0],[0.6,1],[1,1]]\nborrow = { uniform_noise = "gaussian_noise" }\n'
        'estimand = "answers"'
    )
    answered(workspace.planned("snow", analysis=lines))
    numbers = workspace.analysed("snow")
    curve = found(numbers["curves"], population="humans", corruption="gaussian_noise", property="accuracy")
    v, line = np.array(curve["band"]["v"]), np.array(curve["band"]["estimate"])
    late = v >= 0.6 - 1e-9
    assert curve["weighted"]["value"] == pytest.approx(np.trapezoid(line[late], v[late]) / 0.4, abs=2e-3)
    truth = np.mean([human_rate(one) for one in np.linspace(0.6, 1, 1001)])
    assert curve["weighted"]["value"] == pytest.approx(truth, abs=0.04)
    borrowed = found(
        numbers["comparisons"], classifier="clean", corruption="uniform_noise", property="accuracy", borrowed=True
    )
    assert borrowed["human_area"] == pytest.approx(curve["area"], abs=1e-12)


def test_a_property_of_one_s_own_is_taken_from_an_export(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    told("export", "demo", "--to", workspace.folder / "export")
    section = DOCS.read_text(encoding="utf-8").split("## Any property")[1]
    code = section.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(workspace.folder)
    made: dict[str, Any] = {}
    exec(code.replace("frost", "gaussian_noise").replace("n_bootstrap=1000", "n_bootstrap=20"), made)  # noqa: S102
    rows = Response.objects.filter(session__study__slug="demo", trial__stimulus__corruption="gaussian_noise")
    given = rows.values_list("trial__stimulus__visual_change", "trial__correct_response", "response")
    vehicle = {"car": "vehicle", "truck": "vehicle"}
    v, safe = zip(*((v, vehicle.get(one, one) == vehicle.get(said, said)) for v, one, said in given), strict=True)
    assert made["people"].area == pytest.approx(mean_of_bins(np.array(v), np.array(safe, float), 10), abs=0.03)
    low, high = made["people"].area_interval
    assert low < made["people"].area < high


def planned(workspace: Workspace, slug: str, *, stimuli: str = "rows", **changes: Any) -> Study:
    """A study that `create_study` has planned on rows of stimuli, which suffice where no picture is shown."""
    file = workspace.folder / f"{slug}.toml"
    file.write_text(configuration(spec=StudyConfiguration.VERSION, slug=slug, stimuli=stimuli, **changes).to_toml())
    told("create_study", file)
    return Study.objects.get(slug=slug)


@pytest.fixture(scope="module")
def rows(workspace: Workspace) -> dict[str, Stimulus]:
    """Stimuli of 160 originals, by their keys."""
    made = make_stimulus_set("rows", per_category=10, functions=FUNCTIONS, picture=no_png)
    return {one.key: one for one in made.stimuli.select_related("source_image")}


def opened(study: Study, code: str) -> Tab:
    return someone(Client(), start_collecting(study=study), code)


@pytest.mark.usefixtures("rows")
def test_a_session_of_vcr_is_a_choice_of_sixteen_after_200_ms_and_noise(workspace: Workspace) -> None:
    values = preset("vcr").values
    study = planned(workspace, "glance", rules=values["rules"], design=values["design"])
    tab = opened(study, "P-1")
    told_to_page = tab.get("session/").json()
    assert told_to_page["protocol"]["stimulus_ms"] == 200 and told_to_page["protocol"]["mask_ms"] > 0
    assert len({one["name"] for one in told_to_page["choices"]["categorisation"]}) == 16
    masks = [decode_png(tab.get(f"trials/{place}/mask/").content).astype(float) for place in range(2)]
    assert all(one.shape[:2] == (SIZE_PX, SIZE_PX) and one.std() > 20 for one in masks)
    assert abs(np.corrcoef(masks[0].ravel(), masks[1].ravel())[0, 1]) < 0.5, "each trial has noise of its own"


@pytest.mark.usefixtures("rows")
def test_only_who_passes_the_qualification_and_the_sentinels_counts(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("humanexp.participation.presentation.SHARE", 0)
    design = {"sessions": 3, "main_trials": 16, "practice_trials": 2, "qualification_trials": 16}
    study = planned(workspace, "gated", rules="vcr", design=design)
    for code, wrong_in in (("P-OUT", "qualification"), ("P-CARELESS", "main"), ("P-IN", "")):
        tab = opened(study, code)
        blocks, cursor = tab.session.blocks, 0
        while cursor < tab.session.total:
            (place,) = [place for place, block in enumerate(blocks) if block["first"] == cursor]
            cursor = answer_block(tab, place, wrong=100 if blocks[place]["kind"] == wrong_in else 0)
        assert tab.post("complete/", {"environment": {}}).json()["qualified"] is (code != "P-OUT")
    numbers = workspace.analysed("gated")
    assert (numbers["sessions"]["completed"], numbers["sessions"]["accepted"]) == (3, 1)
    excluded = numbers["sessions"]["excluded"]
    assert excluded["qualification failed"] == 1 and any("gold" in reason for reason in excluded)
    assert {(one["observers"], one["mean_over_observers"]) for one in numbers["human_accuracy"]} == {(1, 1.0)}


def test_five_people_name_each_picture_and_none_of_them_an_original_twice(
    workspace: Workspace, rows: dict[str, Stimulus]
) -> None:
    design = {"sessions": 200, "main_trials": 16, "consistency_pairs": 0, "answers_per_stimulus": 5}
    plan = whole_plan(planned(workspace, "five", rules="none", design=design))
    people: dict[str, list[int]] = defaultdict(list)
    for session in plan.sessions:
        originals = [rows[name].source_image.key for trial in session.trials for name in trial.stimuli]
        assert len(set(originals)) == len(originals)
        for trial in session.trials:
            if trial.role == "main":
                people[trial.stimulus].append(session.slot)
    counts = Counter(len(set(slots)) for slots in people.values())
    assert all(len(set(slots)) == len(slots) for slots in people.values())
    # The stimuli of the main originals are all used up, but for a few that no session could take.
    assert max(counts) == 5 and counts[5] >= 0.9 * counts.total()
    main = [one for one in rows.values() if one.source_image.key in plan.pools["main"] and one.corruption in FUNCTIONS]
    assert len(people) >= 0.95 * len(main)


def test_half_of_the_pairs_are_of_one_function_and_none_is_named(
    workspace: Workspace, rows: dict[str, Stimulus]
) -> None:
    block = {"trials": 12, "sentinels": 4, "practice": 2}
    study = planned(workspace, "pairs", rules="vcr", design={"sessions": 6, "main_trials": 0, "discrimination": block})
    compared: Counter[frozenset[str]] = Counter()
    for session in whole_plan(study).sessions:
        same: Counter[str] = Counter()
        for trial in session.trials:
            functions = [rows[name].corruption for name in trial.stimuli]
            assert len(functions) == 2 and trial.correct_response == (
                "same" if len(set(functions)) == 1 else "different"
            )
            if trial.role == "main":
                same[trial.correct_response] += 1
                compared[frozenset(functions)] += 1
        assert same == {"same": 6, "different": 6}
    assert len(compared) == 6, "each function with itself, and each two of the three"
    told_to_page = opened(study, "P-1").get("session/").content.decode()
    assert "discrimination" in told_to_page
    for name in {one.corruption for one in rows.values()} - {"none"}:
        assert name not in told_to_page and name.replace("_", " ") not in told_to_page
