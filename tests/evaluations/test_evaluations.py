from __future__ import annotations

import hashlib
import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from analysis.classifiers import shards
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from humanexp.core.errors import Conflict, InvalidRequest, JobCancelled
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.evaluations import jobs, selectors, specs
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.services import evaluations, prediction
from humanexp.evaluations.services.evaluations import How, delete, evaluate
from humanexp.jobs import runner
from humanexp.stimuli.models import StimulusSet
from tests.evaluations.rule_classifier import BrightnessClassifier
from tests.evaluations.sets import picture_set

SPEC = "python:tests.evaluations.rule_classifier:make"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stimulus_set(settings, tmp_path: Path, db: None) -> StimulusSet:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"
    return picture_set()


def evaluated(stimulus_set: StimulusSet, **how: Any) -> EvaluationRun:
    run, job = evaluate(stimulus_set=stimulus_set, spec=SPEC, name="brightness", how=How(**how))
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    job.refresh_from_db()
    assert job.state == "done", job.error
    run.refresh_from_db()
    return run


def test_every_stimulus_gets_the_answer_that_its_pixels_call_for(stimulus_set: StimulusSet) -> None:
    run = evaluated(stimulus_set)
    table = selectors.predictions_for(stimulus_set).set_index("stimulus")
    assert run.count == len(table) == stimulus_set.stimuli.count()
    for stimulus in stimulus_set.stimuli.select_related("source_image"):
        pixels = np.asarray(Image.open(media_path(stimulus.file)).convert("RGB"))
        expected = default_labels().ids[int(pixels.mean() / 256 * 16)]
        row = table.loc[stimulus.key]
        assert row["response"] == expected
        assert row["correct"] == (expected == stimulus.source_image.category)
        assert (row["original"], row["corruption"]) == (stimulus.source_image.key, stimulus.corruption)
    clean = table[table["corruption"] == "none"]
    assert run.accuracy_clean == pytest.approx(clean["correct"].astype(float).mean())


def test_the_row_holds_the_facts_of_the_run(stimulus_set: StimulusSet) -> None:
    run = evaluated(stimulus_set)
    assert (run.spec, run.classifier_digest, run.label_space, run.rule) == (SPEC, "0" * 64, 16, "mean")
    assert (run.preprocessing, run.device) == ("mean of all pixels", "cpu")
    assert {"humanexp", "numpy"} <= set(run.versions)
    assert run.seconds is not None
    assert run.pictures_per_s == pytest.approx(run.count / run.seconds)
    assert hashlib.sha256(media_path(run.predictions_file).read_bytes()).hexdigest() == run.predictions_sha256
    assert list(media_path(run.folder).rglob("part-*")) == []


def test_what_an_interrupted_job_finished_is_not_predicted_again(
    stimulus_set: StimulusSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = selectors.read_predictions(evaluated(stimulus_set))
    monkeypatch.setattr(shards, "SHARD_STIMULI", 4)
    run, job = evaluate(stimulus_set=stimulus_set, spec=SPEC, name="brightness")

    def cancelled_after_two(done: int, total: int, message: str = "") -> None:
        if done >= 8:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        jobs.evaluate(cancelled_after_two, **job.parameters)
    parts = list(media_path(run.folder).rglob("part-*.parquet"))
    assert len(parts) == 2
    before = BrightnessClassifier.batches
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    remaining = -(-stimulus_set.stimuli.count() // 4) - 2
    assert BrightnessClassifier.batches - before == remaining + 1  # the rehearsal
    run.refresh_from_db()
    pd.testing.assert_frame_equal(selectors.read_predictions(run), whole)


def test_another_classifier_of_the_same_name_is_not_taken_for_the_first(stimulus_set: StimulusSet) -> None:
    evaluated(stimulus_set)
    stimulus = stimulus_set.stimuli.first()
    table = media_path("answers.csv")
    rows = [f"{key},dog" for key in stimulus_set.stimuli.values_list("key", flat=True)]
    table.write_text("stimulus,response\n" + "\n".join(rows) + "\n")
    run, _job = evaluate(stimulus_set=stimulus_set, spec=f"table:{table}", name="brightness")
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    run.refresh_from_db()
    assert run.spec == f"table:{table}"
    assert set(selectors.predictions_for(stimulus_set)["response"]) == {"dog"}
    assert stimulus is not None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("python:tests.evaluations.rule_classifier:make_lost", "no numbers"),
        ("python:tests.evaluations.rule_classifier:make_narrow", r"shape \(1, 15\), not \(1, 16\)"),
        ("export:gone.pt2", "no such program"),
        ("table:gone.csv", "no such table"),
    ],
)
def test_what_is_refused_leaves_everything_as_it_was(stimulus_set: StimulusSet, spec: str, message: str) -> None:
    before = selectors.read_predictions(evaluated(stimulus_set))
    files = sorted(media_path("evaluations").rglob("*"))
    run, job = evaluate(stimulus_set=stimulus_set, spec=spec, name="brightness")
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    job.refresh_from_db()
    run.refresh_from_db()
    assert job.state == "failed"
    assert re.search(message, job.error)
    assert "Traceback" not in job.error
    assert sorted(media_path("evaluations").rglob("*")) == files
    assert run.spec == SPEC
    pd.testing.assert_frame_equal(selectors.read_predictions(run), before)


def test_a_picture_that_is_gone_or_changed_is_refused_by_name(stimulus_set: StimulusSet) -> None:
    first, second = stimulus_set.stimuli.order_by("key")[:2]
    for change, message in (
        (lambda path: path.unlink(), f"The stimulus {first.key} has no file"),
        (lambda path: path.write_bytes(media_path(second.file).read_bytes()), "is not the one that was measured"),
    ):
        change(media_path(first.file))
        _run, job = evaluate(stimulus_set=stimulus_set, spec=SPEC, name="brightness")
        runner.run_waiting(kinds=[evaluations.JOB_KIND])
        job.refresh_from_db()
        assert message in job.error
    assert not media_path("evaluations").exists() or not list(media_path("evaluations").rglob("*.parquet"))


def test_one_evaluation_of_a_name_at_a_time(stimulus_set: StimulusSet) -> None:
    run, job = evaluate(stimulus_set=stimulus_set, spec=SPEC, name="brightness")
    assert evaluate(stimulus_set=stimulus_set, spec=SPEC, name="brightness") == (run, job)
    with pytest.raises(Conflict, match="being evaluated"):
        evaluate(stimulus_set=stimulus_set, spec=SPEC, name="brightness", how=How(rule="sum"))
    with pytest.raises(Conflict, match="being evaluated"):
        delete(run=run)


def test_a_deleted_run_takes_its_files_along(stimulus_set: StimulusSet) -> None:
    run = evaluated(stimulus_set)
    folder = media_path(run.folder)
    assert folder.is_dir()
    delete(run=run)
    assert not folder.exists()
    assert len(selectors.predictions_for(stimulus_set)) == 0


def test_own_labels_need_wordnet_ids_and_give_another_label_space(stimulus_set: StimulusSet) -> None:
    spec = "python:tests.evaluations.rule_classifier:make_thousand"
    with pytest.raises(InvalidRequest, match="6 pictures of pets have no WordNet id"):
        evaluate(stimulus_set=stimulus_set, spec=spec, how=How(own_labels=True))
    stimulus_set.source_set.images.order_by().update(wnid="n02123045")
    run, _job = evaluate(stimulus_set=stimulus_set, spec=spec, how=How(own_labels=True))
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    run.refresh_from_db()
    table = selectors.read_predictions(run)
    assert set(table["label_space"]) == {1000}
    assert set(table["category"]) == {"n02123045"}
    assert set(table["response"]) <= set(class_ids())


@pytest.mark.slow
def test_child_processes_give_the_same_table(
    stimulus_set: StimulusSet,
    settings,
    monkeypatch: pytest.MonkeyPatch,  # noqa: ANN001
) -> None:
    whole = selectors.read_predictions(evaluated(stimulus_set))
    settings.COMPUTE = "processes:2"
    monkeypatch.setattr(shards, "SHARD_STIMULI", 6)
    monkeypatch.setattr(prediction, "MANY_SHARDS", 1)
    pd.testing.assert_frame_equal(selectors.read_predictions(evaluated(stimulus_set)), whole)


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_table(
    stimulus_set: StimulusSet,
    settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,  # noqa: ANN001
) -> None:
    pytest.importorskip("distributed")
    from tests.stimuli.test_cluster import cluster

    spec = "export:fixtures/classifiers/clean.pt2"

    def classified() -> pd.DataFrame:
        run, job = evaluate(stimulus_set=stimulus_set, spec=spec)
        runner.run_waiting(kinds=[evaluations.JOB_KIND])
        job.refresh_from_db()
        assert job.state == "done", job.error
        run.refresh_from_db()
        return selectors.read_predictions(run)

    whole = classified()
    monkeypatch.setattr(shards, "SHARD_STIMULI", 2)
    with cluster(tmp_path) as (setting, workers):
        settings.COMPUTE = setting
        workers[0].kill()
        table = classified()
    pd.testing.assert_frame_equal(table.drop(columns="confidence"), whole.drop(columns="confidence"))
    assert table["confidence"].to_numpy() == pytest.approx(whole["confidence"].to_numpy(), abs=1e-5)


def test_no_predictions_is_an_empty_table(stimulus_set: StimulusSet) -> None:
    assert len(selectors.predictions_for(stimulus_set)) == 0


def test_code_is_for_the_command_line_alone(stimulus_set: StimulusSet) -> None:
    with pytest.raises(InvalidRequest, match="command line"):
        evaluate(stimulus_set=stimulus_set, spec=SPEC, by=User.objects.create(username="r"))


@pytest.mark.parametrize("spec", ["export:/etc/x.pt2", "onnx:../net.onnx", "timm:resnet18@/tmp/w.pt", "hf:."])
def test_the_console_takes_names_and_what_the_operator_put_on_the_shelf(stimulus_set: StimulusSet, spec: str) -> None:
    with pytest.raises(InvalidRequest, match="published networks by name"):
        evaluate(stimulus_set=stimulus_set, spec=spec, by=User.objects.create(username="r"))


def test_the_shelf_is_offered(stimulus_set: StimulusSet) -> None:
    shelf = media_path(specs.SHELF)
    shelf.mkdir()
    (shelf / "mine.onnx").touch()
    assert f"onnx:{shelf / 'mine.onnx'}" in specs.shelf_specs()
    assert specs.check_safe(f"onnx:{shelf / 'mine.onnx'}")
    assert specs.check_safe("export:fixtures/classifiers/clean.pt2")
    assert specs.check_safe("timm:resnet50.a1_in1k")
    assert specs.check_safe("torchvision:resnet50@IMAGENET1K_V2")
    assert specs.check_safe("open_clip:ViT-B-32/laion2b_s34b_b79k")


def test_an_unfinished_set_is_refused(stimulus_set: StimulusSet) -> None:
    stimulus_set.completed_at = None
    with pytest.raises(InvalidRequest, match="not complete"):
        evaluate(stimulus_set=stimulus_set, spec=SPEC)


def test_the_command_says_what_it_found_and_refuses_what_it_cannot(stimulus_set: StimulusSet) -> None:
    out = StringIO()
    call_command("evaluate", stimuli="pets", classifier=SPEC, stdout=out)
    assert f"{stimulus_set.stimuli.count()} predictions" in out.getvalue()
    assert EvaluationRun.objects.get().created_by is None
    ada = User.objects.create_user("ada")
    call_command("evaluate", stimuli="pets", classifier=SPEC, name="hers", owner="ada", stdout=out)
    assert EvaluationRun.objects.get(name="hers").created_by == ada
    with pytest.raises(CommandError, match="There are: pets"):
        call_command("evaluate", stimuli="cats", classifier=SPEC)
    with pytest.raises(CommandError, match="nonsense"):
        call_command("evaluate", stimuli="pets", classifier="nonsense:x")


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("export:fixtures/classifiers/clean.pt2", "clean"),
        ("grey:export:fixtures/classifiers/clean.pt2", "clean-grey"),
        ("timm:resnet50", "resnet50"),
        ("lite:0", "efficientnet-lite0"),
        ("torchvision:resnet50@IMAGENET1K_V2", "resnet50@IMAGENET1K_V2"),
        ("open_clip:ViT-B-32/laion2b", "ViT-B-32/laion2b"),
        ("python:lab.nets:make", "lab.nets/make"),
    ],
)
def test_a_name_follows_from_the_adapter_string(spec: str, name: str) -> None:
    assert specs.default_name(spec) == name


def test_a_network_that_sees_grey_is_evaluated_by_command_and_safe_where_it_is_itself(
    stimulus_set: StimulusSet,
) -> None:
    """The pictures of the set are grey already but for their noise, so that clean ones get the same answers."""
    for spec in ("export:clean.pt2", "grey:export:clean.pt2"):
        call_command("evaluate", stimuli="pets", classifier=spec, stdout=StringIO(), stderr=StringIO())
    table = selectors.predictions_for(stimulus_set)
    clean = table[table["corruption"] == "none"].pivot(index="stimulus", columns="classifier", values="response")
    assert set(clean.columns) == {"clean", "clean-grey"} and (clean["clean"] == clean["clean-grey"]).all()
    digests = EvaluationRun.objects.values_list("classifier_digest", flat=True)
    assert len(set(digests)) == 2
    assert specs.check_safe("grey:export:clean.pt2") == "grey:export:fixtures/classifiers/clean.pt2"
    for spec, message in (
        ("grey:python:os:getcwd", "for the command line alone"),
        ("grey:export:/etc/net.pt2", "files in the server's shelf"),
        ("grey:nonsense", "names no classifier"),
    ):
        with pytest.raises(InvalidRequest, match=message):
            specs.check_safe(spec)
    with pytest.raises(InvalidRequest, match="gives no gradients"):
        specs.check_trainable("grey:onnx:net.onnx")


def test_a_file_of_the_shelf_is_named_by_its_name_alone(stimulus_set: StimulusSet) -> None:
    shelf = media_path(specs.SHELF)
    shelf.mkdir(exist_ok=True)
    (shelf / "mine.pt2").touch()
    assert specs.check_safe("export:mine.pt2") == f"export:{shelf / 'mine.pt2'}"
    assert specs.check_safe("export:clean.pt2") == "export:fixtures/classifiers/clean.pt2"
    with pytest.raises(InvalidRequest, match="files in the server's shelf"):
        specs.check_safe("export:nowhere.pt2")
    # Somebody who names a file that lies there and is no network does not learn where it lies.
    (shelf / "notes.txt").write_text("ours")
    (shelf / "weights.safetensors").write_bytes(b"")
    for spec in ("export:notes.txt", "onnx:mine.pt2", "timm:resnet50@weights.safetensors"):
        with pytest.raises(InvalidRequest) as refused:
            specs.check_safe(spec)
        assert str(shelf) not in str(refused.value) and str(refused.value).startswith(f"{spec}: ")
    with pytest.raises(InvalidRequest) as refused:
        specs.check_trainable("onnx:mine.pt2")
    assert str(shelf) not in str(refused.value)
