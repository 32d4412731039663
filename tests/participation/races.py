"""Many at once, over a real database with its tables: `python -m tests.participation.races`.

DATABASE_URL and MEDIA_ROOT say where. A process of its own, because threads cannot share the in-memory database of the
test run. Prints the outcomes as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event, Thread
from urllib.request import Request, urlopen

import django

from tests.limits import LIMIT

THREADS = 8


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    django.setup()
    from django.db import connections

    from humanexp.participation import presentation
    from humanexp.studies.services import start_collecting
    from tests.factories import draft_study, make_stimulus_set

    presentation.SHARE = 0.0
    make_stimulus_set()
    outcomes = {}
    races = (
        open_sessions,
        open_as_one_person,
        answer_once,
        redeem_once,
        judge_one,
        launch_once,
        stop_behind_long_work,
    )
    for race in (*races, killed_before_the_reply):
        made = draft_study(slug=race.__name__.replace("_", "-"), recruitment={"contact": "lab@example.org"})
        outcomes[race.__name__] = race(start_collecting(study=made))
    connections.close_all()
    json.dump(outcomes, sys.stdout)


def together(calls):
    """Run the calls at the same moment; what each returned, or the name of its error."""
    from django.db import connections

    from humanexp.core.errors import ApplicationError

    barrier = Barrier(len(calls))

    def run(call):
        barrier.wait()
        try:
            return call()
        except ApplicationError as error:
            return type(error).__name__
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def open_sessions(study):
    """Eight people, six slots."""
    from tests.factories import new_session

    got = together([lambda n=n: new_session(study, f"P-{n}").slot for n in range(THREADS)])
    return {"slots": sorted(s for s in got if isinstance(s, int)), "errors": [s for s in got if isinstance(s, str)]}


def open_as_one_person(study):
    from humanexp.participation.models import Session
    from tests.factories import new_session

    got = together([lambda: new_session(study, "P-1").code for _ in range(THREADS)])
    return {"codes": sorted(set(got)), "rows": Session.objects.filter(study=study).count()}


def answer_once(study):
    """Eight different answers to the same trial, for every trial of a session."""
    from humanexp.participation import sessions
    from humanexp.participation.answering import store_response, take_lease
    from humanexp.participation.models import Response, Session
    from humanexp.participation.openings import issue_token
    from tests.factories import new_session

    session = new_session(study, "P-1")
    claim = sessions.TOKEN.read(issue_token(session=session))
    take_lease(claim=claim, lease="tab-00000001")
    names = ["dog", "cat", "bear", "bird", "car", "boat", "oven", "clock"]
    new, agreed = Counter(), 0
    for position in range(12):

        def answer(name, position=position):
            stored = store_response(claim=claim, lease="tab-00000001", position=position, response=name)
            return [stored.is_new, stored.correct]

        got = together([lambda name=name: answer(name) for name in names])
        new[sum(one[0] for one in got)] += 1
        agreed += len({one[1] for one in got}) == 1
    session = Session.objects.get(pk=session.pk)
    return {
        "new_per_position": dict(new),
        "agreed": agreed,
        "rows": Response.objects.filter(session=session).count(),
        "cursor": session.cursor,
    }


def redeem_once(study):
    from humanexp.participation.openings import exchange_handoff, issue_handoff
    from tests.factories import new_session

    code = issue_handoff(session=new_session(study, "P-1"))
    got = together([lambda: len(exchange_handoff(code=code).token) > 20 for _ in range(THREADS)])
    return {"tokens": got.count(True), "refused": got.count("TokenRefused")}


def judge_one(study):
    """So many decide about one session."""
    from humanexp.screening.models import Verdict
    from humanexp.screening.services import append_verdict
    from tests.factories import new_session

    session = new_session(study, "P-1")

    def judge():
        return append_verdict(session=session, accepted=True, rule_set="vcr", rule_version="2").pk

    appended = together([judge] * THREADS)
    verdicts = Verdict.objects.filter(session=session)
    current = list(verdicts.filter(is_current=True).values_list("pk", flat=True))
    return {"appended": len(set(appended)), "rows": verdicts.count(), "the_last_alone": current == [max(appended)]}


def launch_once(study):
    """Eight clicks on one page's button."""
    from humanexp.ledger.models import Call
    from humanexp.recruiting.launch import LaunchTerms, publish

    def click():
        publish(
            study=study,
            terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=100),
            shown_campaigns=0,
            skip_preflight=True,
        )
        return "launched"

    return {**Counter(together([click] * THREADS)), "hits": Call.objects.count()}


def stop_behind_long_work(study):
    """One runner has an hour of work in hand when somebody asks for something that cannot wait."""
    from humanexp.jobs import lanes, services as jobs
    from humanexp.jobs.models import Job
    from humanexp.jobs.registry import HANDLERS, Registered

    began, done, stop = Event(), Event(), Event()

    def long(progress):
        began.set()
        return {"prompt_was_done": done.wait(LIMIT)}

    HANDLERS["long"] = Registered("long", long, None)
    HANDLERS["prompt"] = Registered("prompt", lambda progress: done.set(), None, is_prompt=True)
    Job.objects.all().delete()
    job = jobs.submit("long")
    running = Thread(target=lanes.run_forever, args=(stop,), kwargs={"poll_s": 0.05})
    running.start()
    try:
        began.wait(LIMIT)
        jobs.submit("prompt")
        done.wait(LIMIT)
    finally:
        stop.set()
        running.join(LIMIT)
        del HANDLERS["long"], HANDLERS["prompt"]
    job.refresh_from_db()
    return {"state": job.state, **job.result}


def killed_before_the_reply(study):
    """The server dies between storing an answer and replying; the page sends the answer again to the next one."""
    from humanexp.participation import sessions
    from humanexp.participation.answering import take_lease
    from humanexp.participation.models import Response
    from humanexp.participation.openings import issue_token
    from tests.factories import new_session

    session = new_session(study, "P-1")
    token = issue_token(session=session)
    take_lease(claim=sessions.TOKEN.read(token), lease="tab-00000001")

    def send(port, **headers):
        body = json.dumps({"position": 0, "response": "dog"}).encode()
        known = {"Authorization": f"Bearer {token}", "X-Lease": "tab-00000001", "Content-Type": "application/json"}
        request = Request(f"http://127.0.0.1:{port}/api/v1/run/responses/", body, {**known, **headers})
        with urlopen(request, timeout=LIMIT) as reply:  # noqa: S310  (our own server)
            return reply.status

    outcome = {}
    with server() as port:
        try:
            outcome["first"] = send(port, **{"X-Die": "1"})
        except OSError:
            outcome["first"] = "no reply"
    outcome["stored"] = Response.objects.filter(session=session).count()
    with server() as port:
        outcome["again"] = send(port)
    outcome["rows"] = Response.objects.filter(session=session).count()
    return outcome


@contextmanager
def server():
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.participation.killable"], stdout=subprocess.PIPE, text=True
    )
    try:
        yield int(running.stdout.readline())
    finally:
        running.kill()
        running.wait()
        running.stdout.close()


if __name__ == "__main__":
    main()
