"""One round of the ledger under fire: a campaign, its people, faults, kills, gaps in time, and the books afterwards.

The process that holds this never touches the database itself: whatever does is a forked process, which may be killed.
"""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import requests

from benchmarks._ledger_lives import Lives, LivesSpent
from benchmarks._ledger_processes import patiently
from tests.marketplace.server import MarketplaceServer, RequesterKeys, WorkerClient

#: What the sender writes; of the calls of each, so many meet a fault, and these are the kinds in equal parts.
WRITES = ("CreateHITType", "CreateHITWithHITType", "CreateQualificationType", "ApproveAssignment", "SendBonus")
WRITES += ("UpdateExpirationForHIT",)
FAULT_SHARE = 0.4
FAULTS = ("throttle", "service_fault", "drop_before", "drop_after_commit")
#: The list of bonuses leaves out what is younger than this, one time in ten.
STALE_S, STALE_SHARE = 60, 0.1
#: A busy machine is no fault: calls that are not under fire are waited for so long.
PATIENCE_S = 900


@dataclass
class Outcome(LivesSpent):
    """What one seed came to."""

    database: str = "sqlite"
    workers: int = 0
    attempts: int = 0
    bonuses: int = 0
    excluded_but_paid: int = 0
    approved_by_time: int = 0
    paid_cents: int = 0
    charged_cents: int = 0


class Fire(Lives):
    """A seed's round."""

    outcome: Outcome

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
        super().__init__(seed=seed, people=len(workers), shift_s=shift_s, kill_after_s=kill_after_s)
        self.market, self.keys, self.workers = market, keys, workers
        self.outcome = Outcome(seed=seed, database=database, workers=len(workers))

    def run(self) -> Outcome:
        """From the launch to the books."""
        begun, there = time.monotonic(), self.market.client(self.keys, attempts=5, read_timeout=PATIENCE_S)
        balance = _cents(there.get_account_balance()["AvailableBalance"])
        self._process(self._launch)
        self._arm()
        self._live([self._send], left=self._waiting)
        places = self._process(self._places)
        receipts = self._process(lambda: self._consent(taken)) if (taken := self._accept(places)) else {}
        self._submit(taken, receipts)
        self._live([self._keep_books, self._send, self._send, self._send], left=self._unpaid)
        self._process(self._stop)
        self._live([self._send], left=self._waiting)
        self._control("clear")
        books = self._process(self._books)
        self._compare(there, books, spent=balance - _cents(there.get_account_balance()["AvailableBalance"]))
        self.outcome.seconds = round(time.monotonic() - begun, 1)
        return self.outcome

    # Weather ----------------------------------------------------------------------------------------------------

    def _arm(self) -> None:
        self._control("clear", seed=self.seed)
        each = FAULT_SHARE / len(FAULTS)
        for operation in WRITES:
            met = 0.0
            for kind in FAULTS:  # one after the other draws: equal parts of all calls
                self._fault(operation, kind, share=each / (1 - met))
                met += each
        self._fault("ListBonusPayments", "stale", share=STALE_SHARE, seconds=STALE_S)

    def _fault(self, operation: str, kind: str, *, share: float, seconds: float = 1.0) -> None:
        self._control("faults", operation=operation, kind=kind, times=10**9, seconds=seconds, share=share)

    def advance(self, seconds: float) -> None:
        self._control("clock", advance_seconds=seconds)
        self.shift_s += seconds

    def _control(self, name: str, **wanted: Any) -> None:
        """Never given up half-way: the two clocks have to stay together."""
        requests.post(f"{self.market.url}/_test/{name}", json=wanted, timeout=PATIENCE_S).raise_for_status()

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


def _cents(amount: str) -> int:
    from humanexp.recruiters import money

    return money.cents(amount)
