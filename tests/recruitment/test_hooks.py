"""Events that the practice panel posts to us: each says "look now" once, and nothing that it says is believed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from humanexp.core.models import AuditEvent
from humanexp.jobs.models import Job
from humanexp.recruiters import keys
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.prolific.kinds import signature
from humanexp.recruiters.registry import recruiter_for
from humanexp.recruiters.states import AssignmentState
from humanexp.recruiting.models import HookEvent
from humanexp.recruiting.polling import listen, sync, told_campaigns
from tests.limits import until
from tests.panel.server import Lab, PanelServer
from tests.recruitment.at_panel import come

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "PANEL_HOOK_SECRET"  # noqa: S105  (the name of a key)
LaunchAtPanel = Callable[..., Campaign]


@pytest.fixture(autouse=True)
def a_former_accounts_secret() -> Iterator[None]:
    """It must not be taken for the one of the account that is set up now."""
    keys.store({SECRET: "of-another-workspace"})
    yield
    keys.file_of(SECRET).unlink(missing_ok=True)


@pytest.fixture
def reached(lab: Lab, live_server: Any, settings: Any) -> None:
    """The panel can post to us."""
    settings.PUBLIC_URL = live_server.url


def posted(body: dict[str, Any], *, secret: str = "", at: int = 0, age_s: float = 0, **changed: str) -> Any:
    raw = json.dumps(body).encode()
    stamp = str(at or int(time.time() - age_s))
    headers = {
        "X-Prolific-Request-Timestamp": stamp,
        "X-Prolific-Request-Signature": signature(secret or keys.key(SECRET), stamp, raw),
        "X-Event-ID": "e1",
        **changed,
    }
    return Client().post("/hooks/panel/", raw, content_type="application/json", headers=headers)


def told(about: str, **more: str) -> dict[str, Any]:
    return {"event_type": "submission.status.change", "resource_id": about, **more}


def wait_for_events(count: int) -> None:
    # What a busy machine did not take in 5 s is sent again, up to 40 s later.
    until(
        lambda: HookEvent.objects.count() >= count,
        lambda: f"{count} events, not {HookEvent.objects.count()}",
        every_s=0.1,
    )


def events_at(lab: Lab) -> list[dict[str, Any]]:
    """What the panel has to tell of this lab, told or not."""
    subscriptions = [one["id"] for one in lab.get("hooks/subscriptions/")["results"]]
    return [event for one in subscriptions for event in lab.get(f"hooks/subscriptions/{one}/events/")["results"]]


def forget_the_launch(lab: Lab, campaign: Campaign) -> None:
    """It has events of its own; the last of them, that the study is open, is told before they are forgotten."""
    until(lambda: lab.status(campaign.hits.get().hit_id) == "ACTIVE", "the study is open")
    until(lambda: {event["status"] for event in events_at(lab)} == {"SUCCEEDED"}, lambda: str(events_at(lab)))
    HookEvent.objects.all().delete()
    Job.objects.filter(kind="recruitment.listen").delete()


def test_a_launch_subscribes_once_and_keeps_the_secret_out_of_the_database(
    reached: None, lab: Lab, launch_at_panel: LaunchAtPanel, live_server: Any
) -> None:
    launch_at_panel()
    recruiter_for("panel").ask_for_hints("")
    found = lab.get("hooks/subscriptions/")["results"]
    assert sorted(one["event_type"] for one in found) == ["study.status.change", "submission.status.change"]
    assert {one["target_url"] for one in found} == {f"{live_server.url}/hooks/panel/"}
    [secret] = lab.get("hooks/secrets/", workspace_id=lab.workspace_id)["results"]
    assert keys.key(SECRET) == secret["value"]


def test_without_an_address_that_it_can_reach_nothing_is_subscribed(
    lab: Lab, launch_at_panel: LaunchAtPanel, settings: Any
) -> None:
    settings.PUBLIC_URL = "http://lab.example"
    launch_at_panel()
    assert lab.get("hooks/subscriptions/")["results"] == []


@pytest.mark.gate
def test_an_event_leads_to_a_look_at_once(
    reached: None, lab: Lab, panel: PanelServer, launch_at_panel: LaunchAtPanel
) -> None:
    campaign = launch_at_panel()
    forget_the_launch(lab, campaign)
    come(panel, campaign).finish()
    wait_for_events(3)
    assert Job.objects.filter(kind="recruitment.listen").count() == 1, "one look for all that came together"
    assert listen().submitted == 1
    assert Assignment.objects.get().state == AssignmentState.SUBMITTED
    assert listen().hits == 0, "what was told is looked at once"


def test_doubled_and_shuffled_events_end_in_what_the_lists_say(
    reached: None, lab: Lab, panel: PanelServer, launch_at_panel: LaunchAtPanel
) -> None:
    panel.control("switches", events_doubled=True, events_shuffled=True, events_delay_s=60)
    campaign = launch_at_panel()
    people = [come(panel, campaign) for _ in range(2)]
    for guest in people:
        guest.finish()
    panel.advance(70)
    wait_for_events(6)
    until(lambda: {event["status"] for event in events_at(lab)} == {"SUCCEEDED"}, lambda: str(events_at(lab)))
    listen()
    assert HookEvent.objects.values("digest").distinct().count() == HookEvent.objects.count()
    assert set(Assignment.objects.values_list("state", flat=True)) == {AssignmentState.SUBMITTED}


class TestPosted:
    @pytest.fixture(autouse=True)
    def secret(self, study: object) -> None:
        keys.store({SECRET: "a-secret"})

    def test_a_repeat_is_answered_and_counts_once(self) -> None:
        """Under whatever id of an event it comes: that is in a header which is not signed."""
        at = int(time.time())
        for number in range(3):
            assert posted(told("a"), at=at, **{"X-Event-ID": f"e{number}"}).status_code == 200
        assert HookEvent.objects.count() == 1
        assert Job.objects.filter(kind="recruitment.listen").count() == 1
        assert posted(told("b"), at=at).status_code == 200
        assert HookEvent.objects.count() == 2

    @pytest.mark.parametrize(
        "wrong",
        [
            {"secret": "another"},
            {"age_s": 400},
            {"age_s": -400},
            {"X-Prolific-Request-Signature": "AAAA"},
        ],
    )
    def test_forged_and_old_ones_leave_nothing(self, wrong: dict[str, Any]) -> None:
        reply = posted(told("a"), **wrong)
        assert (reply.status_code, reply.content) == (403, b"")
        assert not HookEvent.objects.exists() and not Job.objects.filter(kind="recruitment.listen").exists()

    def test_nobody_elses_address_listens(self) -> None:
        client = Client()
        assert client.post("/hooks/marketplace/", b"{}", content_type="application/json").status_code == 404
        assert client.post("/hooks/nobody/", b"{}", content_type="application/json").status_code == 404
        assert client.get("/hooks/panel/").status_code == 405
        assert client.post("/hooks/panel/", b" " * 20_000, content_type="application/json").status_code == 413

    def test_nothing_that_it_says_is_taken_over_or_kept(
        self, panel: PanelServer, launch_at_panel: LaunchAtPanel
    ) -> None:
        campaign = launch_at_panel()
        guest = come(panel, campaign)
        assert posted(told(guest.submission, status="APPROVED", participant_id="f" * 24)).status_code == 200
        listen()
        assert Assignment.objects.get().state == AssignmentState.OPENED, "as the lists have it"
        event = HookEvent.objects.get()
        assert event.campaign == campaign
        kept = f"{event.__dict__} {list(AuditEvent.objects.values_list('facts', flat=True))}"
        assert guest.submission not in kept and "f" * 24 not in kept

    def test_one_about_nobody_we_know_looks_at_all_that_is_under_way(
        self, panel: PanelServer, launch_at_panel: LaunchAtPanel
    ) -> None:
        launch_at_panel()
        posted(told("e" * 24))
        assert listen().hits == 1

    def test_what_is_old_is_forgotten(self) -> None:
        posted(told("a"))
        HookEvent.objects.update(received_at=timezone.now() - timedelta(days=3))
        told_campaigns("panel")
        assert not HookEvent.objects.exists()


def test_with_a_replaced_secret_events_are_refused_and_polling_goes_on(
    reached: None, lab: Lab, panel: PanelServer, launch_at_panel: LaunchAtPanel
) -> None:
    campaign = launch_at_panel()
    forget_the_launch(lab, campaign)
    lab.post("hooks/secrets/", workspace_id=lab.workspace_id)  # somebody else has made a new one
    told_of = {event["id"]: event["datetime_updated"] for event in events_at(lab)}
    come(panel, campaign).finish()

    def were_all_tried() -> bool:
        new = [event for event in events_at(lab) if event["id"] not in told_of]
        return bool(new) and all(event["datetime_updated"] > event["datetime_created"] for event in new)

    until(were_all_tried, lambda: str(events_at(lab)))
    assert not HookEvent.objects.exists()
    sync()
    assert Assignment.objects.get().state == AssignmentState.SUBMITTED
    # The next launch reads it, and ends nobody's.
    [made] = lab.get("hooks/secrets/", workspace_id=lab.workspace_id)["results"]
    recruiter_for("panel").ask_for_hints("")
    assert keys.key(SECRET) == made["value"] and lab.get("hooks/secrets/", workspace_id=lab.workspace_id)[
        "results"
    ] == [made]
    come(panel, campaign).finish()
    wait_for_events(1)
