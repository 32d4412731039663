from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from analysis.categories import CATEGORIES
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.evaluations import prediction, selectors, services
from humanexp.evaluations.models import EvaluationRun
from humanexp.jobs import runner
from humanexp.stimuli import services as stimuli
from humanexp.stimuli.models import StimulusSet
from tests.analysis.generation.originals import write_originals
from tests.evaluations.rule_classifier import BrightnessClassifier

SPEC = "python:tests.evaluations.rule_classifier:make"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stimulus_set(settings, tmp_path: Path, db: None) -> StimulusSet:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"
    write_originals(tmp_path / "pictures", {"cat": 3, "dog": 3})
    source_set = stimuli.import_images(source=tmp_path / "pictures", name="pets").source_set
    made = stimuli.create_stimulus_set(source_set=source_set, name="pets", corruptions=["gaussian_noise"], count=10)
    stimuli.start_generation(stimulus_set=made)
    runner.run_waiting(kinds=[stimuli.JOB_KIND])
    made.refresh_from_db()
    return made


def evaluated(stimulus_set: StimulusSet, **arguments: str) -> EvaluationRun:
    run, job = services.evaluate(stimulus_set=stimulus_set, spec=SPEC, name="brightness", **arguments)
    runner.run_waiting(kinds=[services.JOB_KIND])
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
        expected = CATEGORIES[int(pixels.mean() / 256 * 16)]
        row = table.loc[stimulus.key]
        assert row["response"] == expected
        assert row["correct"] == (expected == stimulus.source_image.category)
        assert (row["original"], row["corruption"]) == (stimulus.source_image.key, stimulus.corruption)
    clean = table[table["corruption"] == "none"]
    assert run.accuracy_clean == pytest.approx(clean["correct"].astype(float).mean())


def test_parts_that_are_there_are_not_predicted_again(
    stimulus_set: StimulusSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prediction, "PART", 4)
    evaluated(stimulus_set)
    before = BrightnessClassifier.batches
    parts = sorted(media_path("evaluations").rglob("part-*.parquet"))
    parts[0].unlink()
    evaluated(stimulus_set)
    assert BrightnessClassifier.batches - before == 1


def test_no_predictions_is_an_empty_table(stimulus_set: StimulusSet) -> None:
    assert len(selectors.predictions_for(stimulus_set)) == 0


def test_code_is_for_the_command_line_alone(stimulus_set: StimulusSet) -> None:
    with pytest.raises(InvalidRequest, match="command line"):
        services.evaluate(stimulus_set=stimulus_set, spec=SPEC, by=User.objects.create(username="r"))


def test_an_unfinished_set_is_refused(stimulus_set: StimulusSet) -> None:
    stimulus_set.completed_at = None
    with pytest.raises(InvalidRequest, match="not complete"):
        services.evaluate(stimulus_set=stimulus_set, spec=SPEC)


def test_the_command_says_what_it_found_and_refuses_what_it_cannot(stimulus_set: StimulusSet) -> None:
    out = StringIO()
    call_command("evaluate", stimuli="pets", classifier=SPEC, stdout=out)
    assert f"{stimulus_set.stimuli.count()} predictions" in out.getvalue()
    with pytest.raises(CommandError, match="There are: pets"):
        call_command("evaluate", stimuli="cats", classifier=SPEC)
    with pytest.raises(CommandError, match="nonsense"):
        call_command("evaluate", stimuli="pets", classifier="nonsense:x")


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("export:fixtures/classifiers/clean.pt2", "clean"),
        ("timm:resnet50", "resnet50"),
        ("torchvision:resnet50@IMAGENET1K_V2", "resnet50@IMAGENET1K_V2"),
        ("open_clip:ViT-B-32/laion2b", "ViT-B-32/laion2b"),
        ("python:lab.nets:make", "lab.nets/make"),
    ],
)
def test_a_name_follows_from_the_adapter_string(spec: str, name: str) -> None:
    assert services.default_name(spec) == name
