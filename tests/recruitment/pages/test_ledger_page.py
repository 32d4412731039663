from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from humanexp.core.models import AuditEvent, User, record
from humanexp.ledger.models import CallKind, Difference, Payment
from humanexp.ledger.reconciliation import Entry, Reconciliation, _note, is_held
from humanexp.ledger.settlement import plan_bonus, settle
from humanexp.participation.models import Response, Session
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.states import WriteState
from humanexp.studies.models import Study
from tests.downloads import rows_of
from tests.markup import markup, words
from tests.recruitment.workers import LISTED_WORKER_ID

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(study: Study) -> str:
    return f"/studies/{study.slug}/monitor/ledger/"


def test_an_empty_one_says_what_will_come(address: str, console: Client) -> None:
    page = console.get(address).content.decode()
    assert "Nothing has been approved or promised yet" in page and "once there is something to compare" in page


def test_every_payment_with_its_state_in_words(
    address: str, console: Client, submission: Callable[..., Assignment], study: Study
) -> None:
    row = submission()
    settle(study=study)
    page = console.get(address).content.decode()
    assert str(row.person) in page and "planned" in page
    assert "$1.44 is on its way." in page and "Nothing has been approved yet." in page
    Payment.objects.update(state=WriteState.CONFIRMED, confirmed_at=timezone.now())
    page = console.get(address).content.decode()
    assert "$1.20 is owed to people" in page and "Fees: $0.24." in page and "1 row is confirmed." in page
    assert "paid to people" not in page


def test_it_is_narrowed_by_state_kind_and_person(
    address: str, console: Client, submission: Callable[..., Assignment], study: Study, researcher: User
) -> None:
    row = submission()
    settle(study=study)
    plan_bonus(assignment=row, amount_cents=30, cause="thanks", reason="Clean answers.", by=researcher)

    def amounts(**query: str) -> list[bool]:
        page = console.get(address, query).content.decode()
        return ["$1.20" in page, "$0.30" in page]

    assert amounts() == [True, True]
    assert amounts(kind=CallKind.BONUS) == [False, True]
    assert amounts(state=WriteState.CONFIRMED) == [False, False]
    assert amounts(query=str(row.person)[:5]) == [True, True]
    assert amounts(query="P-NOBODY") == [False, False]
    assert amounts(state="no such state") == [True, True]
    assert "No payment is like that" in console.get(address, {"query": "P-NOBODY"}).content.decode()


def test_the_file_holds_what_the_page_lists(
    address: str, console: Client, submission: Callable[..., Assignment], study: Study
) -> None:
    row = submission()
    settle(study=study)
    reply: Any = console.get(f"{address}ledger.csv")
    assert reply["Content-Type"].startswith("text/csv")
    [line] = rows_of(reply)
    assert (line["kind"], line["participant"], line["amount_cents"], line["fee_cents"], line["state"]) == (
        "reward",
        str(row.person),
        "120",
        "24",
        "planned",
    )
    Payment.objects.filter(assignment=row).update(reason='=HYPERLINK("http://evil.example")', cause="@care")
    guarded: Any = console.get(f"{address}ledger.csv")
    [line] = rows_of(guarded)
    assert (line["reason"][:2], line["cause"]) == ("'=", "'@care"), "no spreadsheet runs what people have written"
    narrowed: Any = console.get(f"{address}ledger.csv", {"state": "confirmed"})
    assert rows_of(narrowed) == []


def test_nothing_is_said_of_the_other_side_before_it_was_compared(
    address: str, console: Client, launched: Campaign
) -> None:
    page = markup(console.get(address).content)
    assert '<td class="n">–</td><td class="n">–</td><td><span class="tag tag--plain">not compared yet</span>' in page
    record(
        action="reconcile",
        subject="recruiter:marketplace",
        ledger_cents=0,
        theirs_cents=120,
        differences=1,
        first_differences=["difference 1, reward of P-7K3QX2AB: paid there (1.20), not in the ledger."],
    )
    page = markup(console.get(address).content)
    assert "1 difference<" in page
    assert '<td class="n">$0.00</td><td class="n">$1.20</td>' in page, "compared, and nothing is in the ledger"


class TestDifferences:
    @pytest.fixture
    def difference(self, submission: Callable[..., Assignment]) -> Difference:
        row = submission()
        now = timezone.now()
        return Difference.objects.create(
            environment="marketplace",
            key="bonus:A1:1",
            hit=row.hit,
            assignment=row,
            kind="not-here",
            paid_as="bonus",
            listed_as="A1",
            theirs_cents=77,
            their_reason="by hand",
            first_seen_at=now - timedelta(hours=2),
            last_seen_at=now,
        )

    def test_none_take_no_room(self, address: str, console: Client, launched: Campaign) -> None:
        assert 'id="differences"' not in console.get(address).content.decode()

    def test_the_monitor_leads_to_what_each_side_says(
        self, address: str, console: Client, difference: Difference, study: Study
    ) -> None:
        about = f"{address}differences/{difference.pk}/"
        monitor = console.get(f"/studies/{study.slug}/monitor/").content.decode()
        assert "differ about 1 payment" in monitor and about in monitor
        assert about in console.get(address).content.decode()
        page = markup(console.get(about).content)
        assert "<dd>nothing</dd>" in page and "$0.77" in page and "by hand" in page
        assert LISTED_WORKER_ID not in page and "A confirmed row of $0.77 is added" in page

    def test_without_a_reason_nothing_is_written(self, address: str, console: Client, difference: Difference) -> None:
        answer = {"resolution": "not-ours", "note": " ", "ours": "", "theirs": "77"}
        reply = console.post(f"{address}differences/{difference.pk}/", answer)
        assert reply.status_code == 422 and b"Write down why" in reply.content
        difference.refresh_from_db()
        assert difference.is_open

    def test_what_was_made_of_it_stays_and_is_in_the_record(
        self, address: str, console: Client, difference: Difference, study: Study
    ) -> None:
        answer = {"resolution": "not-ours", "note": "Another lab's.", "ours": "", "theirs": "77"}
        assert console.post(f"{address}differences/{difference.pk}/", answer).status_code == 302
        assert "not ours" in console.get(address).content.decode()
        page = console.get(f"{address}differences/{difference.pk}/").content.decode()
        assert "Another lab&#x27;s." in page and "<form method" not in page.partition("resolve-title")[2]
        event = AuditEvent.objects.get(action="difference-not-ours")
        assert (str(event.by), event.facts["theirs_cents"]) == ("ada", 77)
        # the record outlives the person: it knows a submission by our number, never by the recruiter's
        assert event.facts["assignment"] == difference.assignment_id and difference.listed_as not in str(event.facts)
        assert not is_held(difference.assignment)
        again = console.post(f"{address}differences/{difference.pk}/", answer)
        assert again.status_code == 409

    def test_one_of_nobody_we_know_is_not_adopted(self, address: str, console: Client, difference: Difference) -> None:
        row = difference.assignment
        Difference.objects.update(assignment=None)
        assert is_held(row), "it holds back the bonuses of its campaign"
        page = console.get(f"{address}differences/{difference.pk}/").content.decode()
        assert 'value="adopted"' not in page
        answer = {"resolution": "adopted", "note": "x", "ours": "", "theirs": "77", "confirm": "1"}
        assert console.post(f"{address}differences/{difference.pk}/", answer).status_code == 409

    def test_other_figures_open_it_again(self, difference: Difference) -> None:
        """`reconcile` writes so; equal ones leave it as it was settled."""
        entry = Entry(key=difference.key, paid_as="bonus", listed_as="A1", row=None, assignment=None, theirs_cents=77)
        Difference.objects.update(state="explained")
        _note(difference.hit, entry, Reconciliation("marketplace"))
        difference.refresh_from_db()
        assert not difference.is_open
        _note(difference.hit, replace(entry, theirs_cents=78), Reconciliation("marketplace"))
        difference.refresh_from_db()
        assert difference.is_open and difference.theirs_cents == 78


def test_a_refused_payment_has_its_button_here_too(
    address: str, console: Client, submission: Callable[..., Assignment], study: Study, member: Callable[[str], Client]
) -> None:
    submission()
    settle(study=study)
    Payment.objects.update(state=WriteState.REFUSED, last_error="They said no.")
    assert "Try again" in console.get(address).content.decode()
    assert "Try again" not in member("viewer").get(address).content.decode()


class TestTopUp:
    @pytest.fixture
    def slow(self, launched: Campaign, finished: Callable[..., Assignment]) -> Assignment:
        """Twelve active minutes for $1.20: six dollars an hour."""
        row = finished()
        session = Session.objects.get(pk=row.session_id)
        begun = timezone.now() - timedelta(hours=1)
        Session.objects.filter(pk=session.pk).update(opened_at=begun, completed_at=begun + timedelta(minutes=12))
        answers = list(Response.objects.filter(session=session).order_by("position"))
        for answer, minutes in zip(answers, (10, 11, 12), strict=True):
            Response.objects.filter(pk=answer.pk).update(received_at=begun + timedelta(minutes=minutes))
        return row

    def test_one_click_at_the_sum_that_was_shown(self, slow: Assignment, console: Client, settings: Any) -> None:
        settings.WAGE_FLOOR_CENTS = 725
        address = f"/studies/{slow.campaign.study.slug}/monitor/top-up/"
        page = console.get(address).content.decode()
        assert "1 person worked for less than $7.25 an hour; the difference costs $0.30" in page
        assert "$6.00" in page and "$0.25" in page
        changed = console.post(address, {"shown_total": "1"})
        assert changed.status_code == 200 and not Payment.objects.exists()
        assert console.post(address, {"shown_total": "30"}).status_code == 302
        bonus = Payment.objects.get()
        assert (bonus.kind, bonus.amount_cents, bonus.fee_cents) == (CallKind.BONUS, 25, 5)
        assert "No one worked for less than $7.25" in console.get(address).content.decode()

    def test_a_long_sitting_with_a_break_is_not_long_work(self, slow: Assignment, console: Client) -> None:
        """Three minutes of work, then nothing for most of an hour."""
        session = Session.objects.get(pk=slow.session_id)
        Session.objects.filter(pk=session.pk).update(completed_at=timezone.now())
        Response.objects.filter(session=session).update(received_at=session.opened_at + timedelta(minutes=3))
        page = console.get(f"/studies/{slow.campaign.study.slug}/monitor/top-up/").content.decode()
        assert "No one worked for less than" in page

    def test_every_page_tells_the_same_pay_of_an_hour(self, slow: Assignment, console: Client) -> None:
        """Twelve active minutes, in a sitting of an hour."""
        Session.objects.update(completed_at=timezone.now())
        study = f"/studies/{slow.campaign.study.slug}/"
        assert "$6.00 at the median" in words(console.get(f"{study}monitor/").content)
        overview = console.get(study).content.decode()
        assert "$6.00" in overview and "people are active for 12.0 minutes" in overview

    def test_it_is_for_who_pays(self, study: Study, member: Callable[[str], Client]) -> None:
        assert member("researcher").get(f"/studies/{study.slug}/monitor/top-up/").status_code == 403
