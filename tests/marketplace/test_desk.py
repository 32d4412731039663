"""Sign-up by invitation, money marked as paid, workers' letters, new keys: the lab's own side, at a site of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from botocore.exceptions import ClientError

from tests.marketplace.server import ROOT, MarketplaceServer, WorkerClient, running

MakeHit = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MarketplaceServer]:
    with running(tmp_path_factory.mktemp("desk"), MARKETPLACE_SIGN_UP="invite") as server:
        yield server


def desk(site: MarketplaceServer, *arguments: str) -> Any:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "humanexp.marketplace.desk", *arguments],
        cwd=ROOT,
        env=site.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return json.loads(run.stdout) if run.returncode == 0 else run.stderr


def test_the_desk(site: MarketplaceServer, make_hit: MakeHit) -> None:
    codes = [one["code"] for one in desk(site, "invite", "--count", "2", "--note", "course 3")]
    visitor = WorkerClient(site.url)
    visitor.get("/signup/")
    form = {"username": "ada", "password": "a long pass phrase"}
    assert list(visitor.post("/signup/", form).json()["fields"]) == ["invitation"]
    assert list(visitor.post("/signup/", {**form, "invitation": "AAAA-BBBB-CCCC"}).json()["fields"]) == ["invitation"]
    worker = WorkerClient(site.url).sign_up(username="ada", invitation=codes[0].lower())
    again = WorkerClient(site.url)
    again.get("/signup/")
    assert list(again.post("/signup/", {**form, "username": "eve", "invitation": codes[0]}).json()["fields"]) == [
        "invitation"
    ]
    prefilled = requests.get(f"{site.url}/signup/?invitation={codes[1]}", headers={"Accept": "text/html"}, timeout=20)
    assert f'value="{codes[1]}"' in prefilled.text

    keys = site.create_requester("lab", "50.00")
    client = site.client(keys)
    hit = make_hit(client, Reward="2.50")
    client.approve_assignment(AssignmentId=worker.do(hit["HITId"]))
    owed = [{"worker_id": worker.worker_id, "username": "ada", "owed": "2.50"}]
    assert desk(site, "owed") == owed
    assert "owed 250 cents" in desk(site, "paid", worker.worker_id, "2.51")
    assert desk(site, "paid", worker.worker_id, "2.00", "--note", "transfer")["still_owed"] == "0.50"
    totals = worker.get("/earnings/")["totals"]
    assert (totals["paid_out_cents"], totals["owed_cents"], totals["total_cents"]) == (200, 50, 250)

    worker.post(f"/groups/{hit['HITTypeId']}/contact/", {"subject": "The frame", "text": "It stays white."})
    (letter,) = desk(site, "inbox")
    assert (letter["to"], letter["from"], letter["text"]) == ("lab", worker.worker_id, "It stays white.")
    desk(site, "answer", str(letter["number"]), "Please reload.")
    assert worker.get("/messages/")["messages"][0]["text"] == "Please reload."
    assert desk(site, "inbox") == []

    fresh = desk(site, "new-key", "lab")
    with pytest.raises(ClientError, match="UnrecognizedClient"):
        client.get_account_balance()
    renewed = site.client(type(keys)(fresh["access_key_id"], fresh["secret_access_key"]))
    assert renewed.get_account_balance()["AvailableBalance"] == "47.00"


def test_sign_up_can_be_closed(tmp_path: Path) -> None:
    with running(tmp_path, MARKETPLACE_SIGN_UP="closed") as server:
        visitor = WorkerClient(server.url)
        visitor.get("/login/")
        refusal = visitor.post("/signup/", {"username": "ada", "password": "a long pass phrase"})
        assert (refusal.status_code, refusal.json()["type"]) == (403, "sign-up-closed")
        page = requests.get(server.url, headers={"Accept": "text/html"}, timeout=20).text
        assert "Sign up" not in page
