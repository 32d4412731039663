"""Sign-up by invitation, money marked as paid, workers' letters, new keys: the lab's own side, at a site of its own."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from botocore.exceptions import ClientError

from humanexp.sites.marketplace.requirements import MASTERS
from tests.limits import LIMIT
from tests.marketplace.requester import code, refused
from tests.marketplace.server import MarketplaceServer, WorkerClient, running
from tests.markup import markup
from tests.served import ROOT

MakeHit = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MarketplaceServer]:
    with running(tmp_path_factory.mktemp("desk"), MARKETPLACE_SIGN_UP="invite") as server:
        yield server


#: Several tasks one after the other: what each prints, or its complaint.
_TASKS = """
import contextlib, io, json, sys
from humanexp.sites.marketplace import desk
replies = []
for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = desk.main(arguments)
    replies.append(json.loads(out.getvalue()) if status == 0 else err.getvalue())
print(json.dumps(replies))
"""


def desk(site: MarketplaceServer, *tasks: str) -> list[Any]:
    """Each task is a line of words; in one process, because its start is most of the time."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", _TASKS, json.dumps([shlex.split(task) for task in tasks])],
        cwd=ROOT,
        env=site.environment,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    replies: list[Any] = json.loads(run.stdout)
    return replies


def test_the_desk(site: MarketplaceServer, make_hit: MakeHit) -> None:
    (invitations,) = desk(site, "invite --count 2 --note 'course 3'")
    codes = [one["code"] for one in invitations]
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
    prefilled = requests.get(
        f"{site.url}/signup/?invitation={codes[1]}", headers={"Accept": "text/html"}, timeout=LIMIT
    )
    assert f'value="{codes[1]}"' in prefilled.text

    keys = site.create_requester("lab", "50.00")
    client = site.client(keys)
    hit = make_hit(client, Reward="2.50")
    client.approve_assignment(AssignmentId=worker.do(hit["HITId"]))
    letter = {"subject": "The frame", "text": "It stays white."}
    worker.post(f"/groups/{hit['HITTypeId']}/contact/", letter)
    queue = {"Destination": "http://q", "Transport": "SQS", "Version": "2014-08-15", "EventTypes": ["HITCreated"]}
    err = refused(client.update_notification_settings, HITTypeId=hit["HITTypeId"], Notification=queue)
    assert code(err) == "InvalidTransportEndpoint"
    assert "no SQS service" in str(err)

    owed, too_much, paid, inbox, _, empty, password, nobody, fresh = desk(
        site,
        "owed",
        f"paid {worker.worker_id} 2.51",
        f"paid {worker.worker_id} 2.00 --way 'bank transfer' --note 'of May'",
        "inbox",
        "answer 1 'Please reload.'",
        "inbox",
        "new-password ada",
        "new-key 'no such lab'",
        "new-key lab",
    )
    assert owed == [{"worker_id": worker.worker_id, "username": "ada", "owed": "2.50"}]
    assert "owed 2.50 dollars; 2.51 cannot be paid out" in too_much
    assert paid["still_owed"] == "0.50"
    assert worker.get("/")["worker_id"] is None  # a new password ends what was signed in with the old
    worker.get("/login/")
    assert worker.post("/login/", {"username": "ada", "password": "a long pass phrase"}).status_code == 422
    again_in = worker.post("/login/", {"username": "ada", "password": password["password"]})
    assert again_in.json()["worker_id"] == worker.worker_id
    earnings = worker.get("/earnings/")
    assert [(one["amount_cents"], one["way"]) for one in earnings["payouts"]] == [(200, "bank transfer")]
    totals = earnings["totals"]
    assert (totals["paid_out_cents"], totals["owed_cents"], totals["total_cents"]) == (200, 50, 250)
    assert [(one["to"], one["from"], one["text"]) for one in inbox] == [("lab", worker.worker_id, "It stays white.")]
    assert worker.get("/messages/")["messages"][0]["text"] == "Please reload."
    assert empty == []
    assert "no such lab" in nobody
    with pytest.raises(ClientError, match="UnrecognizedClient"):
        client.get_account_balance()
    renewed = site.client(type(keys)(fresh["access_key_id"], fresh["secret_access_key"]))
    assert renewed.get_account_balance()["AvailableBalance"] == "47.00"


def test_a_clerk_writes_payouts_down(site: MarketplaceServer, make_hit: MakeHit) -> None:
    (invited,), clerk = desk(site, "invite", "clerk grace")
    worker = WorkerClient(site.url).sign_up(username="linus", invitation=invited["code"])
    client = site.client(site.create_requester("another lab", "50.00"))
    client.approve_assignment(AssignmentId=worker.do(make_hit(client, Reward="1.50")["HITId"]))

    def page(visitor: WorkerClient, **form: str) -> requests.Response:
        headers = {"Accept": "text/html", "Referer": site.url}
        if not form:
            return visitor.http.get(f"{site.url}/desk/", headers=headers, timeout=LIMIT)
        token = {"csrfmiddlewaretoken": visitor.http.cookies["marketplace_csrftoken"]}
        return visitor.http.post(f"{site.url}/desk/", {**form, **token}, headers=headers, timeout=LIMIT)

    assert page(WorkerClient(site.url)).url.endswith("/login/?next=/desk/")
    assert page(worker).status_code == 404, "a worker finds nothing there"
    grace = WorkerClient(site.url)
    grace.get("/login/")
    grace.post("/login/", {"username": "grace", "password": clerk["password"]})
    shown = page(grace)
    assert shown.status_code == 200 and worker.worker_id in shown.text
    told = re.search(r"<h1>\$\d+\.\d\d is owed to (\d+) workers?</h1>", markup(shown.text))
    assert told is not None and int(told[1]) == shown.text.count('data-label="Owed"')
    wrong = page(grace, worker_id=worker.worker_id, amount="1.51", way="cash")
    assert wrong.status_code == 422 and "is owed 1.50 dollars" in wrong.text
    assert page(grace, worker_id="ANOBODY", amount="1", way="cash").status_code == 422
    assert page(grace, worker_id=worker.worker_id, amount="1.50", way="cash", note="3 May").status_code == 200
    earnings = worker.get("/earnings/")
    assert (earnings["totals"]["owed_cents"], earnings["payouts"][0]["way"]) == (0, "cash")
    taken, off = desk(site, "clerk linus", f"master {worker.worker_id} --off")
    assert "already taken" in taken and off["is_master"] is False


def test_work_for_masters_is_seen_by_whom_the_desk_has_marked(site: MarketplaceServer, make_hit: MakeHit) -> None:
    (invited,) = desk(site, "invite --count 2")
    ada, eve = (
        WorkerClient(site.url).sign_up(username=name, invitation=one["code"])
        for name, one in zip(("master", "other"), invited, strict=True)
    )
    client = site.client(site.create_requester("a third lab", "50.00"))
    required = {"QualificationTypeId": MASTERS[0], "Comparator": "Exists", "ActionsGuarded": "DiscoverPreviewAndAccept"}
    hit = make_hit(client, QualificationRequirements=[required])
    assert desk(site, f"master {ada.worker_id}")[0]["is_master"] is True
    seen = [hit["HITTypeId"] in {one["hit_type_id"] for one in worker.groups()} for worker in (ada, eve)]
    assert seen == [True, False]


@pytest.mark.slow
def test_sign_up_can_be_closed(tmp_path: Path) -> None:
    with running(tmp_path, MARKETPLACE_SIGN_UP="closed") as server:
        visitor = WorkerClient(server.url)
        visitor.get("/login/")
        refusal = visitor.post("/signup/", {"username": "ada", "password": "a long pass phrase"})
        assert (refusal.status_code, refusal.json()["type"]) == (403, "sign-up-closed")
        page = requests.get(server.url, headers={"Accept": "text/html"}, timeout=LIMIT).text
        assert "Sign up" not in page
