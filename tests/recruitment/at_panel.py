"""Fixtures of a platform that recruits at a real process of the practice panel; `launch_at_panel` publishes `study`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from humanexp.core.errors import NotFound
from humanexp.ledger.sender import send
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.prolific.recruiter import ProlificRecruiter
from humanexp.recruiters.registry import recruiter_for
from humanexp.recruiting import launch
from humanexp.recruiting.launch import LaunchTerms
from humanexp.studies.models import Study
from tests.panel.server import Lab, PanelServer, Person
from tests.recruitment.studies import Visitor

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def panel_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PanelServer]:
    server = PanelServer(tmp_path_factory.mktemp("panel")).start()
    yield server
    server.stop()


@pytest.fixture
def panel(panel_process: PanelServer) -> Iterator[PanelServer]:
    usual = panel_process.shown("switches")
    panel_process.control("switches", publishing_s=0, approving_s=0, settling_s=0, late_share=0)
    yield panel_process
    panel_process.control("clear")
    panel_process.control("switches", **usual)


@pytest.fixture
def lab(panel: PanelServer, settings: Any) -> Lab:
    """The platform is set up as this account."""
    lab = panel.lab()
    settings.PANEL_URL, settings.PANEL_TOKEN = panel.url, lab.token
    settings.PANEL_WORKSPACE, settings.PANEL_PROJECT = lab.workspace_id, lab.project_id
    return lab


@pytest.fixture
def recruiter(lab: Lab, transactional_db: None) -> ProlificRecruiter:
    found = recruiter_for("panel")
    assert isinstance(found, ProlificRecruiter)
    return found


@pytest.fixture
def launch_at_panel(lab: Lab, study: Study) -> Callable[..., Campaign]:
    """Publish on the panel and send; keywords replace the terms."""

    def publish(**terms: Any) -> Campaign:
        wanted = {
            "assignments": 2,
            "reward_cents": 120,
            "title": f"Pictures {next(_numbers)}",
            "estimated_minutes": 5,
            **terms,
        }
        campaign = launch.publish(study=study, terms=LaunchTerms(to="panel", **wanted))
        report = send(environment="panel")
        assert not report.remarks, report.remarks
        campaign.refresh_from_db()
        return campaign

    return publish


@dataclass
class Guest:
    """Somebody of the panel at our entry page."""

    person: Person
    submission: str
    visitor: Visitor

    def finish(self, code: str = "") -> None:
        """Answer everything, and go back as the last page says."""
        self.visitor.answer_all()
        back = self.way_out()
        assert back["address"] == f"{self.person.url}/submissions/complete?cc={back['code']}"
        self.go_back(code or back["code"])

    def way_out(self) -> dict[str, str]:
        found: dict[str, str] = self.visitor.call("POST", f"/take/{self.visitor.campaign.entry}/way-out/").json()
        return found

    def go_back(self, code: str) -> None:
        """To the address of the way out, or with no code where it is empty."""
        if code:
            answer = self.person.get(f"/submissions/complete?cc={code}")
            assert answer.status_code == 200, answer.text
        else:
            self.person.post(f"/submissions/{self.submission}/finish/")

    def give_back(self) -> None:
        answer = self.person.post(f"/submissions/{self.submission}/return/")
        assert answer.status_code == 302, answer.text


def reserve(panel: PanelServer, campaign: Campaign, person: Person | None = None) -> Guest:
    """A place on the panel, and the page of ours to which it leads, not opened yet."""
    person = person or panel.person()
    submission = person.reserve(campaign.hits.get().hit_id)
    query = parse_qs(urlsplit(person.start(submission)).query)
    if query["SESSION_ID"] != [submission]:
        raise NotFound
    visitor = Visitor(campaign, worker_id=query["PROLIFIC_PID"][0], assignment_id=submission)
    return Guest(person, submission, visitor)


def come(panel: PanelServer, campaign: Campaign, person: Person | None = None) -> Guest:
    """A place on the panel, and consent here."""
    guest = reserve(panel, campaign, person)
    answer = guest.visitor.open()
    assert answer.status_code == 201, answer.content
    return guest
