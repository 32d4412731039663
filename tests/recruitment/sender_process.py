"""A sender in a process of its own, to be killed: python -m tests.recruitment.sender_process ACTION [NUMBER].

Several actions one after the other, with "then" between them, are one process. Each prints a line of JSON.

prepare N   a study, N submitted assignments and their planned rewards and bonuses
send        rounds through the outbox until nothing waits or another sender is at work; prints the report
send-killed the same, killed when the reply to its first bonus has arrived and before it is read
time-passes the lease of a sender that is dead or at work runs out
ledger      prints what the ledger says
sync N M    N polls at the same moment, M times; prints what became of the HITs
promise N   N people plan a bonus at the same moment, and the study's cap holds two of them
enter N     a study, and N clicks of one person at the same moment; prints the sessions they got
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from humanexp.core.errors import CapExceeded  # noqa: E402
from humanexp.entry import arrival  # noqa: E402
from humanexp.entry.arrival import Arrival  # noqa: E402
from humanexp.entry.identity import Proof  # noqa: E402
from humanexp.ledger import sender  # noqa: E402
from humanexp.ledger.budgets import budget_of, set_study_cap  # noqa: E402
from humanexp.ledger.models import Payment  # noqa: E402
from humanexp.ledger.settlement import plan_bonus, settle  # noqa: E402
from humanexp.recruiters.models import Assignment, Hit, RecruiterAccount  # noqa: E402
from humanexp.recruiters.people import person_for  # noqa: E402
from humanexp.recruiters.states import AssignmentState  # noqa: E402
from humanexp.recruiters.tickets import Ticket  # noqa: E402
from humanexp.recruiting import polling  # noqa: E402
from humanexp.recruiting.launch import LaunchTerms, publish  # noqa: E402
from humanexp.studies.models import Study  # noqa: E402
from tests.marketplace.server import WorkerClient  # noqa: E402
from tests.recruitment.studies import make_study  # noqa: E402


def prepare(count: int) -> dict[str, Any]:
    study = make_study()
    terms = LaunchTerms(to="marketplace", assignments=count, reward_cents=50, cap_cents=100_000)
    campaign = publish(study=study, terms=terms, skip_preflight=True)
    sender.send(environment="marketplace")
    hit = campaign.hits.get()
    for _ in range(count):
        worker = WorkerClient(settings.MARKETPLACE_URL).sign_up()
        assignment_id = worker.do(hit.hit_id)
        Assignment.objects.create(
            campaign=campaign,
            hit=hit,
            environment="marketplace",
            assignment_id=assignment_id,
            person=person_for(environment="marketplace", worker_id=worker.worker_id, family=study.family),
            state=AssignmentState.SUBMITTED,
            evidence="session",
            submitted_at=timezone.now(),
        )
    settle(study=study)
    for row in Assignment.objects.all():
        plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
    return {"hit_id": hit.hit_id, "planned": Payment.objects.count()}


def send() -> dict[str, Any]:
    report = sender.send(environment="marketplace")
    return {"confirmed": report.confirmed, "waiting": report.waiting, "remarks": report.remarks}


def send_killed() -> dict[str, Any]:
    """The bonus is paid on the other side, and nobody here has heard of it."""
    from botocore.httpsession import URLLib3Session

    call = URLLib3Session.send

    def call_once(self: URLLib3Session, request: Any) -> Any:
        reply = call(self, request)
        operation = request.headers["X-Amz-Target"]
        if (operation if isinstance(operation, str) else operation.decode()).endswith(".SendBonus"):
            os.kill(os.getpid(), signal.SIGKILL)
        return reply

    URLLib3Session.send = call_once
    return send()


def time_passes() -> dict[str, Any]:
    return {"leases": RecruiterAccount.objects.update(holder="")}


def ledger() -> dict[str, Any]:
    rows = Payment.objects.values_list("state", flat=True)
    return {"states": sorted(rows), "total_cents": sum(Payment.objects.values_list("amount_cents", flat=True))}


def enter(count: int) -> dict[str, Any]:
    terms = LaunchTerms(to="marketplace", assignments=4, reward_cents=50)
    campaign = publish(study=make_study(), terms=terms, skip_preflight=True)
    together = threading.Barrier(count)

    def click(_: int) -> str:
        together.wait()
        entered = arrival.enter(
            campaign=campaign,
            arrival=Arrival(
                consents=True, ticket=Ticket(submission="A1", person="AWORKER1"), proof=Proof(opening="one page")
            ),
        )
        connection.close()
        return entered.session.code

    with ThreadPoolExecutor(count) as pool:
        return {"sessions": sorted(set(pool.map(click, range(count)))), "rows": Assignment.objects.count()}


def promise(count: int) -> dict[str, Any]:
    """N people plan a bonus at the same moment; the study's cap holds two of them, another campaign's cap all."""
    study = Study.objects.get()
    set_study_cap(study=study, cap_cents=budget_of(study, "USD").committed_cents + 100, by=None)
    together = threading.Barrier(count)

    def plan(row: Assignment) -> int:
        together.wait()
        try:
            plan_bonus(assignment=row, amount_cents=40, cause="at once", reason="For your care.")
            return 1
        except CapExceeded:
            return 0
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        planned = sum(pool.map(plan, Assignment.objects.order_by("pk")[:count]))
    return {"planned": planned, "left": budget_of(study, "USD").left_cents}


def sync(count: int, rounds: int) -> dict[str, Any]:
    """Again and again the HIT is open here and full on the other side, and all polls start together."""
    together = threading.Barrier(count)

    def poll(_: int) -> int:
        together.wait()
        try:
            return polling.sync().hits
        finally:
            connection.close()

    polled: list[int] = []
    with ThreadPoolExecutor(count) as pool:
        for _ in range(rounds):
            Hit.objects.update(state="open")
            polled += pool.map(poll, range(count))
    return {"polled": polled, "hits": list(Hit.objects.values_list("state", flat=True))}


def main(*words: str) -> None:
    for is_between, action in itertools.groupby(words, "then".__eq__):
        if not is_between:
            act(*action)


def act(action: str, *arguments: str) -> None:
    actions: dict[str, Callable[[], dict[str, Any]]] = {
        "prepare": lambda: prepare(*map(int, arguments)),
        "send": send,
        "send-killed": send_killed,
        "time-passes": time_passes,
        "ledger": ledger,
        "promise": lambda: promise(*map(int, arguments)),
        "sync": lambda: sync(*map(int, arguments)),
        "enter": lambda: enter(*map(int, arguments)),
    }
    made = actions[action]()
    sys.stdout.write(json.dumps(made) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
