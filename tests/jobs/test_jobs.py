from __future__ import annotations

import time
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection

from analysis.errors import InvalidInput, PictureRefused
from humanexp.core import clock
from humanexp.core.commands import ProgressLine
from humanexp.core.errors import InputRefused, JobError
from humanexp.jobs import runner, selectors, services as jobs
from humanexp.jobs.models import Job, JobState
from humanexp.jobs.registry import HANDLERS, Registered
from humanexp.jobs.runner import Watch

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch):
    """Register a handler under the name "test.kind" for one test."""

    def register(run: Any, every_s: float | None = None) -> str:
        monkeypatch.setitem(HANDLERS, "test.kind", Registered("test.kind", run, every_s))
        return "test.kind"

    return register


def test_a_job_runs_once_and_keeps_its_result(kind) -> None:
    seen = []

    def work(progress: Any, *, x: int) -> dict[str, int]:
        seen.append({"x": x})
        return {"answer": 42}

    kind(work)
    job = jobs.submit("test.kind", subject="thing:1", x=1)
    assert runner.run_waiting() == 1
    assert runner.run_waiting() == 0
    job.refresh_from_db()
    assert (job.state, job.result, seen) == (JobState.DONE, {"answer": 42}, [{"x": 1}])
    assert selectors.latest_for("thing:1") == job


def test_an_unknown_kind_is_refused_before_it_is_stored() -> None:
    with pytest.raises(JobError, match=r"no\.such"):
        jobs.submit("no.such")
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({}, "A job of the kind test.kind lacks 'x'."),
        ({"x": "1"}, "x must be a whole number, not '1'."),
        ({"x": 1, "z": 2}, "A job of the kind test.kind has no setting 'z'; it has: x, y."),
    ],
)
def test_parameters_are_checked_when_a_job_is_submitted_and_when_it_runs(kind, parameters, sentence) -> None:
    def work(progress: Any, *, x: int, y: list[str] | None = None) -> None:
        raise AssertionError("never called")

    kind(work)
    with pytest.raises(InvalidInput) as caught:
        jobs.submit("test.kind", **parameters)
    assert str(caught.value) == sentence and not Job.objects.exists()
    Job.objects.create(kind="test.kind", parameters=parameters)
    runner.run_waiting()
    job = Job.objects.get()
    assert (job.state, job.error) == (JobState.FAILED, sentence)


def test_only_one_runner_gets_a_job(kind) -> None:
    kind(lambda progress: None)
    jobs.submit("test.kind")
    claims = [jobs.claim(runner="a"), jobs.claim(runner="b")]
    assert [job is not None for job in claims] == [True, False]


@pytest.mark.parametrize("refusal", [InputRefused, PictureRefused])
def test_a_refusal_fails_at_once_and_a_fault_is_tried_again(kind, refusal: type[Exception]) -> None:
    def refuse(progress: Any) -> None:
        raise refusal("cat.png is not a picture.")

    kind(refuse)
    job = jobs.submit("test.kind")
    runner.run_waiting()
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.FAILED, "cat.png is not a picture.")

    def break_down(progress: Any) -> None:
        raise ZeroDivisionError

    kind(break_down)
    job = jobs.submit("test.kind")
    runner.run_waiting()
    job.refresh_from_db()
    assert job.state == JobState.QUEUED
    assert job.run_after is not None
    assert "ZeroDivisionError" in job.error


def test_cancelling_stops_a_running_job_at_its_next_report(kind) -> None:
    steps = []

    def work(progress: Any) -> None:
        for step in range(10):
            steps.append(step)
            if step == 3:
                jobs.cancel(job=Job.objects.get())
            progress(10, 10)

    kind(work)
    job = jobs.submit("test.kind")
    runner.run_waiting()
    job.refresh_from_db()
    assert (job.state, steps) == (JobState.CANCELLED, [0, 1, 2, 3])


def test_a_cancelled_job_can_be_resumed(kind) -> None:
    kind(lambda progress: {"done": True})
    job = jobs.submit("test.kind")
    jobs.cancel(job=job)
    assert job.state == JobState.CANCELLED
    jobs.resume(job=job)
    runner.run_waiting()
    job.refresh_from_db()
    assert job.state == JobState.DONE


def test_the_job_of_a_dead_runner_goes_back_until_attempts_are_used_up(kind) -> None:
    kind(lambda progress: None)
    job = jobs.submit("test.kind")
    for _attempt in range(3):
        assert jobs.claim(runner="dead") is not None
        Job.objects.update(lease_until=clock.now() - timedelta(seconds=1))
        assert Watch(watched_s=0).sweep() == 1
    job.refresh_from_db()
    assert (job.state, job.attempt) == (JobState.FAILED, 3)


def test_a_runner_that_lost_its_lease_can_no_longer_end_the_job(kind) -> None:
    kind(lambda progress: None)
    jobs.submit("test.kind")
    lost = jobs.claim(runner="slow")
    Job.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    Watch(watched_s=0).sweep()
    taken = jobs.claim(runner="fresh")
    jobs.finish(job=lost, runner="slow", result={"from": "slow"})
    assert not jobs.report(job=lost, runner="slow", done=1, total=2)
    jobs.finish(job=taken, runner="fresh", result={"from": "fresh"})
    assert Job.objects.get().result == {"from": "fresh"}


def test_progress_is_written_at_most_once_a_second(kind, django_assert_max_num_queries) -> None:
    def work(progress: Any) -> None:
        with django_assert_max_num_queries(2):
            for step in range(1000):
                progress(step, 1001)

    kind(work)
    job = jobs.submit("test.kind")
    runner.run_waiting()
    job.refresh_from_db()
    assert job.state == JobState.DONE


def test_one_waiting_job_is_kept_for_a_kind_that_repeats(kind) -> None:
    kind(lambda progress: None, every_s=60)
    for _ in range(3):
        jobs.schedule_periodic()
    assert Job.objects.filter(kind="test.kind").count() == 1
    runner.run_waiting(kinds=["test.kind"])
    jobs.schedule_periodic()
    waiting = Job.objects.get(kind="test.kind", state=JobState.QUEUED)
    assert waiting.run_after > clock.now()


def test_twenty_past_runs_of_a_kind_that_repeats_are_kept(kind) -> None:
    kind(lambda progress: None, every_s=0)
    other = Job.objects.create(kind="test.other", state=JobState.DONE)
    for _ in range(25):
        jobs.schedule_periodic()
        runner.run_waiting(kinds=["test.kind"])
    newest = list(Job.objects.filter(kind="test.kind").values_list("pk", flat=True))
    jobs.schedule_periodic()
    kept = Job.objects.filter(kind="test.kind", state=JobState.DONE).values_list("pk", flat=True)
    assert sorted(kept) == sorted(newest)[-20:]
    assert Job.objects.filter(pk=other.pk).exists()


@pytest.mark.process
def test_a_beat_that_the_database_refuses_is_not_the_last(kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trigger refuses renewals for a while; the lease must be renewed once it is gone."""
    monkeypatch.setattr(runner, "HEARTBEAT_S", 0.02)
    leases = []

    def run(progress: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE TRIGGER refuse BEFORE UPDATE OF lease_until ON jobs_job BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
            time.sleep(0.2)
            leases.append(Job.objects.get().lease_until)
            cursor.execute("DROP TRIGGER refuse")
        for _ in range(200):
            time.sleep(0.02)
            if (lease := Job.objects.get().lease_until) != leases[0]:
                leases.append(lease)
                return

    kind(run)
    jobs.submit("test.kind")
    runner.run_waiting()
    assert len(leases) == 2
    assert leases[1] > leases[0]


def test_a_command_that_runs_a_job_says_how_far_it_is(kind, monkeypatch, capsys) -> None:
    monkeypatch.setattr(runner, "ProgressLine", partial(ProgressLine, silent_s=0.0))

    def work(progress: Any) -> None:
        progress(3, 4, "stimuli made")

    kind(work)
    runner.finish(jobs.submit("test.kind"), what="The work", tell=print)
    assert capsys.readouterr().err == "3 of 4 stimuli made\n"
