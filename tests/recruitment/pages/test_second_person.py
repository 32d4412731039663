"""In a study that asks for it, a rejection takes two people."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from humanexp.core.models import AuditEvent, User
from humanexp.ledger.models import Call, Payment, RejectionProposal
from humanexp.ledger.rejections import set_review_policy
from humanexp.ledger.settlement import settle
from humanexp.recruiters.models import Assignment
from humanexp.studies.models import Study

pytestmark = pytest.mark.django_db
REASON = "You answered every trial with the same key."
REJECTING = {"decision": "reject", "reason": REASON, "evidence": "The same mouse path in both sessions."}
SENT = {**REJECTING, "confirmed": "yes"}


@pytest.fixture
def row(study: Study, finished: Callable[..., Assignment], researcher: User) -> Assignment:
    set_review_policy(study=study, rejections_need_two=True, by=researcher)
    return finished()


@pytest.fixture
def page(row: Assignment) -> str:
    return f"/studies/{row.campaign.study.slug}/assignments/{row.pk}/"


def test_nothing_is_sent_before_another_agrees(page: str, row: Assignment, member: Callable[[str], Client]) -> None:
    reviewer, payer = member("reviewer"), member("payer")
    assert "Propose it to a second person" in reviewer.post(page, REJECTING).content.decode()
    assert b"another owner or payer has to agree" in reviewer.post(page, SENT, follow=True).content
    assert not Call.objects.filter(kind="reject").exists()
    shown = payer.get(page).content.decode()
    assert REASON in shown and "The same mouse path" in shown and "a-reviewer" in shown
    assert payer.post(page, {"decision": "agree"}).status_code == 302
    rejection = Call.objects.filter(kind="reject").get()
    assert (rejection.reason, rejection.payload["evidence"]) == (REASON, REJECTING["evidence"])
    assert rejection.created_by == User.objects.get(username="a-reviewer")
    lines = AuditEvent.objects.filter(action__in=["propose-rejection", "agree-to-rejection"]).order_by("pk")
    assert [(line.action, str(line.by)) for line in lines] == [
        ("propose-rejection", "a-reviewer"),
        ("agree-to-rejection", "a-payer"),
    ]
    assert payer.post(page, {"decision": "agree"}).status_code == 409, "decided already"


def test_nobody_agrees_to_their_own_and_reviewers_agree_to_none(
    page: str, row: Assignment, console: Client, member: Callable[[str], Client]
) -> None:
    console.post(page, SENT)
    assert console.post(page, {"decision": "agree"}).status_code == 403
    assert "Agree: reject" not in console.get(page).content.decode()
    reviewer = member("reviewer")
    assert reviewer.post(page, {"decision": "agree"}).status_code == 403
    assert reviewer.post(page, {"decision": "decline"}).status_code == 403
    assert not Call.objects.filter(kind="reject").exists()
    assert b"It is not rejected." in console.post(page, {"decision": "decline"}, follow=True).content
    assert RejectionProposal.objects.get().state == "declined"


def test_it_waits_in_the_review_and_out_of_the_payments(
    page: str, row: Assignment, study: Study, console: Client, member: Callable[[str], Client]
) -> None:
    assert row.session is not None
    member("reviewer").post(page, SENT)
    assert settle(study=study).planned == 0
    listed = console.get(f"/studies/{study.slug}/review/?show=proposed").content.decode()
    assert row.session.code in listed and "rejection waits for a second person" in listed
    monitor = console.get(f"/studies/{study.slug}/monitor/").content.decode()
    assert "1 rejection waits for a second person." in monitor and page in monitor
    assert (
        "a-reviewer proposes to reject it"
        in console.get(f"/studies/{study.slug}/review/{row.session.code}/").content.decode()
    )
    console.post(page, {"decision": "pay"})
    assert Payment.objects.get().assignment == row and RejectionProposal.objects.get().state == "declined"
    assert "waits for a second person" not in console.get(f"/studies/{study.slug}/monitor/").content.decode()


def test_owners_set_it_and_without_it_one_person_rejects(
    study: Study, finished: Callable[..., Assignment], console: Client, member: Callable[[str], Client]
) -> None:
    address = f"/studies/{study.slug}/recruit/rejections/"
    assert member("researcher").post(address, {"rejections_need_two": "on"}).status_code == 403
    assert console.post(address, {"rejections_need_two": "on"}).status_code == 302
    assert 'name="rejections_need_two" checked' in console.get(f"/studies/{study.slug}/recruit/").content.decode()
    console.post(address)
    row = finished()
    console.post(f"/studies/{study.slug}/assignments/{row.pk}/", SENT)
    assert Call.objects.filter(kind="reject").get().reason == REASON and not RejectionProposal.objects.exists()
    policies = AuditEvent.objects.filter(action="review-policy").order_by("pk")
    assert [line.facts["rejections_need_two"] for line in policies] == [True, False]
