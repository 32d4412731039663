"""The API over HTTP: accounts, errors, pages, studies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import requests

from tests.limits import LIMIT
from tests.panel.server import CODE, Lab, PanelServer


def test_the_site_is_up(panel: PanelServer) -> None:
    answer = requests.get(f"{panel.url}/healthz", timeout=LIMIT)
    assert answer.json() == {"status": "ok", "service": "panel"}


def test_only_a_known_token_is_let_in(lab: Lab, panel: PanelServer) -> None:
    assert lab.get("users/me/")["id"] == lab.researcher_id
    for header in ("", "Token ", "Token nobody", f"Bearer {lab.token}"):
        answer = lab.call("GET", "users/me/", headers={"Authorization": header})
        assert answer.status_code == 401
        assert answer.json()["error"]["status"] == 401
    study = lab.draft()
    other = panel.lab()
    assert "study" in other.refused("GET", f"studies/{study}/", status=404)
    assert other.get("studies/")["results"] == []


def test_refusals_come_in_three_shapes(lab: Lab) -> None:
    error = lab.call("POST", "studies/", lab.terms(reward="much")).json()["error"]
    assert list(error["detail"]) == ["reward"]
    hook = lab.call("POST", "hooks/secrets/", {"workspace_id": "nowhere"})
    assert hook.status_code == 404 and set(hook.json()) == {"message", "detail"}
    study = lab.draft()
    past = lab.call("GET", "submissions/", params={"study": study, "page": 2})
    assert past.status_code == 404 and past.json() == {"detail": "Invalid page."}
    assert lab.call("PUT", f"studies/{study}/", {}).status_code == 405
    assert lab.call("POST", "studies/", headers={"Content-Type": "application/json"}, data="{").status_code == 400


def test_an_address_without_its_slash_redirects_and_does_nothing(lab: Lab) -> None:
    answer = lab.call("POST", "studies", lab.terms())
    assert answer.status_code == 301
    assert lab.get("studies/")["results"] == []


def test_workspaces_projects_and_prices(lab: Lab, panel: PanelServer) -> None:
    assert [one["id"] for one in lab.get("workspaces/")["results"]] == [lab.workspace_id]
    made = lab.post(f"workspaces/{lab.workspace_id}/projects/", title="Second")
    listed = lab.get(f"workspaces/{lab.workspace_id}/projects/")["results"]
    assert [one["id"] for one in listed] == [lab.project_id, made["id"]]
    study = lab.draft(project=made["id"])
    assert [one["id"] for one in lab.get(f"projects/{made['id']}/studies/")["results"]] == [study]
    # 85.00 and a third: 28.34, rounded up
    assert lab.post("study-cost-calculator/", reward=8500, total_available_places=10)["total_cost"] == 113_340
    corporate = panel.lab(is_academic=False)
    assert corporate.post("study-cost-calculator/", reward=1000, total_available_places=1)["total_cost"] == 1428
    assert lab.get("reward-recommendations/", currency="USD", workspace_id=lab.workspace_id) == [
        {"currency": "USD", "min_reward_per_hour": 800, "recommended_reward_per_hour": 1200}
    ]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"name": ""}, "name"),
        ({"external_study_url": "lab.example"}, "external_study_url"),
        ({"reward": 99}, "reward"),  # 5.94 an hour
        ({"maximum_allowed_time": 28}, "non_field_errors"),  # 2 + 20 + 2 * sqrt(10) = 28.3
        ({"completion_codes": []}, "completion_codes"),
        ({"completion_codes": [{"code": "A", "code_type": "COMPLETED", "actions": []}] * 2}, "completion_codes"),
        ({"filters": [{"filter_id": "shoe-size", "selected_values": []}]}, "filters"),
        ({"device_compatibility": ["fridge"]}, "device_compatibility"),
    ],
)
def test_a_draft_is_checked(lab: Lab, changed: dict, field: str) -> None:
    answer = lab.call("POST", "studies/", lab.terms(**changed))
    assert answer.status_code == 400
    assert list(answer.json()["error"]["detail"]) == [field]


def test_a_draft_is_read_changed_cloned_and_deleted(lab: Lab) -> None:
    study = lab.draft()
    assert lab.get(f"studies/{study}/") == {**lab.get(f"studies/{study}/"), "maximum_allowed_time": 29, "reward": 150}
    assert lab.call("PATCH", f"studies/{study}/", {"reward": 200, "total_available_places": 2}).json()["reward"] == 200
    assert lab.call("PATCH", f"studies/{study}/", {"reward": 1}).status_code == 400
    copy = lab.post(f"studies/{study}/clone/")
    assert copy["filters"][-1] == {"filter_id": "previous_studies_blocklist", "selected_values": [study]}
    assert lab.call("DELETE", f"studies/{study}/").status_code == 204
    assert [one["id"] for one in lab.get("studies/", state="(UNPUBLISHED|ACTIVE)")["results"]] == [copy["id"]]


def test_publishing_locks_the_balance_and_is_refused_when_it_is_short(panel: PanelServer) -> None:
    lab = panel.lab(balance_cents=2 * 200)
    study = lab.draft(total_available_places=3)
    lab.refused("POST", f"studies/{study}/transition/", {"action": "PUBLISH"})
    assert lab.status(study) == "UNPUBLISHED" and lab.balance() == (400, 400)
    lab.call("PATCH", f"studies/{study}/", {"total_available_places": 2})
    assert lab.transition(study, "PUBLISH")["status"] == "PUBLISHING"
    assert lab.balance() == (400, 0)
    panel.advance(2)
    assert lab.status(study) == "ACTIVE"
    lab.transition(study, "STOP")
    assert lab.balance() == (400, 400)


def test_what_can_change_after_publication(lab: Lab) -> None:
    study = lab.study()
    assert "reward" in lab.refused("PATCH", f"studies/{study}/", {"reward": 500})
    lab.refused("PATCH", f"studies/{study}/", {"external_study_url": "https://elsewhere.example/"})
    lab.refused("PATCH", f"studies/{study}/", {"total_available_places": 2})
    lab.refused("DELETE", f"studies/{study}/")
    for _ in range(2):  # the number is absolute: twice equals once
        changed = lab.call("PATCH", f"studies/{study}/", {"total_available_places": 5, "internal_name": "b"}).json()
        assert (changed["total_available_places"], changed["internal_name"]) == (5, "b")
    assert lab.balance() == (1_000_000, 1_000_000 - 5 * 200)


def test_the_transitions_of_a_study(lab: Lab, panel: PanelServer) -> None:
    study = lab.draft()
    at = datetime.fromisoformat(panel.shown("clock")["now"]).astimezone(UTC) + timedelta(hours=1)
    assert lab.transition(study, "SCHEDULE_PUBLISH", publish_at=at.isoformat())["status"] == "SCHEDULED"
    assert lab.transition(study, "CANCEL_PUBLISH")["status"] == "UNPUBLISHED"
    lab.transition(study, "SCHEDULE_PUBLISH", publish_at=at.isoformat())
    panel.advance(3700)
    assert lab.status(study) == "ACTIVE"
    assert lab.transition(study, "PAUSE")["status"] == "PAUSED"
    lab.refused("POST", f"studies/{study}/transition/", {"action": "PUBLISH"})
    assert lab.transition(study, "START")["status"] == "ACTIVE"
    assert lab.transition(study, "STOP")["status"] == "COMPLETED"
    assert lab.call("PATCH", f"studies/{study}/", {"total_available_places": 4}).json()["status"] == "ACTIVE"


def test_a_scheduled_study_that_cannot_be_paid_for_is_a_draft_again(panel: PanelServer) -> None:
    lab = panel.lab(balance_cents=3 * 200)
    at = datetime.fromisoformat(panel.shown("clock")["now"]) + timedelta(hours=1)
    studies = [lab.draft() for _ in range(2)]
    for study in studies:
        lab.transition(study, "SCHEDULE_PUBLISH", publish_at=at.isoformat())
    panel.advance(3700)
    assert [lab.status(study) for study in studies] == ["ACTIVE", "UNPUBLISHED"]
    assert lab.balance() == (600, 0)


def test_the_disputed_end_of_stop_is_a_switch(lab: Lab, panel: PanelServer) -> None:
    panel.control("switches", stop_awaits_review=True, processing_s=60, processing_word="UNKNOWN")
    study = lab.study()
    assert lab.transition(study, "STOP")["status"] == "UNKNOWN"
    panel.advance(61)
    assert lab.status(study) == "AWAITING REVIEW"


@pytest.mark.parametrize("reopens", [False, True])
def test_a_rejection_during_review_opens_the_study_or_waits_for_start(
    lab: Lab, panel: PanelServer, reopens: bool
) -> None:
    panel.control("switches", rejection_reopens=reopens)
    study = lab.study(total_available_places=2)
    submissions = lab.people(study, 2)
    assert lab.status(study) == "AWAITING REVIEW"
    lab.decide(submissions[0], "REJECT", message="x" * 100, rejection_category="NO_DATA")
    assert lab.status(study) == ("ACTIVE" if reopens else "AWAITING REVIEW")
    if not reopens:
        assert lab.transition(study, "START")["status"] == "ACTIVE"
    lab.people(study, 1)
    assert lab.get(f"studies/{study}/")["places_taken"] == 2


@pytest.mark.parametrize("count", [19, 20, 21, 40, 100])
def test_pages_end_with_a_full_one(lab: Lab, count: int) -> None:
    study = lab.study(total_available_places=count)
    made = lab.people(study, count)
    url, found = f"submissions/?study={study}", []
    while url:
        page = lab.get(url.removeprefix(f"{lab.panel.url}/api/v1/"))
        assert len(page["results"]) <= 20
        found += [one["id"] for one in page["results"]]
        url = page["_links"]["next"]["href"]
    assert found == made
    pages = -(-count // 20)
    lab.refused("GET", f"submissions/?study={study}&page={pages + 1}", status=404)
    assert lab.get(f"studies/{study}/submissions/counts/")["TOTAL"] == count


def test_filters_decide_who_sees_a_study(lab: Lab, panel: PanelServer) -> None:
    everybody = lab.post("eligibility-count/", filters=[])["count"]
    panel.control("people", count=200)
    assert lab.post("eligibility-count/", filters=[])["count"] >= everybody + 200
    young = {"filter_id": "age", "selected_range": {"upper": 40}}
    old = {"filter_id": "age", "selected_range": {"lower": 41}}
    parts = [lab.post("eligibility-count/", filters=[one])["count"] for one in (young, old)]
    assert sum(parts) == lab.post("eligibility-count/", filters=[])["count"] and min(parts) > 25
    assert lab.post("eligibility-count/", filters=[young, old])["count"] == 0
    either = {"filter_id": "or", "selected_filters": [young, old]}
    assert lab.post("eligibility-count/", filters=[either])["count"] == sum(parts)
    one = {"filter_id": "custom_allowlist", "selected_values": ["a" * 24]}
    assert lab.post("eligibility-count/", filters=[one])["count"] == 0  # fewer than 25 are none
    ids = {found["filter_id"] for found in lab.get("filters/", workspace_id=lab.workspace_id)["results"]}
    assert {"age", "participant_group_blocklist"} <= ids


def test_a_group_of_those_who_finished_is_kept_out(lab: Lab, panel: PanelServer) -> None:
    group = lab.post("participant-groups/", workspace_id=lab.workspace_id, name="seen")["id"]
    code = {
        "code": CODE,
        "code_type": "COMPLETED",
        "actions": [{"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group}],
    }
    lab.people(lab.study(completion_codes=[code]), 2)
    members = [one["participant_id"] for one in lab.get(f"participant-groups/{group}/participants/")["results"]]
    assert len(members) == 2
    again = lab.post(f"participant-groups/{group}/participants/", participant_ids=members)["results"]
    assert [one["participant_id"] for one in again] == members  # members are ignored
    block = {"filter_id": "participant_group_blocklist", "selected_values": [group]}
    closed = lab.study(filters=[block])
    came = [lab.submission(one)["participant"] for one in lab.people(closed, 3)]
    assert not set(came) & set(members)
    left = lab.call("DELETE", f"participant-groups/{group}/participants/", {"participant_ids": members[:1]}).json()
    assert [one["participant_id"] for one in left["results"]] == members[1:]


def test_messages_reach_people_of_the_study_only(lab: Lab, panel: PanelServer) -> None:
    study = lab.study()
    person = panel.person()
    submission = person.reserve(study)
    pid = lab.submission(submission)["participant"]
    sent = lab.call("POST", "messages/", {"recipient_id": pid, "body": "Thank you!", "study_id": study})
    assert sent.status_code == 204 and not sent.content
    stranger = panel.control("people", count=1)["participant_ids"][0]
    lab.refused("POST", "messages/", {"recipient_id": stranger, "body": "Hello", "study_id": study})
    assert person.post("/messages/", study=study, body=" ").status_code == 400
    assert "Thank you!" in person.get("/messages/").text
    person.post("/messages/", study=study, body="My code failed.")
    assert [one["body"] for one in lab.get("messages/unread/")["results"]] == ["My code failed."]
    assert [one["body"] for one in lab.get("messages/", user_id=pid)["results"]] == ["Thank you!", "My code failed."]
    long_ago = datetime.fromisoformat(panel.shown("clock")["now"]) - timedelta(days=31)
    lab.refused("GET", f"messages/?created_after={long_ago:%Y-%m-%dT%H:%M:%SZ}")
