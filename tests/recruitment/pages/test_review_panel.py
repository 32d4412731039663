from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from humanexp.core.models import User
from humanexp.ledger.models import Payment
from humanexp.ledger.rejections import reject
from humanexp.participation.openings import withdraw_session
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.states import AssignmentState
from humanexp.screening.models import Verdict
from humanexp.screening.selectors import current_verdicts
from humanexp.screening.services import judge_study
from humanexp.studies.models import Study

pytestmark = pytest.mark.django_db
REASON = "You answered every trial with the same key."
EXCLUDING = {"decision": "exclude", "usual": "The answers do not depend on the pictures."}


def page_of(row: Assignment, query: str = "") -> str:
    assert row.session is not None
    return f"/studies/{row.campaign.study.slug}/review/{row.session.code}/{query}"


def test_paying_goes_on_to_the_next_who_is_not_paid(finished: Callable[..., Assignment], console: Client) -> None:
    first, second = finished("AFIRST"), finished("ASECOND")
    page = console.get(page_of(first, "?show=unpaid")).content.decode()
    assert "$1.20 to the person, $1.44 with the fee." in page and "1 of 2" in page
    assert 'data-key="a"' in page and 'data-key="x"' in page and 'data-key="r"' in page
    reply = console.post(page_of(first) + "decide/", {"decision": "pay", "show": "unpaid"})
    assert reply["Location"] == page_of(second, "?show=unpaid")
    assert Payment.objects.get().assignment == first
    assert "1 of 1" in console.get(reply["Location"]).content.decode()
    last = console.post(page_of(second) + "decide/", {"decision": "pay", "show": "unpaid"})
    assert last["Location"].endswith("/review/?show=unpaid")
    assert "No session of this kind" in console.get(last["Location"]).content.decode()


def test_excluding_pays_all_the_same(finished: Callable[..., Assignment], console: Client, study: Study) -> None:
    row = finished()
    judge_study(study)
    assert console.post(page_of(row) + "decide/", EXCLUDING).status_code == 302
    verdict = current_verdicts(study)[row.session_id or 0]
    assert not verdict.accepted and verdict.written_reason == EXCLUDING["usual"] and verdict.is_by_person
    assert Payment.objects.get().amount_cents == 120
    page = console.get(page_of(row)).content.decode()
    assert "Exclude, but pay" not in page, "decided"


def test_excluding_wants_a_reason_and_does_nothing_without(
    finished: Callable[..., Assignment], console: Client
) -> None:
    row = finished()
    reply = console.post(page_of(row) + "decide/", {"decision": "exclude", "usual": "", "own": "bad"}, follow=True)
    assert reply.redirect_chain[-1][0] == page_of(row), "no further before it is said"
    assert b"Say why the session does not count" in reply.content
    assert not Payment.objects.exists() and not Verdict.objects.exists()


def test_paying_twice_is_once(finished: Callable[..., Assignment], console: Client) -> None:
    row = finished()
    for _ in range(2):
        console.post(page_of(row) + "decide/", {"decision": "pay"})
    assert Payment.objects.count() == 1


def test_each_role_decides_what_is_its_own(
    finished: Callable[..., Assignment], member: Callable[[str], Client], study: Study
) -> None:
    row = finished()
    reviewer, payer, viewer = member("reviewer"), member("payer"), member("viewer")
    assert viewer.get(page_of(row)).status_code == 403
    refused = reviewer.post(page_of(row) + "decide/", {"decision": "pay"}, follow=True)
    assert b"Your role in this study does not allow this" in refused.content and not Payment.objects.exists()
    refused = payer.post(page_of(row) + "decide/", EXCLUDING, follow=True)
    assert b"Your role in this study does not allow this" in refused.content and not Verdict.objects.exists()
    reviewer.post(page_of(row) + "decide/", EXCLUDING)
    assert not current_verdicts(study)[row.session_id or 0].accepted
    assert not Payment.objects.exists(), "who pays in this study pays it with the others"
    payer.post(page_of(row) + "decide/", {"decision": "pay"})
    assert Payment.objects.count() == 1


def test_the_list_marks_who_is_paid(finished: Callable[..., Assignment], console: Client, study: Study) -> None:
    paid, unpaid = finished("APAID"), finished("AUNPAID")
    Assignment.objects.filter(pk=paid.pk).update(state=AssignmentState.APPROVED)
    page = console.get(f"/studies/{study.slug}/review/").content.decode()
    assert page.count("not approved yet") == 1 and ">approved<" in page
    narrowed = console.get(f"/studies/{study.slug}/review/?show=unpaid").content.decode()
    assert unpaid.session is not None and paid.session is not None
    assert unpaid.session.code in narrowed and paid.session.code not in narrowed


def test_a_session_whom_nobody_recruited_and_one_by_a_plain_link(
    study: Study, console: Client, finished: Callable[..., Assignment]
) -> None:
    row = finished(submitted=False)
    assert "has not pressed Submit yet" in console.get(page_of(row)).content.decode()
    Campaign.objects.update(environment="link", reward_cents=0, cap_cents=0, quoted_cents=0)
    assert "This person came by a plain link" in console.get(page_of(row)).content.decode()
    session = row.session
    row.delete()
    assert session is not None
    text = console.get(f"/studies/{study.slug}/review/{session.code}/").content.decode()
    assert "was not recruited through HumanExp" in text


class TestRejection:
    @pytest.fixture
    def address(self, finished: Callable[..., Assignment]) -> str:
        row = finished()
        return f"/studies/{row.campaign.study.slug}/assignments/{row.pk}/"

    def test_it_is_shown_once_more_with_what_it_does(self, address: str, console: Client) -> None:
        form = {"decision": "reject", "reason": REASON, "evidence": "All answers came within 90 ms of the picture."}
        read = console.post(address, form)
        assert read.status_code == 200 and not Assignment.objects.filter(calls__kind="reject").exists()
        for text in ("Read it once more", "The person loses", "$1.20", "$1.44", REASON, "Do not reject"):
            assert text in read.content.decode()
        assert console.post(address, {**form, "confirmed": "yes"}).status_code == 302
        row = Assignment.objects.get()
        assert (
            row.calls.get(kind="reject").reason == REASON
            and row.calls.get(kind="reject").payload["evidence"] == form["evidence"]
        )
        assert not Payment.objects.exists()

    def test_it_wants_a_reason_and_evidence(self, address: str, console: Client) -> None:
        short = console.post(address, {"decision": "reject", "reason": "bad", "confirmed": "yes"})
        assert short.status_code == 422 and b"at least 20 characters" in short.content
        nothing = console.post(address, {"decision": "reject", "reason": REASON, "confirmed": "yes"})
        assert nothing.status_code == 422, "no sign is on record, and nothing is written"
        assert not Assignment.objects.filter(calls__kind="reject").exists()

    def test_who_may_not_reject_is_not_offered_it(self, address: str, member: Callable[[str], Client]) -> None:
        payer = member("payer")
        assert b"Go on" not in payer.get(address).content
        refused = payer.post(address, {"decision": "reject", "reason": REASON, "evidence": REASON, "confirmed": "yes"})
        assert refused.status_code == 403

    def test_the_days_to_override_are_counted(
        self, finished: Callable[..., Assignment], console: Client, researcher: User, settings: Any
    ) -> None:
        row = finished()
        reject(assignment=row, reason=REASON, evidence="Every answer was the same key.", by=researcher)
        Assignment.objects.filter(pk=row.pk).update(state=AssignmentState.REJECTED, rejection_reason=REASON)
        address = f"/studies/{row.campaign.study.slug}/assignments/{row.pk}/"
        page = console.get(address).content.decode()
        assert "can be overridden for another" in page and "Pay after all" in page
        assert (
            "30 days left to override" in console.get(f"/studies/{row.campaign.study.slug}/monitor/").content.decode()
        )
        assert console.post(address, {"decision": "override"}).status_code == 302
        assert Payment.objects.get().kind == "reward"


def test_a_withdrawn_session_has_no_page(finished: Callable[..., Assignment], console: Client) -> None:
    row = finished(submitted=False)
    assert row.session is not None
    withdraw_session(session=row.session)
    assert console.get(page_of(row)).status_code == 404
