from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from humanexp.core import clock
from humanexp.core.models import User
from humanexp.core.pace import RecentRate
from humanexp.jobs.models import Job, JobState
from humanexp.jobs.selectors import pace_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(User.objects.create_user("lab", is_staff=True))
    return client


def running_job(**facts: object) -> Job:
    values = {
        "kind": "stimuli.generate",
        "subject": "stimulus_set:7",
        "state": JobState.RUNNING,
        "done": 30,
        "total": 120,
    }
    return Job.objects.create(**{**values, "started_at": clock.now() - timedelta(seconds=10), **facts})


def test_pace_is_steps_by_elapsed_time_and_tells_what_is_left() -> None:
    now = clock.now()
    pace = pace_of(Job(state=JobState.RUNNING, started_at=now - timedelta(seconds=10), done=30, total=120), now=now)
    assert pace is not None
    assert (pace.rate, pace.remaining_s, pace.rate_text) == (3.0, 30.0, "3.0/s")


def test_what_was_found_done_is_soon_forgotten_in_the_pace() -> None:
    rate = RecentRate()
    assert rate.after(0, 100.0) is None
    assert rate.after(0, 101.0) is None
    assert rate.after(5000, 102.0) == 5000
    for second in range(1, 121):
        recent = rate.after(5000 + 20 * second, 102.0 + second)
    assert recent == pytest.approx(20, rel=0.1)
    now = clock.now()
    job = Job(state=JobState.RUNNING, started_at=now - timedelta(seconds=122), done=7400, total=7600, rate=recent)
    pace = pace_of(job, now=now)
    assert pace is not None and pace.remaining_s == pytest.approx(10, rel=0.1)


def test_steps_that_end_together_keep_their_pace_until_the_next_are_overdue() -> None:
    rate = RecentRate()
    assert [rate.after(0, 0.0), rate.after(500, 100.0)] == [None, 5.0]
    assert [rate.after(500, second) for second in (110.0, 150.0, 200.0)] == [5.0, 5.0, 5.0]
    assert rate.after(500, 300.0) == 2.5
    assert rate.after(1000, 300.0) == pytest.approx(2.5, rel=0.01)


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.DONE, JobState.FAILED, JobState.CANCELLED])
def test_a_job_that_does_not_run_has_no_pace(state: str) -> None:
    assert pace_of(Job(state=state, started_at=clock.now(), done=3, total=9), now=clock.now()) is None


def test_a_job_without_a_step_yet_promises_no_time() -> None:
    now = clock.now()
    pace = pace_of(Job(state=JobState.RUNNING, started_at=now - timedelta(seconds=5), total=9), now=now)
    assert pace is not None and pace.rate is None and pace.remaining_s is None


def test_pages_need_an_account(client: Client) -> None:
    for name, arguments in (("jobs", []), ("job", [1])):
        assert client.get(reverse(f"jobs:{name}", args=arguments)).status_code == 302


def test_the_partial_asks_again_until_the_job_has_ended(researcher: Client) -> None:
    job = running_job()
    address = reverse("jobs:job", args=[job.pk])
    body = researcher.get(address, headers={"HX-Request": "true"}).content.decode()
    assert f'hx-get="{address}"' in body and "<html" not in body and "30 of 120" in body
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE, done=120)
    response = researcher.get(address, headers={"HX-Request": "true"})
    assert "hx-get" not in response.content.decode()
    assert "jobFinished" in response.headers["HX-Trigger"]


def test_cancel_and_go_on_change_the_job(researcher: Client) -> None:
    job = running_job(state=JobState.QUEUED, started_at=None)
    researcher.post(reverse("jobs:cancel", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    resumed = researcher.post(reverse("jobs:resume", args=[job.pk]), headers={"HX-Request": "true"})
    job.refresh_from_db()
    assert job.state == JobState.QUEUED and resumed.headers["HX-Refresh"] == "true"


def test_cancel_by_get_changes_nothing(researcher: Client) -> None:
    job = running_job(state=JobState.QUEUED)
    assert researcher.get(reverse("jobs:cancel", args=[job.pk])).status_code == 405
    job.refresh_from_db()
    assert job.state == JobState.QUEUED


def test_a_failed_job_says_why_and_offers_to_go_on(researcher: Client) -> None:
    job = running_job(state=JobState.FAILED, error="Traceback\n  line\nOSError: no space left on device")
    body = researcher.get(reverse("jobs:job", args=[job.pk])).content.decode()
    assert "OSError: no space left on device" in body
    assert reverse("jobs:resume", args=[job.pk]) in body


def test_the_list_shows_what_runs_and_what_ended(researcher: Client) -> None:
    running_job(message="gaussian blur")
    running_job(state=JobState.DONE, finished_at=clock.now(), done=120)
    for state in (JobState.DONE, JobState.FAILED):
        running_job(kind="screening.judge", subject=f"session:{state}", state=state, finished_at=clock.now())
    body = researcher.get(reverse("jobs:jobs")).content.decode()
    assert "session failed" in body and "session done" not in body, "short jobs are listed when they went wrong"
    assert "gaussian blur" in body and "left" in body and "120 / 120" in body


def test_an_unknown_job_is_a_page_with_a_sentence(researcher: Client) -> None:
    response = researcher.get(reverse("jobs:job", args=[999]))
    assert response.status_code == 404 and "no such job" in response.content.decode()
