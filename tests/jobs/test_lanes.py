"""What keeps a runner from its work costs no job an attempt, and a runner that is told to stop gives its job back."""

from __future__ import annotations

import errno
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction

from analysis.errors import StorageFailed
from humanexp.core import clock
from humanexp.core.errors import Conflict
from humanexp.jobs import lanes, runner, services as jobs
from humanexp.jobs.lanes import Lane
from humanexp.jobs.models import PERIODIC, Job, JobState
from humanexp.jobs.registry import HANDLERS, Registered, handlers
from humanexp.jobs.runner import Backoff, Patience, Pulse, is_outage
from tests.limits import LIMIT, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Register a handler for one test; no other kind is known meanwhile."""
    for known in list(handlers()):
        monkeypatch.delitem(HANDLERS, known)

    def register(run: Any, *, name: str = "test.kind", every_s: float | None = None, is_prompt: bool = False) -> str:
        monkeypatch.setitem(HANDLERS, name, Registered(name, run, every_s, "", is_prompt))
        return name

    return register


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Backoff, "FIRST_S", 0.02)
    monkeypatch.setattr(Backoff, "MOST_S", 0.05)


def database_error(statement: str) -> OperationalError:
    """As SQLite raises it for a statement, in Django's clothes."""
    try:
        with sqlite3.connect(":memory:") as database:
            database.execute(statement)
    except sqlite3.OperationalError as error:
        wrapped = OperationalError(*error.args)
        wrapped.__cause__ = error
        return wrapped
    finally:
        database.close()
    raise AssertionError(statement)


def locked() -> OperationalError:
    cause = sqlite3.OperationalError("database is locked")
    cause.sqlite_errorcode = sqlite3.SQLITE_BUSY
    error = OperationalError("database is locked")
    error.__cause__ = cause
    return error


def ended_connection(sqlstate: str | None) -> OperationalError:
    cause = Exception("terminating connection")
    cause.sqlstate = sqlstate  # type: ignore[attr-defined]
    error = OperationalError("terminating connection")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (locked(), True),
        (ended_connection("57P01"), True),
        (ended_connection(None), True),
        (ended_connection("53100"), True),
        (InterfaceError("connection already closed"), True),
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (StorageFailed("the disk is full"), True),
        (database_error("SELECT 1 FROM not_there"), False),
        (OSError(errno.ENOENT, "No such file"), False),
        (ValueError("wrong"), False),
    ],
)
def test_outages_are_told_from_faults_of_the_work(error: Exception, is_one: bool) -> None:
    assert is_outage(error) is is_one


@pytest.mark.process
@pytest.mark.parametrize("outage", [locked(), OSError(errno.ENOSPC, "No space left on device")])
@pytest.mark.usefixtures("quick")
def test_an_outage_costs_no_attempt_however_often_it_comes(kind, outage: Exception) -> None:
    times = iter(range(7))

    def run(progress: Any) -> dict[str, int]:
        if next(times) < 5:
            raise outage
        return {"answer": 42}

    kind(run)
    job = jobs.submit("test.kind")
    patience = Patience(threading.Event())
    while (claimed := jobs.claim(runner="a")) is not None or not Job.objects.get().is_finished:
        if claimed is not None:
            runner.run_one(claimed, "a", patience=patience)
        time.sleep(0.01)
    job.refresh_from_db()
    assert (job.state, job.result, job.attempt) == (JobState.DONE, {"answer": 42}, 1)


@pytest.mark.process
@pytest.mark.usefixtures("quick")
def test_a_result_is_stored_once_the_database_takes_it(kind) -> None:
    """The work is not done again because its end could not be stored at once."""
    runs = []

    def run(progress: Any) -> None:
        runs.append(1)
        refuse_changes()
        threading.Timer(0.3, allow_changes).start()

    kind(run)
    job = jobs.submit("test.kind")
    runner.run_one(jobs.claim(runner="a"), "a", patience=Patience(threading.Event()))
    job.refresh_from_db()
    assert (job.state, job.attempt, len(runs)) == (JobState.DONE, 1, 1)


def refuse_changes() -> None:
    connection.cursor().execute(
        "CREATE TRIGGER refuse BEFORE UPDATE ON jobs_job BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
    )


def allow_changes() -> None:
    connection.cursor().execute("DROP TRIGGER IF EXISTS refuse")
    connection.close()


@pytest.fixture(autouse=True)
def full_by_trigger(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A trigger's refusal is an IntegrityError: here it stands for an outage."""
    monkeypatch.setattr(runner, "is_outage", lambda error: is_outage(error) or isinstance(error, IntegrityError))
    yield
    connection.cursor().execute("DROP TRIGGER IF EXISTS refuse")


@pytest.mark.process
def test_a_lane_told_to_stop_hands_its_job_back_at_its_next_report(kind) -> None:
    begun = threading.Event()

    def run(progress: Any) -> None:
        for step in range(1000):
            begun.set()
            progress(step, 1000)
            time.sleep(0.01)

    kind(run)
    job = jobs.submit("test.kind")
    lane = Lane("lab", Pulse(), is_prompt=False, poll_s=0.01)
    lane.thread.start()
    assert begun.wait(LIMIT)
    assert lane.end(time.monotonic() + LIMIT)
    job.refresh_from_db()
    assert (job.state, job.attempt, job.run_after, job.error) == (JobState.QUEUED, 0, None, "")


def test_the_job_of_a_lane_that_does_not_hear_is_taken_from_it(kind) -> None:
    begun, hears = threading.Event(), threading.Event()

    def run(progress: Any) -> dict[str, str]:
        begun.set()
        hears.wait(LIMIT)
        return {"from": "the deaf one"}

    kind(run)
    job = jobs.submit("test.kind")
    lane = Lane("lab", Pulse(), is_prompt=False, poll_s=0.01)
    lane.thread.start()
    assert begun.wait(LIMIT)
    assert not lane.end(time.monotonic() + 0.1)
    lane.fence()
    job.refresh_from_db()
    assert (job.state, job.attempt) == (JobState.QUEUED, 0)
    hears.set()
    lane.thread.join(LIMIT)
    job.refresh_from_db()
    assert (job.state, job.result) == (JobState.QUEUED, {}), "what it stores afterwards does not count"


@pytest.mark.process
def test_payments_go_on_until_long_work_has_ended(kind) -> None:
    stop, begun, paid = threading.Event(), threading.Event(), []

    def work(progress: Any) -> None:
        begun.set()
        assert stop.wait(LIMIT)
        jobs.submit("test.pay")
        until(lambda: paid, "the payment is made")
        progress(1, 2)

    kind(work)
    kind(lambda progress: paid.append(1), name="test.pay", is_prompt=True)
    job = jobs.submit("test.kind")
    threading.Thread(target=lambda: begun.wait(LIMIT) and stop.set()).start()
    assert lanes.run_forever(stop, poll_s=0.01)
    job.refresh_from_db()
    assert paid == [1] and job.state == JobState.QUEUED


@pytest.mark.process
@pytest.mark.usefixtures("quick")
def test_a_lane_outlasts_what_its_loop_meets(kind, monkeypatch: pytest.MonkeyPatch) -> None:
    kind(lambda progress: None)
    job = jobs.submit("test.kind")
    refuse_changes()
    lane = Lane("lab", Pulse(), is_prompt=False, poll_s=0.01)
    lane.thread.start()
    lane.thread.join(0.3)
    assert lane.thread.is_alive()
    allow_changes()
    until(lambda: Job.objects.get().is_finished, "the job is done")
    assert lane.end(time.monotonic() + LIMIT)
    job.refresh_from_db()
    assert (job.state, job.attempt) == (JobState.DONE, 1)


@pytest.mark.process
def test_two_runners_never_own_one_job(kind) -> None:
    """The second comes between the first one's look and its update."""
    kind(lambda progress: None)
    jobs.submit("test.kind")
    second: list[Job | None] = []

    def come_between(execute: Any, sql: str, *arguments: Any) -> Any:
        if sql.startswith("UPDATE") and not second:
            second.append(None)
            second[0] = jobs.claim(runner="second")
        return execute(sql, *arguments)

    with connection.execute_wrapper(come_between):
        first = jobs.claim(runner="first")
    assert first is None
    assert second[0] is not None and Job.objects.get().runner == "second"


def test_a_kind_that_repeats_waits_once_by_constraint(kind) -> None:
    kind(lambda progress: None, every_s=60)
    jobs.schedule_periodic()
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.create(kind="test.kind", subject=PERIODIC)
    Job.objects.create(kind="test.kind", subject="on demand")


def test_two_runners_that_schedule_at_one_moment_make_one_job(kind) -> None:
    kind(lambda progress: None, every_s=60)
    between: list[int] = []

    def come_between(execute: Any, sql: str, *arguments: Any) -> Any:
        if "MAX(" in sql and not between:
            between.append(1)
            jobs.schedule_periodic()
        return execute(sql, *arguments)

    with connection.execute_wrapper(come_between):
        jobs.schedule_periodic()
    assert between and Job.objects.filter(kind="test.kind").count() == 1


def test_a_repeating_job_is_not_taken_up_beside_the_next(kind) -> None:
    kind(lambda progress: None, every_s=60)
    ended = Job.objects.create(kind="test.kind", subject=PERIODIC, state=JobState.FAILED)
    jobs.submit("test.kind", subject=PERIODIC)
    with pytest.raises(Conflict, match="the next one waits already"):
        jobs.resume(job=ended)


def test_nothing_waits_an_hour_because_the_clock_was_set_back(kind) -> None:
    kind(lambda progress: None, every_s=60)
    far = clock.now() + timedelta(hours=1)
    Job.objects.create(kind="test.kind", subject=PERIODIC, run_after=far)
    Job.objects.create(kind="test.kind", subject="tried again", run_after=far)
    jobs.schedule_periodic()
    assert not Job.objects.filter(run_after__gt=clock.now() + timedelta(seconds=61)).exists()
    Job.objects.all().delete()
    Job.objects.create(kind="test.kind", subject=PERIODIC, state=JobState.DONE, finished_at=far)
    jobs.schedule_periodic()
    assert Job.objects.get(state=JobState.QUEUED).run_after <= clock.now() + timedelta(seconds=60)


#: Waits while another process sends both signals, again and again, a moment apart.
_SIGNALLED = """
import os, signal, subprocess, sys
import django
django.setup()
from humanexp.jobs.lanes import ToldBySignal
told = ToldBySignal()
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, told.note)
sender = subprocess.Popen([sys.executable, "-c", sys.argv[1], str(os.getpid())], start_new_session=True)
while sender.poll() is None:
    told.wait(0.0005)
print("told" if told.wait(0) else "not told")
"""
_SENDS = """
import os, random, signal, sys, time
pauses = random.Random(7)
for _ in range(5000):
    os.kill(int(sys.argv[1]), signal.SIGINT)
    os.kill(int(sys.argv[1]), signal.SIGTERM)
    time.sleep(pauses.random() * 0.001)
"""


@pytest.mark.process
def test_a_second_signal_right_after_the_first_holds_up_nothing() -> None:
    """Ctrl-C reaches a whole group, and `make run` then ends the runner once more."""
    command = [sys.executable, "-c", _SIGNALLED, _SENDS]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert (ended.stdout, ended.returncode) == ("told\n", 0), ended.stderr
