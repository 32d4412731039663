"""Retraining by command and as a job: what it writes, what it refuses, and that an interrupted one goes on."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.categories import CATEGORIES
from analysis.classifiers import load_classifier
from analysis.errors import InvalidInput, OriginalsOverlap
from analysis.retraining import Recipe
from analysis.tables import TRIALS
from humanexp.console import retraining
from humanexp.core.errors import InputRefused, InvalidRequest, JobCancelled
from humanexp.core.storage import media_path
from humanexp.evaluations import retraining as retrainings
from humanexp.evaluations.models import Retraining
from humanexp.jobs.models import Job
from humanexp.stimuli.models import StimulusSet
from tests.analysis.classifiers import small_networks as small
from tests.evaluations.sets import picture_set

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"export:{small.export_file(tmp_path_factory.mktemp('net') / 'small.pt2')}"


@pytest.fixture
def stimulus_set(settings, tmp_path: Path, db: None, monkeypatch: pytest.MonkeyPatch) -> StimulusSet:  # noqa: ANN001
    monkeypatch.setattr(retrainings, "REFITS", 40)
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"
    return made("pets")


def made(name: str) -> StimulusSet:
    return picture_set(name, {"cat": 4, "dog": 4}, corruptions=["gaussian_noise", "uniform_noise"], count=16)


def people_on(stimulus_set: StimulusSet) -> Any:
    """Three people who answer every stimulus, the worse the more it has changed."""
    rng = np.random.default_rng(2)
    rows = []
    for person in range(3):
        for position, one in enumerate(stimulus_set.stimuli.select_related("source_image")):
            right = bool(rng.random() < 0.95 - 0.8 * one.visual_change)
            category = one.source_image.category
            rows.append(
                {
                    "study": "pets", "participant": f"P{person}", "session": f"S{person}", "position": position,
                    "block": 0, "task": "categorisation", "role": "clean" if one.corruption == "none" else "main",
                    "original": one.source_image.key, "stimulus": one.key, "category": category,
                    "corruption": one.corruption, "visual_change": one.visual_change,
                    "response": category if right else "oven", "correct": right, "accepted": True, "simulated": True,
                }
            )  # fmt: skip
    return TRIALS.frame(rows)


def quiet(done: int, total: int, message: str = "") -> None:
    assert 0 <= done <= total


def test_the_command_writes_a_network_that_loads_and_tells_what_it_brought(
    stimulus_set: StimulusSet, network: str, tmp_path: Path
) -> None:
    out, told = tmp_path / "robust.pt2", StringIO()
    call_command(
        *("retrain", "--stimuli=pets", f"--classifier={network}", f"--out={out}", "--epochs=2", "--batch=8"),
        *("--corruption=uniform_noise", "--power=200", "--overhead=1.5", "--carbon=0.1"),
        stdout=told,
    )
    row = Retraining.objects.get()
    assert row.completed_at is not None
    again = load_classifier(f"export:{out}")
    assert again.labels == CATEGORIES
    report = row.report
    assert {entry["corruption"]: entry["trained_on"] for entry in report["rows"]} == {
        "gaussian_noise": False,
        "uniform_noise": True,
    }
    assert len(report["losses"]) == 2
    assert report["training_originals"] == report["originals"] == 4
    energy = report["energy"]
    assert energy["kg_co2"] == pytest.approx(energy["seconds"] * 200 * 1.5 / 3.6e6 * 0.1)
    text = told.getvalue()
    assert "uniform noise, accuracy" in text
    assert "gaussian noise, accuracy (not trained on)" in text
    assert f"Clean pictures: {report['clean']['before']:.3f} right before" in text
    assert str(out) in text
    assert not media_path(row.folder).exists()


def test_with_people_there_are_indices_and_no_original_is_on_both_sides(
    stimulus_set: StimulusSet, network: str, tmp_path: Path
) -> None:
    row = retrainings.describe(
        stimulus_set=stimulus_set, spec=network, out=tmp_path / "out.pt2", recipe=Recipe(epochs=1, batch=8)
    )
    report = retrainings.train_and_compare(row, people_on(stimulus_set), quiet)
    accuracy = [entry for entry in report["rows"] if entry["property"] == "accuracy"]
    assert all(set(entry["interval"]) == {"area", "hmri", "mrsi"} for entry in accuracy)
    assert report["originals"] == 4


def test_a_cancelled_training_goes_on_after_its_last_epoch(
    stimulus_set: StimulusSet, network: str, tmp_path: Path
) -> None:
    def once(out: str, stop_at: int | None) -> tuple[Retraining, list[int]]:
        row, job = retraining.retrain(
            stimulus_set=stimulus_set, spec=network, out=tmp_path / out, recipe=Recipe(epochs=3, batch=8)
        )
        if stop_at is not None:

            def stop(done: int, total: int, message: str = "") -> None:
                if done == stop_at:
                    raise JobCancelled

            with pytest.raises(JobCancelled):
                retraining.run(stop, **job.parameters)
        seen: list[int] = []
        retraining.run(lambda done, total, message="": seen.append(done), **job.parameters)
        row.refresh_from_db()
        return row, seen

    whole, _ = once("whole.pt2", None)
    resumed, seen = once("resumed.pt2", 5)
    assert seen[0] > 1
    assert resumed.classifier_digest == whole.classifier_digest
    assert (tmp_path / "resumed.pt2").is_file()


def test_another_set_of_the_same_pictures_is_no_test(stimulus_set: StimulusSet, network: str, tmp_path: Path) -> None:
    same = made("again")
    with pytest.raises(OriginalsOverlap, match="8 originals of evaluation are originals of training too"):
        retraining.retrain(
            stimulus_set=stimulus_set, evaluation_set=same, spec=network, out=tmp_path / "o.pt2", recipe=Recipe()
        )
    assert not Retraining.objects.exists()
    assert not Job.objects.filter(kind=retraining.JOB_KIND).exists()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"out": "net.onnx"}, InputRefused, r"name a \.pt2 file"),
        ({"out": "nowhere/net.pt2"}, InputRefused, "there is no folder"),
        ({"corruptions": ["frost"]}, InvalidRequest, "no stimuli of frost; there are: gaussian_noise"),
        ({"spec": "resnet50"}, InvalidRequest, "names no classifier"),
        ({"share": 1.0}, InvalidInput, "between 0 and 1"),
    ],
)
def test_what_cannot_end_well_is_refused_before_anything_is_trained(
    stimulus_set: StimulusSet,
    network: str,
    tmp_path: Path,
    change: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    asked = {"spec": network, "out": "net.pt2", "recipe": Recipe(), **change}
    with pytest.raises(error, match=message):
        retraining.retrain(stimulus_set=stimulus_set, **(asked | {"out": tmp_path / str(asked["out"])}))
    assert not Retraining.objects.exists()


def test_a_network_without_gradients_fails_with_a_sentence(stimulus_set: StimulusSet, tmp_path: Path) -> None:
    spec = f"onnx:{small.onnx_file(tmp_path / 'net.onnx')}"
    with pytest.raises(CommandError, match="gives no gradients"):
        call_command("retrain", "--stimuli=pets", f"--classifier={spec}", f"--out={tmp_path / 'out.pt2'}")
    assert not (tmp_path / "out.pt2").exists()
