"""Another device goes on where the recruiter lists the place as under way and the old window has fallen silent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from humanexp.core import clock
from humanexp.core.models import AuditEvent
from humanexp.participation.models import Response, Session
from humanexp.participation.sessions import SILENT_AFTER
from humanexp.recruiters.models import Campaign
from humanexp.recruiting import attendance
from humanexp.recruiting.polling import sync
from tests.panel.server import PanelServer
from tests.recruitment.at_panel import Guest, come
from tests.recruitment.studies import LEASE, Visitor

Launch = Callable[..., Campaign]


@pytest.fixture(autouse=True)
def unlimited() -> None:
    attendance.ASKING.clear()


@pytest.fixture
def campaign(launch_at_panel: Launch) -> Campaign:
    return launch_at_panel()


def elsewhere(guest: Guest) -> Visitor:
    """Another browser that knows both ids, and nothing else."""
    ids = guest.visitor.person
    return Visitor(guest.visitor.campaign, worker_id=ids["workerId"], assignment_id=ids["assignmentId"])


def answer(visitor: Visitor, position: int = 0) -> None:
    visitor.call("POST", "/api/v1/run/lease/", {"lease": LEASE})
    given = {"position": position, "response": "cat", "rt_ms": 700.0, "clicks": [], "timing": {}}
    assert visitor.call("POST", "/api/v1/run/responses/", given).status_code == 201


def fall_silent(by: timedelta = SILENT_AFTER + timedelta(seconds=1)) -> None:
    then = clock.now() - by
    Session.objects.update(opened_at=then)
    Response.objects.update(received_at=then)


@pytest.mark.parametrize("has_answers", [False, True])
def test_it_goes_on_when_the_old_window_is_silent(panel: PanelServer, campaign: Campaign, has_answers: bool) -> None:
    guest = come(panel, campaign)
    sync(study=campaign.study)
    if has_answers:
        answer(guest.visitor)
    fall_silent()
    # Loading the page keeps nothing: a script does it for ever.
    guest.visitor.call("POST", "/api/v1/run/lease/", {"lease": LEASE})
    other = elsewhere(guest)
    assert other.open().status_code == 201
    assert other.session == Session.objects.get() and other.status()["cursor"] == int(has_answers)
    assert guest.visitor.call("GET", "/api/v1/run/status/").status_code == 401
    assert AuditEvent.objects.filter(action="go-on-elsewhere").exists()


def test_somebody_who_answers_is_not_put_out(panel: PanelServer, campaign: Campaign) -> None:
    guest = come(panel, campaign)
    sync(study=campaign.study)
    fall_silent()
    answer(guest.visitor)
    assert elsewhere(guest).open(beginHere=True).status_code == 409
    assert guest.visitor.status()["cursor"] == 1


def test_nobody_goes_on_whom_the_recruiter_does_not_list(panel: PanelServer, campaign: Campaign) -> None:
    guest = come(panel, campaign)
    answer(guest.visitor)
    fall_silent()
    assert not Session.objects.get().is_verified
    assert elsewhere(guest).open().status_code == 409


def test_nobody_goes_on_with_a_place_that_was_given_back(panel: PanelServer, campaign: Campaign) -> None:
    guest = come(panel, campaign)
    sync(study=campaign.study)
    answer(guest.visitor)
    guest.give_back()
    sync(study=campaign.study)
    fall_silent()
    other = elsewhere(guest)
    other.open()
    assert not other.token or other.session != Session.objects.earliest("pk")
