"""Whatever the service's published interface does not name is refused, in the service's own shape of an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.limits import LIMIT
from tests.panel.server import CODE, Lab, PanelServer

DOCUMENT = Path(__file__).parents[2] / "docs" / "panel.md"
METHODS = ("GET", "POST", "PATCH", "PUT", "DELETE")


def documented() -> list[tuple[str, set[str]]]:
    rows = re.findall(r"^\| (`.+?`) \| ([A-Z].*?) \|$", DOCUMENT.read_text(), re.MULTILINE)
    named = [
        (path, set(re.findall("|".join(METHODS), methods))) for paths, methods in rows for path in paths.split(", ")
    ]
    return [(path.strip("`").replace("{id}", "f" * 24), methods) for path, methods in named]


@pytest.mark.parametrize(("path", "methods"), documented())
def test_every_path_has_the_methods_that_are_documented(lab: Lab, path: str, methods: set[str]) -> None:
    answers = {method: lab.call(method, path, {} if method != "GET" else None) for method in METHODS}
    assert {method for method, answer in answers.items() if answer.status_code != 405} == methods
    assert all(answer.status_code < 500 for answer in answers.values())


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("submissions/?study={study}&ordering=-completed_at", "ordering"),
        ("submissions/?study={study}&status=RESERVED", "status"),
        ("submissions/?study={study}&status=AWAITING REVIEW", "status"),
        ("submissions/?study={study}&limit=5", "limit"),
        ("submissions/?study={study}&page_size=0", "page_size"),
        ("submissions/", "study"),
        ("studies/?state=(ACTIVE|OPEN)", "state"),
        ("studies/{study}/submissions/?status=APPROVED", "status"),
        ("studies/{study}/submissions/?ordering=reward", "ordering"),
        ("studies/{study}/cost/?is_projected=maybe", "is_projected"),
        ("projects/{project}/studies/?ordering=name", "ordering"),
        ("reward-recommendations/?currency=GBP", "workspace_id"),
        ("reward-recommendations/?workspace_id={workspace}&currency=EUR", "currency"),
        ("participant-groups/", "workspace_id"),
        ("filters/?workspace={workspace}", "workspace"),
        ("messages/?sender=somebody", "sender"),
        ("users/me/?verbose=1", "verbose"),
    ],
)
def test_a_query_is_what_the_interface_names(lab: Lab, path: str, field: str) -> None:
    ids = {"study": lab.draft(), "project": lab.project_id, "workspace": lab.workspace_id}
    assert list(said(lab.call("GET", path.format(**ids)))) == [field]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"completion_option": "url"}, "completion_option"),
        ({"reward": "150"}, "reward"),
        ({"total_available_places": True}, "total_available_places"),
        ({"study_labels": ["perception"]}, "study_labels"),
        ({"submissions_config": {"max_submissions": 1}}, "submissions_config"),
        ({"submissions_config": {"auto_rejection_categories": ["TOO_SLOW"]}}, "submissions_config"),
        ({"completion_codes": [{"code": CODE, "code_type": "DONE", "actions": []}]}, "completion_codes"),
        ({"completion_codes": [{"code": CODE, "code_type": "COMPLETED"}]}, "completion_codes"),
        *(
            ({"completion_codes": [{"code": CODE, "code_type": "COMPLETED", "actions": [action]}]}, "completion_codes")
            for action in (
                {"action": "REQUEST_RETURN"},
                {"action": "MANUALLY_REVIEW", "return_reason": "None"},
                {"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": 1},
                {"action": "PAY_TWICE"},
            )
        ),
        ({"filters": [{"filter_id": "age", "selected_range": {"lower": 18, "step": 2}}]}, "filters"),
        ({"filters": [{"filter_id": "age", "selected_range": {"lower": None}}]}, "filters"),
        ({"filters": [{"filter_id": "sex", "selected_values": [0]}]}, "filters"),
        ({"filters": [{"filter_id": "sex", "values": ["0"]}]}, "filters"),
    ],
)
def test_a_study_has_the_fields_and_words_of_the_interface(lab: Lab, changed: dict[str, Any], field: str) -> None:
    assert list(said(lab.call("POST", "studies/", lab.terms(**changed)))) == [field]
    study = lab.draft()
    assert list(said(lab.call("PATCH", f"studies/{study}/", changed))) == [field]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("studies/{study}/transition/", {"action": "END"}, "action"),
        ("studies/{study}/clone/", {"block": True}, "block"),
        ("study-cost-calculator/", {"reward": 100, "places": 3}, "places"),
        ("eligibility-count/", {"filters": [], "workspace": "x"}, "workspace"),
        ("participant-groups/", {"workspace_id": "{workspace}", "name": "seen", "colour": "red"}, "colour"),
        ("submissions/{submission}/transition/", {"action": "APPROVE", "note": "Well done"}, "note"),
        (
            "submissions/{submission}/transition/",
            {"action": "REJECT", "rejection_category": "DULL"},
            "rejection_category",
        ),
        ("submissions/{submission}/request-return/", {"request_return_reasons": "None"}, "request_return_reasons"),
        ("submissions/bulk-approve/", {"submissions": []}, "submissions"),
        ("submissions/bonus-payments/", {"study_id": "x", "csv_bonuses": "x,1", "reason": "Thanks"}, "reason"),
        ("messages/", {"recipient_id": "x", "body": "Hello", "study_id": "x", "subject": "Hello"}, "subject"),
        ("bulk-bonus-payments/{study}/pay/", {"token": "once"}, "token"),
    ],
)
def test_a_body_is_what_the_interface_names(lab: Lab, path: str, body: dict[str, Any], field: str) -> None:
    study = lab.study()
    [submission] = lab.people(study, 1)
    assert list(said(lab.call("POST", path.format(study=study, submission=submission), body))) == [field]
    assert lab.submission(submission)["status"] == "AWAITING REVIEW"


def test_a_submission_is_approved_by_one_of_two_bodies(lab: Lab) -> None:
    study = lab.study()
    [submission] = lab.people(study, 1)
    both = {"submission_ids": [submission], "study_id": study, "participant_ids": ["x"]}
    lab.refused("POST", "submissions/bulk-approve/", both)


def test_hooks_refuse_in_their_own_shape(lab: Lab) -> None:
    answer = lab.call("POST", "hooks/secrets/", {"workspace_id": lab.workspace_id, "length": 64})
    assert answer.status_code == 400 and list(answer.json()["detail"]) == ["length"]
    assert list(lab.call("GET", "hooks/secrets/").json()["detail"]) == ["workspace_id"]


def test_the_control_page_offers_no_faults_and_arms_none_of_calls_that_do_not_exist(panel: PanelServer) -> None:
    page = requests.get(f"{panel.url}/control/", timeout=LIMIT).text
    assert "fault" not in page.lower()
    body = {"operation": "balance.DELETE", "kind": "html"}
    assert requests.post(f"{panel.url}/control/faults/", json=body, timeout=LIMIT).status_code == 400


def said(answer: requests.Response) -> dict[str, list[str]]:
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["status"] == 400 and error["title"] == "Validation error"
    return dict(error["detail"])
