"""The marketplace as a real process, for tests of it and of everything that talks to it.

Use the fixtures `marketplace` (one process for a test session), or `MarketplaceServer(tmp_path)` for a process of your
own that you may kill. Nothing here imports the marketplace: it is reached as a stranger would reach it.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import requests
from botocore.config import Config

from tests.limits import LIMIT
from tests.marketplace.replies import hold_replies_to_the_model
from tests.served import ServedSite

_session = boto3.session.Session(region_name="us-east-1")
_names = itertools.count(1)


@dataclass(frozen=True)
class RequesterKeys:
    access_key_id: str
    secret_access_key: str


class MarketplaceServer(ServedSite):
    """The marketplace, with its requesters and its controls."""

    site, prefixes = "marketplace", ("MARKETPLACE_", "AWS_")

    def __init__(self, media_root: Path, *, test_controls: bool = True, **environment: str) -> None:
        super().__init__(media_root, **{"MARKETPLACE_TEST_CONTROLS": "1" if test_controls else "0", **environment})

    def is_inherited(self, name: str) -> bool:
        # its fees are what the platform of this test run reckons with
        return "_FEE_" in name or super().is_inherited(name)

    def create_requester(self, name: str = "demo", balance: str = "100.00", *more: str) -> RequesterKeys:
        run = self._run("create_requester", "--name", name, "--balance", balance, *more)
        printed, _ = run.communicate(timeout=LIMIT)
        if run.returncode:
            raise RuntimeError(printed)
        keys = json.loads(printed)
        return RequesterKeys(keys["access_key_id"], keys["secret_access_key"])

    def create_requesters(self, names: list[str], balance: str) -> list[RequesterKeys]:
        """Many at once: a process for each would be most of a test's time."""
        first, *others = names
        run = self._run("create_requester", "--name", first, "--balance", balance, *(f"--name={one}" for one in others))
        printed, _ = run.communicate(timeout=LIMIT)
        if run.returncode:
            raise RuntimeError(printed)
        rows = [json.loads(line) for line in printed.splitlines()]
        return [RequesterKeys(row["access_key_id"], row["secret_access_key"]) for row in rows]

    def client(self, keys: RequesterKeys, *, attempts: int = 1, read_timeout: float = 30, **more: Any) -> Any:
        """boto3's, one attempt unless a test is about repeats. Each reply is held against the service model.

        `checked=False` sends what boto3 would refuse by itself.
        """
        config = Config(
            retries={"total_max_attempts": attempts, "mode": "standard"},
            read_timeout=read_timeout,
            parameter_validation=more.pop("checked", True),
        )
        options: dict[str, Any] = {
            "endpoint_url": f"{self.url}/requester/",
            "aws_access_key_id": keys.access_key_id,
            "aws_secret_access_key": keys.secret_access_key,
            "config": config,
            **more,
        }
        client = _session.client("mturk", **options)
        hold_replies_to_the_model(client)
        return client

    def worker(self, **fields: str) -> WorkerClient:
        """Somebody new, signed up and signed in."""
        return WorkerClient(self.url).sign_up(**fields)

    def advance(self, seconds: float) -> None:
        self._control("clock", advance_seconds=seconds)

    def arm(self, operation: str, kind: str, times: int = 1, seconds: float = 1.0, share: float = 1.0) -> None:
        """A fault, of a kind that docs/marketplace.md names."""
        self._control("faults", operation=operation, kind=kind, times=times, seconds=seconds, share=share)

    def clear_faults(self) -> None:
        self._control("clear")

    def _control(self, name: str, **wanted: Any) -> None:
        requests.post(f"{self.url}/_test/{name}", json=wanted, timeout=LIMIT).raise_for_status()


class WorkerClient:
    """A scripted person at the worker site: cookies and CSRF token as a browser keeps them, JSON answers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.worker_id = ""
        self.http = requests.Session()
        self.http.headers["Accept"] = "application/json"

    def sign_up(self, **fields: str) -> WorkerClient:
        self.http.get(f"{self.url}/signup/", timeout=LIMIT)  # sets the CSRF cookie
        form = {"username": f"worker-{os.getpid()}-{next(_names)}", "password": "a long pass phrase", **fields}
        answer = self.post("/signup/", form)
        answer.raise_for_status()
        self.worker_id = answer.json()["worker_id"]
        return self

    def get(self, path: str) -> Any:
        answer = self.http.get(f"{self.url}{path}", timeout=LIMIT)
        answer.raise_for_status()
        return answer.json()

    def post(self, path: str, form: dict[str, Any] | None = None) -> requests.Response:
        token = self.http.cookies.get("marketplace_csrftoken", "")
        return self.http.post(f"{self.url}{path}", data=form or {}, headers={"X-CSRFToken": token}, timeout=LIMIT)

    def groups(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.get("/")["groups"]
        return listed

    def try_accept(self, hit_id: str) -> requests.Response:
        return self.post(f"/hits/{hit_id}/accept/")

    def accept(self, hit_id: str) -> dict[str, Any]:
        answer = self.try_accept(hit_id)
        answer.raise_for_status()
        accepted: dict[str, Any] = answer.json()
        return accepted

    def accept_from_group(self, hit_type_id: str) -> dict[str, Any]:
        answer = self.post(f"/groups/{hit_type_id}/accept/")
        answer.raise_for_status()
        accepted: dict[str, Any] = answer.json()
        return accepted

    def try_submit(self, assignment_id: str, **fields: str) -> requests.Response:
        """As the frame's form does it: from another site, without a cookie."""
        form = {"assignmentId": assignment_id, **(fields or {"receipt": "done"})}
        headers = {"Accept": "application/json", "Origin": "null"}
        return requests.post(f"{self.url}/mturk/externalSubmit", data=form, headers=headers, timeout=LIMIT)

    def try_ask(self, qualification_type_id: str) -> requests.Response:
        return self.post(f"/qualifications/{qualification_type_id}/ask/")

    def ask(self, qualification_type_id: str) -> dict[str, Any]:
        """For a qualification; a test has a `test_url`."""
        answer = self.try_ask(qualification_type_id)
        answer.raise_for_status()
        asked: dict[str, Any] = answer.json()
        return asked

    def take_test(self, qualification_type_id: str, **answers: Any) -> dict[str, Any]:
        answer = self.post(self.ask(qualification_type_id)["test_url"], answers)
        answer.raise_for_status()
        taken: dict[str, Any] = answer.json()
        return taken

    def submit(self, assignment_id: str, **fields: str) -> dict[str, Any]:
        answer = self.try_submit(assignment_id, **fields)
        answer.raise_for_status()
        stored: dict[str, Any] = answer.json()
        return stored

    def do(self, hit_id: str, **fields: str) -> str:
        """Accept and submit; the assignment's id is returned."""
        assignment_id: str = self.accept(hit_id)["assignment_id"]
        self.submit(assignment_id, **fields)
        return assignment_id

    def give_back(self, assignment_id: str) -> requests.Response:
        return self.post(f"/work/{assignment_id}/return/")


def external_question(url: str = "https://example.org/take/abc/?list=1&colour=grey", height: int = 0) -> str:
    address = url.replace("&", "&amp;")
    schema = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
    return (
        f'<ExternalQuestion xmlns="{schema}"><ExternalURL>{address}</ExternalURL>'
        f"<FrameHeight>{height}</FrameHeight></ExternalQuestion>"
    )


@contextmanager
def running(media_root: Path, **options: Any) -> Iterator[MarketplaceServer]:
    """A process for the length of a `with`."""
    server = MarketplaceServer(media_root, **options).start()
    try:
        yield server
    finally:
        server.kill()
