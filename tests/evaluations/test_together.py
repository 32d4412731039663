"""Several classifiers in one pass: each has its own run, and the predictions of its own evaluation."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest, JobError
from humanexp.core.storage import media_path
from humanexp.evaluations import selectors
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.services.evaluations import delete, evaluate, evaluate_together
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import StimulusSet
from tests.analysis.classifiers import small_networks as small
from tests.evaluations.sets import picture_set

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stimulus_set(settings, tmp_path: Path, db: None) -> StimulusSet:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"
    return picture_set(count=70)


@pytest.fixture
def nets(tmp_path: Path) -> list[str]:
    first = small.export_file(tmp_path / "first.pt2")
    second = small.export_file(tmp_path / "second.pt2", small.small_module(bias=0.5))
    return [f"export:{first}", f"export:{second}", f"onnx:{small.onnx_file(tmp_path / 'third.onnx')}"]


def table(run: EvaluationRun) -> pd.DataFrame:
    run.refresh_from_db()
    return selectors.read_predictions(run).drop(columns="classifier")


def test_each_run_holds_what_its_own_evaluation_gives(stimulus_set: StimulusSet, nets: list[str]) -> None:
    runs, job = evaluate_together(stimulus_set=stimulus_set, specs=nets)
    runner.finish(job, what="it", tell=str)
    assert [run.name for run in runs] == ["first", "second", "third"]
    for run, spec in zip(runs, nets, strict=True):
        alone, own = evaluate(stimulus_set=stimulus_set, spec=spec, name=f"{run.name} alone")
        runner.finish(own, what="it", tell=str)
        assert table(run).equals(table(alone))
        alone.refresh_from_db()
        assert run.classifier_digest == alone.classifier_digest and run.completed_at and run.spec == spec
        assert run.seconds and run.energy["kwh"] > 0
    assert not list(media_path("evaluations").rglob("part-*"))


def test_their_job_is_found_under_each_and_keeps_others_out(stimulus_set: StimulusSet, nets: list[str]) -> None:
    runs, job = evaluate_together(stimulus_set=stimulus_set, specs=nets)
    assert {latest_for(run.job_subject) for run in runs} == {job}
    assert evaluate_together(stimulus_set=stimulus_set, specs=nets) == (runs, job)
    with pytest.raises(Conflict, match="second is being evaluated"):
        evaluate(stimulus_set=stimulus_set, spec=nets[1])
    with pytest.raises(Conflict, match="first is being evaluated"):
        delete(run=runs[0])
    Job.objects.update(state=JobState.RUNNING, runner="dead", lease_until=clock.now() - timedelta(seconds=1))
    with pytest.raises(Conflict, match="died. Its job goes on where it stopped once the command that began it is rep"):
        evaluate(stimulus_set=stimulus_set, spec=nets[1])
    assert evaluate_together(stimulus_set=stimulus_set, specs=nets) == (runs, job)
    Job.objects.update(state=JobState.QUEUED, runner="", lease_until=None)
    runner.finish(job, what="it", tell=str)
    again, own = evaluate(stimulus_set=stimulus_set, spec=nets[1])
    assert latest_for(again.job_subject) == own and latest_for(runs[0].job_subject) == job


def test_a_network_that_cannot_be_loaded_leaves_all_runs_as_they_were(
    stimulus_set: StimulusSet, nets: list[str]
) -> None:
    Path(nets[1].partition(":")[2]).write_bytes(b"broken")
    runs, job = evaluate_together(stimulus_set=stimulus_set, specs=nets)
    with pytest.raises(JobError, match=r"second\.pt2: torch\.export cannot read it"):
        runner.finish(job, what="it", tell=str)
    assert not any(EvaluationRun.objects.get(pk=run.pk).completed_at for run in runs)


def test_two_of_one_name_are_refused(stimulus_set: StimulusSet, nets: list[str], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    same = f"export:{small.export_file(tmp_path / 'other' / 'first.pt2')}"
    with pytest.raises(InvalidRequest, match="one name"):
        evaluate_together(stimulus_set=stimulus_set, specs=[nets[0], same])
    assert not EvaluationRun.objects.exists()


def test_the_command_takes_several_and_a_precision_only_where_there_is_one(
    stimulus_set: StimulusSet, nets: list[str]
) -> None:
    out = StringIO()
    several = [part for net in nets for part in ("--classifier", net)]
    call_command("evaluate", *several, stimuli="pets", stdout=out)
    assert out.getvalue().count("76 predictions") == 3
    with pytest.raises(CommandError, match="one --classifier at a time"):
        call_command("evaluate", *several, stimuli="pets", name="x")
    with pytest.raises(CommandError, match="A processor computes in float32"):
        call_command("evaluate", stimuli="pets", classifier=nets[0], precision="float16")
