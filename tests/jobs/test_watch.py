"""Whose job is taken back: nobody's who lives, whatever the machine's clock says."""

from __future__ import annotations

from datetime import timedelta

import pytest

from humanexp.core import clock
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job, JobState
from humanexp.jobs.runner import WATCHED_S, Watch

pytestmark = pytest.mark.django_db


class Seconds:
    """A process's own clock, which goes on when it is told."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def own() -> Seconds:
    return Seconds()


def held(lease: timedelta) -> Job:
    """A running job whose lease ends so long from now, by the machine's clock."""
    return Job.objects.create(
        kind="test.kind", state=JobState.RUNNING, runner="other", attempt=1, lease_until=clock.now() + lease
    )


def swept(watch: Watch, own: Seconds, seconds: int, *, renews: Job | None = None) -> int:
    """How many jobs were taken back in so many seconds."""
    lost = 0
    for second in range(seconds):
        own.at += 1
        if renews is not None and second % 5 == 0:
            jobs.renew(job=renews, runner="other")
        lost += watch.sweep()
    return lost


def test_a_living_runner_keeps_its_job_when_the_clock_is_set_forward(own: Seconds) -> None:
    job = held(timedelta(hours=-1))
    assert swept(Watch(now=own), own, 60, renews=job) == 0


def test_a_dead_runners_job_is_taken_when_its_lease_is_over(own: Seconds) -> None:
    job, watch = held(timedelta(seconds=-1)), Watch(now=own)
    assert swept(watch, own, int(WATCHED_S)) == 0
    assert swept(watch, own, 1) == 1
    job.refresh_from_db()
    assert (job.state, job.runner) == (JobState.QUEUED, "")


def test_a_dead_runners_job_is_taken_after_a_lease_when_the_clock_was_set_back(own: Seconds) -> None:
    held(timedelta(hours=1))
    watch = Watch(now=own)
    assert swept(watch, own, 30) == 0
    assert swept(watch, own, 1) == 1


def test_time_in_which_nobody_could_look_does_not_count(own: Seconds) -> None:
    """The database was away: its holder could not renew either, and has a moment to do so now."""
    job, watch = held(timedelta(seconds=-1)), Watch(now=own)
    watch.sweep()
    own.at += 300
    assert watch.sweep() == 0
    assert swept(watch, own, 10, renews=job) == 0


def test_a_lease_that_is_renewed_while_the_job_is_taken_back_stays(own: Seconds) -> None:
    job = held(timedelta(seconds=-1))
    until = job.lease_until
    jobs.renew(job=job, runner="other")
    assert not jobs.take_back(pk=job.pk, runner="other", lease_until=until)
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
