"""The runner's sign of life, and what pages say without one."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from humanexp.core import clock
from humanexp.core.models import User
from humanexp.jobs import runner, selectors
from humanexp.jobs.models import Job, JobState, Runner
from humanexp.jobs.runner import Pulse, keep, logger, write
from tests.limits import LIMIT, until
from tests.markup import markup

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(User.objects.create_user("lab"))
    return client


def heard_of(prompt: timedelta | None, long: timedelta | None = None, name: str = "lab:1:a") -> Runner:
    """One that was heard of so long ago, lane by lane."""
    now = clock.now()

    def at(age: timedelta | None) -> datetime | None:
        return None if age is None else now - age

    return Runner.objects.create(name=name, started_at=now, beat_at=now, prompt_at=at(prompt), long_at=at(long))


NOW, LONG_AGO = timedelta(seconds=5), timedelta(minutes=12)


def test_without_a_runner_nobody_is_paid() -> None:
    found = selectors.silence()
    assert found is not None and found.nobody_is_paid and found.since is None


def test_a_runner_whose_two_lanes_go_round_breaks_the_silence() -> None:
    heard_of(NOW, NOW)
    assert selectors.silence() is None


def test_two_runners_may_share_the_lanes() -> None:
    heard_of(NOW, LONG_AGO)
    heard_of(LONG_AGO, NOW, name="lab:2:b")
    assert selectors.silence() is None


@pytest.mark.parametrize(("prompt", "long", "nobody_is_paid"), [(LONG_AGO, NOW, True), (NOW, LONG_AGO, False)])
def test_a_lane_that_stands_still_is_told(prompt: timedelta, long: timedelta, nobody_is_paid: bool) -> None:
    made = heard_of(prompt, long)
    found = selectors.silence()
    assert found is not None and found.nobody_is_paid is nobody_is_paid
    assert found.since == (made.prompt_at if nobody_is_paid else made.long_at)


def test_a_beat_from_before_the_clock_was_set_back_keeps_nobody_alive() -> None:
    heard_of(timedelta(hours=-1), timedelta(hours=-1))
    assert selectors.silence() is not None


def test_only_lanes_that_go_round_are_reported() -> None:
    pulse = Pulse()
    pulse.beat(is_prompt=True)
    write("lab:1:a", pulse)
    made = Runner.objects.get()
    assert made.prompt_at is not None and made.long_at is None
    pulse.beat(is_prompt=False)
    write("lab:1:a", pulse)
    made.refresh_from_db()
    assert made.long_at is not None


def test_runners_that_died_long_ago_are_forgotten_by_the_next() -> None:
    Runner.objects.create(name="dead", started_at=clock.now(), beat_at=clock.now() - timedelta(days=2))
    write("lab:1:a", Pulse())
    assert [made.name for made in Runner.objects.all()] == ["lab:1:a"]


@pytest.mark.process
def test_a_beat_that_the_database_refuses_is_not_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "BEAT_S", 0.02)
    stop, refused = threading.Event(), threading.Event()
    monkeypatch.setattr(logger, "warning", lambda *_: refused.set())
    heart = threading.Thread(target=keep, args=("lab:1:a", Pulse(), stop), daemon=True)
    try:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TRIGGER refuse BEFORE INSERT ON jobs_runner BEGIN SELECT RAISE(ABORT, 'full'); END")
            heart.start()
            assert refused.wait(LIMIT)
            cursor.execute("DROP TRIGGER refuse")
        until(Runner.objects.exists, "it beats again")
    finally:
        stop.set()
        heart.join(LIMIT)
    assert Runner.objects.exists()


def test_every_page_says_that_nobody_is_paid_and_since_when(researcher: Client) -> None:
    heard_of(LONG_AGO, LONG_AGO)
    for address in (reverse("console:studies"), reverse("jobs:jobs")):
        body = researcher.get(address).content.decode()
        assert "The job runner is silent." in body and "last heard of 12 minutes ago" in body
        assert "python manage.py run_jobs" in body
    Runner.objects.update(prompt_at=clock.now(), long_at=clock.now())
    assert "job runner" not in researcher.get(reverse("console:studies")).content.decode()


def test_who_is_not_logged_in_hears_nothing_of_it(client: Client) -> None:
    assert "job runner" not in client.get(reverse("login")).content.decode()


def test_the_job_of_a_dead_runner_is_shown_as_interrupted(researcher: Client) -> None:
    now = clock.now()
    Job.objects.create(
        kind="stimuli.generate", state=JobState.RUNNING, started_at=now, lease_until=now - NOW, done=30, total=120
    )
    body = markup(researcher.get(reverse("jobs:jobs")).content)
    assert ">interrupted<" in body and ">running<" not in body and "The next one resumes it" in body
    assert "30 of 120" in body and "bar bar--warn" in body, "it does not begin again, nor does it go on by itself"


def test_a_waiting_job_waits_for_its_turn_while_a_runner_lives(researcher: Client) -> None:
    Job.objects.create(kind="stimuli.generate")
    assert "Waits for the job runner, which is silent" in researcher.get(reverse("jobs:jobs")).content.decode()
    heard_of(NOW, NOW)
    body = researcher.get(reverse("jobs:jobs")).content.decode()
    assert "Waits for its turn." in body and "job runner" not in body
