"""The panel as a real process, for tests of it and of everything that talks to it.

Use the fixture `panel` (one process for a test session), or `PanelServer(tmp_path)` for a process of your own that you
may kill. Nothing here imports the panel: it is reached as a stranger would reach it.
"""

from __future__ import annotations

import itertools
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from tests.limits import LIMIT
from tests.served import ServedSite

_names = itertools.count(1)
CODE = "C1A2B3"
URL = "https://lab.example/take/?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


class PanelServer(ServedSite):
    site, prefixes = "panel", ("PANEL_",)

    def __init__(self, media_root: Path, **environment: str) -> None:
        super().__init__(media_root, **environment)

    def control(self, name: str, /, **wanted: Any) -> Any:
        answer = requests.post(f"{self.url}/control/{name}/", json=wanted, timeout=LIMIT)
        assert answer.ok, answer.text
        return answer.json()

    def shown(self, name: str) -> Any:
        return requests.get(f"{self.url}/control/{name}/", timeout=LIMIT).json()

    def advance(self, seconds: float) -> None:
        self.control("clock", advance_seconds=seconds)

    def arm(self, operation: str, kind: str, **more: Any) -> None:
        self.control("faults", operation=operation, kind=kind, **more)

    def lab(self, balance_cents: int = 1_000_000, **more: Any) -> Lab:
        made = self.control("researchers", name=f"Lab {next(_names)}", balance_cents=balance_cents, **more)
        return Lab(self, **made)

    def person(self, participant: str = "") -> Person:
        """A new one, or this one."""
        return Person(self.url, participant)

    def money(self, workspace_id: str) -> dict[str, int]:
        found = [one for one in self.shown("books")["workspaces"] if one["workspace_id"] == workspace_id]
        return dict(found[0])


@dataclass
class Lab:
    """A researcher's account, asked over HTTP without any client of ours."""

    panel: PanelServer
    token: str
    researcher_id: str
    workspace_id: str
    project_id: str
    currency: str

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> requests.Response:
        headers = {"Authorization": f"Token {self.token}", **more.pop("headers", {})}
        return requests.request(
            method,
            f"{self.panel.url}/api/v1/{path}",
            json=body,
            headers=headers,
            timeout=more.pop("timeout", 30),
            allow_redirects=False,
            **more,
        )

    def get(self, path: str, **query: Any) -> Any:
        answer = self.call("GET", path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, **body: Any) -> Any:
        answer = self.call("POST", path, body)
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    def refused(self, method: str, path: str, body: Any = None, status: int = 400) -> str:
        answer = self.call(method, path, body)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.text

    def terms(self, **changed: Any) -> dict[str, Any]:
        return {
            "name": f"Name the picture {next(_names)}",
            "internal_name": "campaign-1",
            "description": "Sixteen kinds of things, <b>shown for a moment</b>.",
            "external_study_url": URL,
            "prolific_id_option": "url_parameters",
            "completion_codes": [{"code": CODE, "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}],
            "total_available_places": 3,
            "estimated_completion_time": 10,
            "reward": 150,
            "project": self.project_id,
            **changed,
        }

    def draft(self, **changed: Any) -> str:
        return str(self.post("studies/", **self.terms(**changed))["id"])

    def status(self, study: str) -> str:
        return str(self.get(f"studies/{study}/")["status"])

    def transition(self, study: str, action: str, **more: Any) -> Any:
        return self.post(f"studies/{study}/transition/", action=action, **more)

    def study(self, **changed: Any) -> str:
        """Published and open."""
        study = self.draft(**changed)
        self.transition(study, "PUBLISH")
        self.panel.advance(2)
        return study

    def people(self, study: str, count: int, until: str = "AWAITING REVIEW", code: str = CODE) -> list[str]:
        """Scripted submissions of this many."""
        came = self.panel.control("act", study_id=study, people=count, until=until, code=code)["submissions"]
        return [one["submission_id"] for one in came]

    def submission(self, submission: str) -> dict[str, Any]:
        return dict(self.get(f"submissions/{submission}/"))

    def decide(self, submission: str, action: str, **more: Any) -> Any:
        return self.post(f"submissions/{submission}/transition/", action=action, **more)

    def plan(self, study: str, *lines: tuple[str, str]) -> dict[str, Any]:
        csv = "\n".join(f"{who},{amount}" for who, amount in lines)
        return dict(self.post("submissions/bonus-payments/", study_id=study, csv_bonuses=csv))

    def balance(self) -> tuple[int, int]:
        """Total and available."""
        found = self.get(f"workspaces/{self.workspace_id}/balance/")
        return found["total_balance"], found["available_balance"]


class Person:
    """Somebody at a browser without scripts: cookies, forms, redirects."""

    def __init__(self, url: str, participant: str = "") -> None:
        self.url = url
        self.http = requests.Session()
        self.post("/people/", participant=participant)

    def get(self, path: str) -> requests.Response:
        return self.http.get(f"{self.url}{path}", timeout=LIMIT)

    def post(self, path: str, **form: str) -> requests.Response:
        self.get("/people/")  # sets the CSRF cookie
        form["csrfmiddlewaretoken"] = self.http.cookies.get("panel_csrftoken", "")
        return self.http.post(f"{self.url}{path}", data=form, timeout=LIMIT, allow_redirects=False)

    def reserve(self, study: str) -> str:
        answer = self.post(f"/studies/{study}/reserve/")
        found = re.fullmatch(r"/submissions/(\w+)/", answer.headers.get("Location", ""))
        assert found, answer.text
        return found[1]

    def start(self, submission: str) -> str:
        answer = self.post(f"/submissions/{submission}/start/")
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]


def ignore_lost(call: Any, *arguments: Any, **more: Any) -> Any:
    """A call whose answer may never come."""
    with suppress(requests.RequestException):
        return call(*arguments, **more)
