"""The process: what a killed server leaves, who may read its files, and that test switches are off by default."""

from __future__ import annotations

import json
import socket
import stat
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests
from botocore.exceptions import BotoCoreError, ClientError

from tests.limits import LIMIT, until
from tests.marketplace.server import MarketplaceServer, running
from tests.served import free_port

pytestmark = pytest.mark.process

MakeHit = Callable[..., dict[str, Any]]


@pytest.mark.gate
@pytest.mark.promise(2)
def test_a_killed_server_has_lost_nothing_it_acknowledged(tmp_path: Path, make_hit: MakeHit) -> None:
    """Writers of every kind at full speed, SIGKILL in the middle, twice; then everything acknowledged is asked for."""
    server = MarketplaceServer(tmp_path).start()
    keys = server.create_requester("lab", "10000.00")
    port = server.port
    made: list[str] = []
    submitted: dict[str, str] = {}
    bonuses: list[tuple[str, str]] = []
    try:
        for _ in range(2):
            lock, stopped = threading.Lock(), threading.Event()

            def work(lock: threading.Lock = lock, stopped: threading.Event = stopped) -> None:
                try:
                    client, worker = server.client(keys), server.worker()
                    while not stopped.is_set():
                        hit_id = make_hit(client)["HITId"]
                        with lock:
                            made.append(hit_id)
                        assignment_id = worker.do(hit_id)
                        with lock:
                            submitted[assignment_id] = hit_id
                        reason = f"for {assignment_id}"
                        client.send_bonus(
                            WorkerId=worker.worker_id, AssignmentId=assignment_id, BonusAmount="0.05", Reason=reason
                        )
                        with lock:
                            bonuses.append((assignment_id, reason))
                except (BotoCoreError, requests.RequestException):
                    return  # the server is gone: what was under way was not acknowledged

            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            before = len(bonuses)
            until(lambda: len(bonuses) >= before + 8, "bonuses are acknowledged")  # noqa: B023
            server.kill()
            stopped.set()
            for thread in threads:
                thread.join(LIMIT)
            server.start(port)

        client = server.client(keys)
        pages = client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 100})
        listed = {hit["HITId"] for page in pages for hit in page["HITs"]}
        assert set(made) <= listed
        for assignment_id in submitted:
            assert client.get_assignment(AssignmentId=assignment_id)["Assignment"]["AssignmentStatus"] == "Submitted"
        paid = 0
        for hit_id in set(submitted.values()):
            rows = client.list_bonus_payments(HITId=hit_id)["BonusPayments"]
            assert len({(row["AssignmentId"], row["Reason"]) for row in rows}) == len(rows)
            paid += len(rows)
            expected = {pair for pair in bonuses if submitted[pair[0]] == hit_id}
            assert expected <= {(row["AssignmentId"], row["Reason"]) for row in rows}
        # The books: every listed bonus cost 5 cents and the least fee.
        assert client.get_account_balance()["AvailableBalance"] == f"{10000 - paid * 0.06:.2f}"
    finally:
        server.kill()


def test_test_controls_are_off_by_default(tmp_path: Path) -> None:
    with running(tmp_path, test_controls=False) as server:
        for name in ("clock", "faults"):
            assert requests.post(f"{server.url}/_test/{name}", json={}, timeout=LIMIT).status_code == 404


def test_keys_come_back_by_name_and_files_are_private(tmp_path: Path) -> None:
    server = MarketplaceServer(tmp_path)
    first, other = server.create_requesters(["lab", "other lab"], "1.00")
    assert server.create_requester("lab", "500.00") == first
    assert other.access_key_id != first.access_key_id
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"marketplace.sqlite3", "marketplace_secret_key"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    with running(tmp_path) as running_server:
        assert running_server.client(first).get_account_balance()["AvailableBalance"] == "1.00"
        running_server.create_requester("lab", "500.00", "--deposit", "2.50")
        assert running_server.client(first).get_account_balance()["AvailableBalance"] == "3.50"
        with pytest.raises(ClientError, match="UnrecognizedClient"):
            running_server.client(type(first)("AKIAOTHER", "x")).get_account_balance()


def test_processes_that_begin_at_once_make_the_database_once(tmp_path: Path) -> None:
    server = MarketplaceServer(tmp_path)
    begun = [server._run("create_requester", "--name", f"lab-{number}", "--balance", "1.00") for number in range(4)]
    printed = [run.communicate(timeout=LIMIT)[0] for run in begun]
    assert [run.returncode for run in begun] == [0] * 4
    assert len({json.loads(keys)["access_key_id"] for keys in printed}) == 4


def test_the_clock_does_not_go_back_with_a_restart(tmp_path: Path, make_hit: MakeHit) -> None:
    server = MarketplaceServer(tmp_path).start()
    try:
        client = server.client(server.create_requester())
        hit = make_hit(client, LifetimeInSeconds=60)
        server.advance(61)
        server.stop()
        server.start(server.port)
        assert client.get_hit(HITId=hit["HITId"])["HIT"]["HITStatus"] == "Reviewable"
    finally:
        server.kill()


def test_pages_have_one_name_on_one_machine(tmp_path: Path) -> None:
    """Cookies and frames know 127.0.0.1 and localhost as two sites; the frame's form is sent to one of them."""
    port = free_port()
    server = MarketplaceServer(tmp_path, MARKETPLACE_URL=f"http://localhost:{port}").start(port)
    try:
        other = f"http://127.0.0.1:{port}"
        moved = requests.get(f"{other}/signup/?next=/earnings/", headers={"Accept": "text/html"}, timeout=LIMIT)
        assert moved.url == f"http://localhost:{port}/signup/?next=/earnings/"
        assert requests.get(f"{other}/healthz", timeout=LIMIT).url == f"{other}/healthz"
        as_json = requests.get(other, headers={"Accept": "application/json"}, timeout=LIMIT)
        assert as_json.url == f"{other}/"
    finally:
        server.kill()


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(RuntimeError, match=f"cannot listen on 127.0.0.1:{port}"):
            MarketplaceServer(tmp_path).start(port)


def test_people_who_only_look_keep_nobody_out(tmp_path: Path) -> None:
    """A browser keeps its connections between calls; 250 idle ones are some forty people with a page open."""
    with running(tmp_path) as server, ExitStack() as looking:
        for _ in range(250):
            idle = looking.enter_context(requests.Session())
            assert idle.get(f"{server.url}/healthz", timeout=LIMIT).ok
        assert requests.get(f"{server.url}/signup/", timeout=LIMIT).ok
