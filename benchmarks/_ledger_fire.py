"""One round of the ledger under fire: a campaign, its people, faults, kills, gaps in time, and the books afterwards.

The process that holds this never touches the database itself: whatever does is a forked process, which may be killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import requests
from django.db import connection
from django.utils import timezone

from humanexp.core import clock
from tests.marketplace.server import MarketplaceServer, RequesterKeys, WorkerClient

REWARD_CENTS = 37
#: What the sender writes; of the calls of each, so many meet a fault, and these are the kinds in equal parts.
WRITES = ("CreateHITType", "CreateHITWithHITType", "CreateQualificationType", "ApproveAssignment", "SendBonus")
WRITES += ("UpdateExpirationForHIT",)
FAULT_SHARE = 0.4
FAULTS = ("throttle", "service_fault", "drop_before", "drop_after_commit")
#: The list of bonuses leaves out what is younger than this, one time in ten.
STALE_S, STALE_SHARE = 60, 0.1
#: A busy machine is no fault: calls that are not under fire are waited for so long.
PATIENCE_S = 900
LEASE_RUNS_OUT_S, GAP_S = 95, 25 * 3600
#: After so many lives without an end something is wrong.
MOST_LIVES = 5_000
#: A life in which nothing was achieved makes the next ones longer, so that a busy machine gets on.
PATIENCE = 1.5


class Shifted:
    """The platform's clock, moved with the marketplace's."""

    def __init__(self, seconds: float) -> None:
        self.shift = timedelta(seconds=seconds)

    def now(self) -> datetime:
        return timezone.now() + self.shift


@dataclass
class Outcome:
    """What one seed came to."""

    seed: int
    database: str
    workers: int
    seconds: float = 0.0
    lives: int = 0
    kills: int = 0
    gaps: int = 0
    attempts: int = 0
    bonuses: int = 0
    excluded_but_paid: int = 0
    approved_by_time: int = 0
    paid_cents: int = 0
    charged_cents: int = 0
    #: empty when everything is as it should be
    faults: list[str] = field(default_factory=list)


def fork(work: Callable[[], Any]) -> tuple[int, int]:
    """A process of its own for the work; its id, and where its result can be read."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    try:
        os.close(reading)
        with os.fdopen(writing, "w") as stream:
            json.dump(work(), stream)
        status = 0
    except BaseException:  # noqa: BLE001  (the forked process ends here, whatever happens)
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def finish(pid: int, reading: int) -> Any:
    with os.fdopen(reading) as stream:
        said = stream.read()
    _, status = os.waitpid(pid, 0)
    if status:
        raise RuntimeError(f"A process ended with {status}; it says why above.")
    return json.loads(said)


def patiently(call: Callable[[], Any]) -> Any:
    """A busy machine is no fault."""
    for _ in range(30):
        with contextlib.suppress(requests.Timeout):
            return call()
    return call()


def in_a_process(work: Callable[[], Any]) -> Any:
    return finish(*fork(work))


class Fire:
    """A seed's round. `advance` moves both clocks."""

    def __init__(
        self,
        *,
        seed: int,
        database: str,
        market: MarketplaceServer,
        keys: RequesterKeys,
        workers: list[WorkerClient],
        shift_s: float,
        kill_after_s: float = 1.0,
    ) -> None:
        self.seed, self.market, self.keys, self.workers = seed, market, keys, workers
        self.shift_s, self.kill_after_s = shift_s, kill_after_s
        self.random = random.Random(seed)  # noqa: S311  (a simulation)
        self.outcome = Outcome(seed=seed, database=database, workers=len(workers))
        self.slug = f"fire-{seed}"

    def run(self) -> Outcome:
        """From the launch to the books."""
        begun, there = time.monotonic(), self.market.client(self.keys, attempts=5, read_timeout=PATIENCE_S)
        balance = _cents(there.get_account_balance()["AvailableBalance"])
        self._process(self._launch)
        self._arm()
        self._live(self._send, left=self._waiting)
        places = self._process(self._places)
        receipts = self._process(lambda: self._consent(taken)) if (taken := self._accept(places)) else {}
        self._submit(taken, receipts)
        self._live(self._keep_books, left=self._unpaid)
        self._process(self._stop)
        self._live(self._send, left=self._waiting)
        self._control("DELETE", "faults", {})
        books = self._process(self._books)
        self._compare(there, books, spent=balance - _cents(there.get_account_balance()["AvailableBalance"]))
        self.outcome.seconds = round(time.monotonic() - begun, 1)
        return self.outcome

    # Weather ----------------------------------------------------------------------------------------------------

    def _arm(self) -> None:
        self._control("DELETE", "faults", {"seed": self.seed})
        each = FAULT_SHARE / len(FAULTS)
        for operation in WRITES:
            met = 0.0
            for kind in FAULTS:  # one after the other draws: equal parts of all calls
                self._fault(operation, kind, share=each / (1 - met))
                met += each
        self._fault("ListBonusPayments", "stale", share=STALE_SHARE, seconds=STALE_S)

    def _fault(self, operation: str, kind: str, *, share: float, seconds: float = 1.0) -> None:
        fault = {"operation": operation, "kind": kind, "times": 10**9, "seconds": seconds, "share": share}
        self._control("POST", "faults", fault)

    def advance(self, seconds: float) -> None:
        self._control("POST", "clock", {"advance_seconds": seconds})
        self.shift_s += seconds

    def _control(self, method: str, name: str, body: dict[str, Any]) -> None:
        """Never given up half-way: the two clocks have to stay together."""
        url = f"{self.market.url}/_test/{name}"
        requests.request(method, url, json=body, timeout=PATIENCE_S).raise_for_status()

    def _live(self, work: Callable[[], Any], *, left: Callable[[], int]) -> None:
        """Processes that do the work, two at once, each killed at a random moment; until nothing is left."""
        before, mean = self._process(left), self.kill_after_s
        for _ in range(MOST_LIVES):
            lives = [fork(self._prepared(work)) for _ in range(2)]
            time.sleep(0.02 + self.random.expovariate(1 / mean))
            for pid, reading in lives:
                self.outcome.lives += 1
                ended, _ = os.waitpid(pid, os.WNOHANG)
                if not ended:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    self.outcome.kills += 1
                os.close(reading)
            is_gap = self.random.random() < 0.1
            self.outcome.gaps += is_gap
            self.advance(GAP_S if is_gap else LEASE_RUNS_OUT_S)
            after = self._process(left)
            if not after:
                return
            mean = self.kill_after_s if after < before else min(60.0, mean * PATIENCE)
            before = after
        raise RuntimeError(f"seed {self.seed}: {before} left after {MOST_LIVES} lives")

    def _process(self, work: Callable[[], Any]) -> Any:
        return in_a_process(self._prepared(work))

    def _prepared(self, work: Callable[[], Any]) -> Callable[[], Any]:
        shift = self.shift_s

        def prepared() -> Any:
            clock.system_clock = Shifted(shift)
            try:
                return work()
            finally:
                connection.close()

        return prepared

    # The platform's side, each in a process ---------------------------------------------------------------------

    def _launch(self) -> None:
        from humanexp.experiments.models import Study
        from humanexp.recruitment import services
        from humanexp.recruitment.models.campaigns import DAY_S
        from tests.recruitment.studies import make_study

        study = make_study(self.slug)
        Study.objects.filter(pk=study.pk).update(planned_sessions=len(self.workers))
        study.refresh_from_db()
        services.publish(
            study=study,
            to="marketplace",
            assignments=len(self.workers),
            reward_cents=REWARD_CENTS,
            title=f"Under fire {self.seed}",
            cap_cents=10_000_000,
            lifetime_s=300 * DAY_S,
            # with even seeds time approves some of it
            auto_approval_s=(3 if self.seed % 2 == 0 else 30) * DAY_S,
            skip_preflight=True,
        )

    def _send(self) -> None:
        from humanexp.recruitment import services

        for _ in range(20):
            services.send(environment="marketplace")
            if not self._waiting():
                return

    def _keep_books(self) -> None:
        """Poll, settle, clear, plan bonuses, send: all of it again in every life, and each of it once in the end."""
        from humanexp.core.models import User
        from humanexp.recruitment import selectors, services
        from humanexp.recruitment.models import Assignment

        study, by = self._study(), User.objects.get_or_create(username="ada")[0]
        if Assignment.objects.filter(campaign__study=study, state="submitted").exists() or self._unlisted(study):
            services.sync(study=study)
            services.settle(study=study)
            for row in selectors.unmatched(study):
                services.clear(assignment=row, by=by)
        known = set(Assignment.objects.filter(payments__kind="bonus").values_list("pk", flat=True))
        for row in Assignment.objects.filter(campaign__study=study, state__in=["submitted", "approved"]):
            cents = self.bonus_cents(row.assignment_id)
            if cents and row.pk not in known:
                services.plan_bonus(assignment=row, amount_cents=cents, cause="care", reason="For your care.")
        self._send()

    def bonus_cents(self, assignment_id: str) -> int:
        """Every second assignment earns one, whoever asks and however often."""
        chance = random.Random(f"{self.seed}-{assignment_id}")  # noqa: S311
        return chance.randint(1, 200) if chance.random() < 0.5 else 0

    def _waiting(self) -> int:
        from humanexp.recruitment.services.sending import count_waiting

        return count_waiting("marketplace")

    def _unpaid(self) -> int:
        """People who are not approved, bonuses that are not confirmed, and whatever else waits."""
        from humanexp.recruitment.models import Assignment, Payment

        study = self._study()
        approved = Assignment.objects.filter(campaign__study=study, state="approved").count()
        bonuses = Payment.objects.filter(assignment__campaign__study=study, kind="bonus", state="confirmed").count()
        names = Assignment.objects.filter(campaign__study=study).values_list("assignment_id", flat=True)
        earned = sum(bool(self.bonus_cents(name)) for name in names)
        return len(self.workers) - approved + earned - bonuses + self._waiting()

    def _places(self) -> list[str]:
        from humanexp.recruitment.models import Hit

        hits = Hit.objects.filter(campaign__study=self._study()).order_by("pk")
        return [hit.hit_id for hit in hits for _ in range(hit.max_assignments)]

    def _consent(self, taken: list[tuple[str, str, str]]) -> dict[str, str]:
        """Rows of people who did everything here; one in fifty never came by, one in four is excluded afterwards."""
        from humanexp.experiments import services as experiments
        from humanexp.experiments.models import Session
        from humanexp.recruitment.models import Assignment, Campaign, Hit
        from humanexp.recruitment.services.people import person_for
        from humanexp.screening.models import Verdict

        study = self._study()
        campaign, hits = Campaign.objects.get(study=study), {hit.hit_id: hit for hit in Hit.objects.all()}
        receipts, now = {}, clock.now()
        for slot, (worker_id, hit_id, assignment_id) in enumerate(taken):
            if slot % 50 == 7:
                continue
            person = person_for(environment="marketplace", worker_id=worker_id, family=study.family)
            session = Session.objects.create(
                study=study,
                participant=person.participant,
                code=f"S-{self.seed}-{slot}",
                slot=slot,
                state="completed",
                total=3,
                cursor=3,
                token_nonce="n",  # noqa: S106
                opened_at=now,
                completed_at=now,
            )
            Assignment.objects.create(
                campaign=campaign,
                hit=hits[hit_id],
                environment="marketplace",
                assignment_id=assignment_id,
                person=person,
                session=session,
                opened_at=now,
            )
            is_out = slot % 4 == 3
            Verdict.objects.create(
                session=session,
                accepted=not is_out,
                reasons=["gold trials failed"] if is_out else [],
                rule_set="none",
                rule_version="1",
                decided_at=now,
            )
            receipts[assignment_id] = experiments.receipt_for(session=session)
        return receipts

    def _stop(self) -> None:
        from humanexp.recruitment import services

        services.stop(study=self._study())

    def _books(self) -> dict[str, Any]:
        """The ledger's side of the truth."""
        from humanexp.recruitment import services
        from humanexp.recruitment.models import Hit, Payment

        study = self._study()
        services.sync(study=study)
        [book] = services.reconcile(environment="marketplace")
        rows = Payment.objects.filter(assignment__campaign__study=study).select_related("assignment__session")
        paid_out = [row for row in rows if row.kind == "reward" and _is_excluded(row)]
        by_time = [row for row in rows if row.kind == "reward" and not row.attempts]
        return {
            "adds_up": book.adds_up,
            "differences": book.differences[:5],
            "hits": list(Hit.objects.filter(campaign__study=study).values_list("hit_id", flat=True)),
            "rows": [
                [row.kind, row.state, row.assignment.assignment_id, row.amount_cents, row.cost_cents] for row in rows
            ],
            "attempts": sum(row.attempts for row in rows),
            "excluded": len(paid_out),
            "by_time": len(by_time),
        }

    def _study(self) -> Any:
        from humanexp.experiments.models import Study

        return Study.objects.select_related("family").get(slug=self.slug)

    def _unlisted(self, study: Any) -> bool:
        from humanexp.recruitment.models import Assignment
        from humanexp.recruitment.states import LISTED

        return Assignment.objects.filter(campaign__study=study, state__in=LISTED).count() < len(self.workers)

    # The people's side --------------------------------------------------------------------------------------------

    def _accept(self, places: list[str]) -> list[tuple[str, str, str]]:
        def take(pair: tuple[WorkerClient, str]) -> tuple[str, str, str]:
            worker, hit_id = pair
            accepted = patiently(lambda: worker.accept(hit_id))  # a second time it is the one in hand
            return worker.worker_id, hit_id, accepted["assignment_id"]

        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(take, zip(self.workers, places, strict=True)))

    def _submit(self, taken: list[tuple[str, str, str]], receipts: dict[str, str]) -> None:
        by_id = {worker.worker_id: worker for worker in self.workers}

        def submit(one: tuple[str, str, str]) -> None:
            reply = patiently(lambda: by_id[one[0]].try_submit(one[2], receipt=receipts.get(one[2], "none")))
            if reply.status_code != 409:  # submitted already, by a call that was not waited for
                reply.raise_for_status()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(submit, taken))

    # The truth ----------------------------------------------------------------------------------------------------

    def _compare(self, there: Any, books: dict[str, Any], *, spent: int) -> None:
        """Their lists and their balance against the ledger, to the cent."""
        outcome, wrong = self.outcome, self.outcome.faults
        states, bonuses = Counter[str](), Counter[str]()
        cents: dict[str, int] = {}
        listed_hits = [
            hit["HITId"]
            for page in there.get_paginator("list_hits").paginate(MaxResults=100)
            for hit in page["HITs"]
            if hit["Title"] == f"Under fire {self.seed}"
        ]
        if sorted(listed_hits) != sorted(books["hits"]):
            wrong.append(f"{len(listed_hits)} HITs there, {len(books['hits'])} here")
        for hit_id in listed_hits:
            for page in there.get_paginator("list_assignments_for_hit").paginate(HITId=hit_id, MaxResults=100):
                states.update(row["AssignmentStatus"] for row in page["Assignments"])
            for page in there.get_paginator("list_bonus_payments").paginate(HITId=hit_id, MaxResults=100):
                for bonus in page["BonusPayments"]:
                    bonuses[bonus["AssignmentId"]] += 1
                    cents[bonus["AssignmentId"]] = cents.get(bonus["AssignmentId"], 0) + _cents(bonus["BonusAmount"])
        if states != {"Approved": outcome.workers}:
            wrong.append(f"assignments there: {dict(states)}")
        planned = {row[2]: row[3] for row in books["rows"] if row[0] == "bonus"}
        twice = [name for name, count in bonuses.items() if count > 1]
        if twice:
            wrong.append(f"{len(twice)} bonuses were paid more than once")
        if planned != cents:
            wrong.append(f"bonuses there {sum(cents.values())} cents, here {sum(planned.values())}")
        unconfirmed = [row for row in books["rows"] if row[1] != "confirmed"]
        if unconfirmed:
            wrong.append(f"{len(unconfirmed)} rows are not confirmed")
        outcome.charged_cents, outcome.paid_cents = spent, sum(row[4] for row in books["rows"])
        if spent != outcome.paid_cents:
            wrong.append(f"charged {spent} cents, the ledger says {outcome.paid_cents}")
        if not books["adds_up"]:
            wrong += books["differences"]
        outcome.attempts, outcome.bonuses = books["attempts"], len(planned)
        outcome.excluded_but_paid, outcome.approved_by_time = books["excluded"], books["by_time"]


def _is_excluded(row: Any) -> bool:
    session = row.assignment.session
    return session is not None and session.verdicts.filter(accepted=False).exists()


def _cents(amount: str) -> int:
    from humanexp.recruitment import money

    return money.cents(amount)
