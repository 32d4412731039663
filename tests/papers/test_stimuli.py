"""VCR's stimuli by the commands of docs/papers.md, beside numbers that are computed apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.corruptions import CORRUPTIONS
from analysis.generation.files import decode_png
from analysis.similarity.published import PUBLISHED_CLASSES
from analysis.visual_change.vif import grey
from humanexp.core.storage import media_path
from humanexp.stimuli.models import Stimulus
from tests.analysis.visual_change import oracle
from tests.papers.workspace import COUNT, FUNCTIONS, SIZE_PX, Workspace, stimulus_set, told

pytestmark = pytest.mark.verify


@pytest.fixture(scope="module")
def everything(workspace: Workspace) -> Workspace:
    """A set of all functions, and one of the levels of ImageNet-C, of four pictures."""
    few = workspace.folder / "few"
    for category in ("cat", "dog"):
        (few / category).mkdir(parents=True)
        for file in sorted((workspace.folder / "drawings" / category).iterdir())[:2]:
            (few / category / file.name).write_bytes(file.read_bytes())
    told("import_images", few, "--name=few")
    made = ("generate_stimuli", "--images=few", "--corruption=all", f"--size={SIZE_PX}")
    told(*made, "--count=6", "--name=everything")
    told(*made, "--sampling=imagenet-c-levels", "--name=levels")
    return workspace


def pixels(stimulus: Stimulus) -> np.ndarray:
    return decode_png(media_path(stimulus.file).read_bytes())


def change_of(original: np.ndarray, shown: np.ndarray) -> float:
    """VCR's definition 3 on the public steerable pyramid."""
    return max(0.0, 1.0 - oracle.vif(grey(original), grey(shown)))


def test_stored_visual_change_is_that_of_the_public_pyramid(workspace: Workspace) -> None:
    assert "6 stimuli" in told("verify_stimuli", "demo", "--sample=6")
    of_all = stimulus_set().stimuli.exclude(corruption="none").select_related("source_image").order_by("key")
    for one in list(of_all)[:: len(FUNCTIONS) * COUNT // 6]:
        clean = stimulus_set().stimuli.get(corruption="none", source_image=one.source_image)
        assert one.visual_change == pytest.approx(change_of(pixels(clean), pixels(one)), abs=1e-9)


def test_even_sampling_fills_every_tenth_alike_and_uniform_sampling_draws_the_parameter(workspace: Workspace) -> None:
    told(
        *("generate_stimuli", "--images=demo", "--corruption=gaussian_noise", "--count=200", f"--size={SIZE_PX}"),
        *("--sampling=uniform-parameter", "--name=as-published"),
    )
    drawn = stimulus_set("as-published").stimuli.filter(corruption="gaussian_noise")
    function = CORRUPTIONS["gaussian_noise"]
    low, high = function.low, function.high
    drawn_parameters = list(drawn.values_list("parameter", flat=True))
    assert stats.kstest(drawn_parameters, "uniform", (low, high - low)).pvalue > 0.001
    even = list(stimulus_set().stimuli.filter(corruption="gaussian_noise").values_list("visual_change", flat=True))
    published = list(drawn.values_list("visual_change", flat=True))
    # A uniform sample of 64 would deviate by .0375 a tenth, and by less than .021 in 3 of 100: even is more regular;
    # and what is uniform in the parameter is far from uniform in what it changes.
    counts = [np.histogram(one, bins=10, range=(0, 1))[0] / len(one) for one in (even, published)]
    assert counts[0].std() < 0.021 < 0.1 < counts[1].std()


def test_functions_at_one_visual_change_stand_in_the_published_classes(everything: Workspace) -> None:
    assert set(stimulus_set("everything").corruptions) == set(CORRUPTIONS) and len(CORRUPTIONS) >= 14
    rows = everything.drawn("functions", "everything", "--at=0.6")["functions"]
    members = {name: {row["function"] for row in rows if row["class"] == name} for name in PUBLISHED_CLASSES}
    assert members == {name: set(functions) for name, functions in PUBLISHED_CLASSES.items()}
    reached = [row for row in rows if row["reached"] == "yes"]
    assert len(reached) >= 10 and all(abs(float(row["visual_change"]) - 0.6) <= 0.0126 for row in reached)


def test_frost_is_drawn_at_the_published_changes(everything: Workspace) -> None:
    asked = (0.005, 0.71, 0.96)
    rows = everything.drawn("strengths", "everything", "--function=frost", "--at=0,0.005,0.71,0.96")["strengths"]
    assert [float(row["target"]) for row in rows] == list(asked)
    parameters = [float(row["parameter"]) for row in rows]
    assert parameters == sorted(parameters), "stronger frost changes more"
    for row, change in zip(rows, asked, strict=True):
        assert row["reached"] == "no" or float(row["visual_change"]) == pytest.approx(change, abs=0.0126)


def test_histograms_and_coverage_are_those_counted_from_the_stimuli(everything: Workspace) -> None:
    found = everything.drawn("histograms", "everything", "--beside=levels")
    for name in ("everything", "levels"):
        rows = [row for row in found["histograms"] if (row["function"], row["set"]) == ("frost", name)]
        changes = stimulus_set(name).stimuli.filter(corruption="frost").values_list("visual_change", flat=True)
        counts = np.histogram(list(changes), bins=40, range=(0, 1))[0]
        assert [int(row["count"]) for row in rows] == counts.tolist()
        covered = next(row for row in found["histograms-coverage"] if (row["function"], row["set"]) == ("frost", name))
        assert int(covered["covered"]) == int((counts >= 20).sum())
    levels = {row["level"]: row["n"] for row in found["histograms-levels"] if row["set"] == "levels"}
    assert levels == dict.fromkeys("12345", "4"), "each of four pictures at each of five levels"
    # As published: 39 bins, of which none of six stimuli is covered.
    assert "as published" in everything.page("/stimuli/sets/everything/")
