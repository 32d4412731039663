"""Calls a second at the marketplace: boto3 over HTTP with signatures verified, SQLite that waits for the disk.

    python -m benchmarks.marketplace [--seconds 3]

Client and server share the machine. The reference is a bare HTTP request of the same process (`/healthz`), so that the
ratios can be compared between machines.
"""

from __future__ import annotations

import itertools
import json
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import requests

from benchmarks._command import run
from benchmarks._processes import cpu_seconds
from tests.marketplace.server import WorkerClient, external_question, running


class Meter:
    """Calls a second, and what each costs the server's processor: the latter does not depend on who else is at work."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.rows: dict[str, dict[str, float]] = {}

    def measure(self, name: str, call: Callable[[], object], seconds: float, threads: int = 1) -> None:
        end = time.monotonic() + seconds

        def work(_: int) -> int:
            done = 0
            while time.monotonic() < end:
                call()
                done += 1
            return done

        begin, cpu = time.monotonic(), cpu_seconds(self.pid)
        with ThreadPoolExecutor(threads) as pool:
            total = sum(pool.map(work, range(threads)))
        self.rows[name] = {
            "calls_per_s": round(total / (time.monotonic() - begin), 1),
            "server_cpu_ms": round(1000 * (cpu_seconds(self.pid) - cpu) / max(1, total), 2),
        }


def main(*, seconds: Annotated[float, "for each figure"] = 3.0) -> None:
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), test_controls=False) as server:
        client = server.client(server.create_requester("lab", "900000.00"))
        values = {"Description": "d", "Reward": "0.10", "AssignmentDurationInSeconds": 3600}
        type_id = client.create_hit_type(Title="t", **values)["HITTypeId"]
        hit = {"HITTypeId": type_id, "LifetimeInSeconds": 86_400, "Question": external_question()}
        hit_id = client.create_hit_with_hit_type(**hit, MaxAssignments=100_000)["HIT"]["HITId"]
        one = server.worker()
        bonus = {"WorkerId": one.worker_id, "AssignmentId": one.do(hit_id), "BonusAmount": "0.01", "Reason": "r"}
        session, tokens = requests.Session(), itertools.count()
        assert server.process is not None
        meter = Meter(server.process.pid)
        meter.measure("GET /healthz", lambda: session.get(f"{server.url}/healthz", timeout=20), seconds)
        meter.measure("GetAccountBalance", client.get_account_balance, seconds)
        meter.measure("GetHIT", lambda: client.get_hit(HITId=hit_id), seconds)
        meter.measure("GetHIT, 8 threads", lambda: client.get_hit(HITId=hit_id), seconds, 8)
        made: list[str] = []
        meter.measure(
            "CreateHITWithHITType",
            lambda: made.append(client.create_hit_with_hit_type(**hit)["HIT"]["HITId"]),
            seconds,
        )
        meter.measure(
            "SendBonus", lambda: client.send_bonus(**bonus, UniqueRequestToken=f"token-{next(tokens)}"), seconds
        )
        done: list[str] = []
        meter.measure("accept and submit", lambda: done.append(do_one(one, made, client, hit)), seconds)
        meter.measure("list of work", lambda: one.http.get(f"{server.url}/", timeout=60), seconds)
        hits = len(made) + 1
    print(json.dumps({"HITs": hits, "load_average": round(os.getloadavg()[0], 1), **meter.rows}, indent=1))


def do_one(worker: WorkerClient, made: list[str], client: Any, hit: dict[str, Any]) -> str:
    """A HIT that is there, or a new one, done by a worker."""
    return worker.do(made.pop() if made else client.create_hit_with_hit_type(**hit)["HIT"]["HITId"])


if __name__ == "__main__":
    run(main)
