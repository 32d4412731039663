"""Lists of submissions on the practice panel: nobody is missed, whatever their order, and what a round costs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
import requests

from humanexp.ledger.figures import payment_summary
from humanexp.ledger.models import Payment
from humanexp.ledger.payments import tally_of
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import clear
from humanexp.recruiters.models import Assignment, Campaign, Hit
from humanexp.recruiters.prolific.client import PAGE_SIZE
from humanexp.recruiters.prolific.recruiter import ProlificRecruiter
from humanexp.recruiters.states import AssignmentState, WriteState
from humanexp.recruiting import attendance
from humanexp.recruiting.polling import sync
from tests.panel.server import Lab, PanelServer, Person

Launch = Callable[..., Campaign]
#: What the service's interface names; whether it refuses other words, or keeps to an order, nobody has seen.
ORDERS = ["as asked", "oldest first", "newest first", "first changed first", "last changed first"]


@pytest.fixture(autouse=True)
def unlimited() -> None:
    attendance.ASKING.clear()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses and queries of the platform's calls."""
    found: list[str] = []
    send = requests.request

    def noted(method: str, url: str, **more: Any) -> requests.Response:
        answer = send(method, url, **more)
        found.append(f"{method} {answer.request.path_url}")
        return answer

    monkeypatch.setattr(requests, "request", noted)
    return found


class Crowd:
    """Scripted people at a campaign on the panel."""

    def __init__(self, lab: Lab, campaign: Campaign, places: int) -> None:
        self.lab, self.study = lab, campaign.hits.get().hit_id
        self.code = campaign.site.codes["finished"].code
        self.finished: list[str] = []
        assert lab.call("PATCH", f"studies/{self.study}/", {"total_available_places": places}).ok

    def finish(self, count: int) -> None:
        for start in range(0, count, 100):
            self.finished += self.lab.people(self.study, min(100, count - start), code=self.code)

    def begin(self) -> tuple[Person, str]:
        person = self.lab.panel.person()
        submission = person.reserve(self.study)
        person.start(submission)
        return person, submission

    def complete(self, person: Person, submission: str) -> None:
        assert person.get(f"/submissions/complete?cc={self.code}").status_code == 200
        self.finished.append(submission)


def listed() -> list[str]:
    rows = Assignment.objects.exclude(state__in=[AssignmentState.OPENED, AssignmentState.RETURNED])
    return sorted(rows.values_list("assignment_id", flat=True))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("count", [20, 40, 100])
def test_studies_are_polled_whole_whatever_fills_their_pages(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, count: int, order: str
) -> None:
    panel.control("switches", submission_order=order)
    crowd = Crowd(lab, launch_at_panel(assignments=20), count)
    crowd.finish(count)
    sync()
    assert listed() == sorted(crowd.finished)


@pytest.mark.parametrize("order", ORDERS)
def test_nobody_is_missed_in_any_order(lab: Lab, panel: PanelServer, launch_at_panel: Launch, order: str) -> None:
    """Among them who began before hundreds that were listed since, and somebody who is only reserved."""
    panel.control("switches", submission_order=order)
    crowd = Crowd(lab, launch_at_panel(assignments=24, estimated_minutes=15, reward_cents=400), 400)
    crowd.finish(PAGE_SIZE + 20)
    panel.advance(3 * 3600)
    lab.people(crowd.study, 1, "RESERVED")
    early = crowd.begin()
    for _ in range(3):
        panel.advance(13 * 60)
        crowd.finish(50)
        sync()
        assert listed() == sorted(crowd.finished)
    crowd.complete(*early)
    panel.advance(60)
    sync()
    assert listed() == sorted(crowd.finished)
    panel.advance(2 * 3600)
    crowd.finish(5)
    sync()
    assert listed() == sorted(crowd.finished)


@pytest.mark.parametrize("word", ["returned", "approved", "rejected"])
def test_what_becomes_of_somebody_of_long_ago_is_seen_at_once(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, calls: list[str], word: str
) -> None:
    crowd = Crowd(lab, launch_at_panel(assignments=24), 200)
    person, submission = crowd.begin()
    crowd.complete(person, submission)
    panel.advance(3 * 3600)
    crowd.finish(PAGE_SIZE + 20)
    sync()
    if word == "returned":
        person.post(f"/submissions/{submission}/return/")
    elif word == "approved":
        lab.decide(submission, "APPROVE")
    else:
        lab.decide(submission, "REJECT", message="Nothing can be read. " * 6, rejection_category="NO_DATA")
    calls.clear()
    sync()
    assert Assignment.objects.get(assignment_id=submission).state == word
    assert sum(f"status={word.upper()}" in call for call in calls) == 1
    if word != "rejected":
        return
    lab.decide(submission, "UNREJECT")
    lab.decide(submission, "APPROVE")
    sync()
    assert Assignment.objects.get(assignment_id=submission).state == "approved"


def test_no_word_is_sent_that_the_interface_does_not_name(
    lab: Lab, panel: PanelServer, recruiter: ProlificRecruiter, calls: list[str]
) -> None:
    study = lab.study()
    lab.people(study, 1, "RESERVED")
    assert "ordering" in lab.refused("GET", f"submissions/?study={study}&ordering=-completed_at")
    for word in ("RESERVED", "PROCESSING", "AWAITING REVIEW"):
        assert "status" in lab.refused("GET", f"submissions/?study={study}&status={word}")
    everybody = {"RESERVED", "PROCESSING", "AWAITING REVIEW", "PARTIALLY APPROVED", "TIMED-OUT", "SCREENED OUT"}
    calls.clear()
    found = recruiter.submissions(study, states=everybody, since=datetime.fromisoformat(panel.shown("clock")["now"]))
    assert [one.state for one in found] == [AssignmentState.OPENED]
    assert [call.partition("page_size=100")[2] for call in calls] == [
        "&status=PARTIALLY_APPROVED",
        "&status=TIMED-OUT",
        "&ordering=-started_at",
    ]


def test_a_list_that_could_not_be_read_is_read_whole_at_the_next_look(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch
) -> None:
    crowd = Crowd(lab, launch_at_panel(assignments=24), 24)
    crowd.finish(3)
    panel.arm("submissions.GET", "bad_gateway")
    assert sync().remarks
    assert Hit.objects.get().listed_at is None
    sync()
    assert listed() == sorted(crowd.finished) and Hit.objects.get().listed_at is not None


def test_ten_thousand_places_cost_tens_of_calls_a_round(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, calls: list[str]
) -> None:
    """Some hundreds of them here: what a round costs depends on what has changed, and not on how many there are."""
    crowd = Crowd(lab, launch_at_panel(assignments=24), 500)
    crowd.finish(400)
    sync()
    calls.clear()
    sync()
    assert len(calls) == 3  # nothing has changed: the study, its counts and the balance
    panel.advance(2 * 3600)
    crowd.finish(1)
    sync()
    crowd.finish(2)
    lab.people(crowd.study, 2, until="ACTIVE")
    calls.clear()
    sync()
    assert len(calls) == 4 < 3 + 403 // PAGE_SIZE
    assert len(listed()) == 403


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_a_thousand_people_of_a_day_are_all_listed_counted_and_paid(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, calls: list[str], order: str
) -> None:
    """A round after every 100 people, who come two hours apart; a person lets all of them be paid."""
    panel.control("switches", submission_order=order)
    campaign = launch_at_panel(assignments=24, reward_cents=60, cap_cents=100_000)
    crowd = Crowd(lab, campaign, 1_000)
    cost = []
    for _ in range(10):
        panel.advance(2 * 3600)
        crowd.finish(100)
        calls.clear()
        sync()
        cost.append(len(calls))
    assert listed() == sorted(crowd.finished) and len(crowd.finished) == 1_000
    calls.clear()
    sync()
    assert len(calls) == 3
    if order in ("oldest first", "first changed first"):  # found only at the end of the list
        assert cost == [3 + number for number in range(1, 11)]
    else:
        assert max(cost) <= 3 + 3
    assert tally_of(campaign.study).people([AssignmentState.SUBMITTED]) == 1_000
    for row in Assignment.objects.filter(campaign=campaign):
        clear(assignment=row, by=None)
    send(environment="panel")
    sync()
    send(environment="panel")
    paid = [one for one in panel.shown("books")["payments"] if one["submission_id"] in set(crowd.finished)]
    assert len(paid) == 1_000 and {(one["amount_cents"], one["is_paid"]) for one in paid} == {(60, True)}
    assert set(Payment.objects.values_list("state", flat=True)) == {WriteState.CONFIRMED}
    summary = payment_summary(campaign.study)
    assert (summary["approved"], summary["paid_cents"]) == (1_000, 60_000)
