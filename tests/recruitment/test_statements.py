"""What the ledger adds up to, against sums made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from humanexp.core.models import AuditEvent
from humanexp.ledger.figures import By, StatementLine, money_of, statement, statements, totals
from humanexp.ledger.models import Payment
from humanexp.ledger.payments import tally_of
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import clear, plan_bonus
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.registry import registered
from humanexp.recruiters.states import WriteState
from humanexp.recruiting.accounts import open_account
from humanexp.studies.models import Study
from tests.downloads import rows_of
from tests.recruitment.studies import make_study
from tests.recruitment.test_currencies import Taxed, launched, submitted

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def taxed() -> Iterator[Taxed]:
    kind = Taxed()
    with registered(kind):
        open_account(kind="taxed", code="taxed-gbp", name="Grant in pounds", currency="GBP", by=None)
        yield kind


@pytest.fixture
def paid(study: Study, taxed: Taxed) -> list[Assignment]:
    """Three people: one in dollars in October; two in pounds, of whom one got a bonus that is on its way and one waits.

    The fee is 10 %, and the tax on it 20 %.
    """
    dollars = launched(study, "taxed", reward_cents=50)
    pounds = launched(study, "taxed-gbp", reward_cents=200)
    send()
    rows = [submitted(taxed, dollars, "P1"), submitted(taxed, pounds, "P2"), submitted(taxed, pounds, "P3")]
    for row in rows[:2]:
        clear(assignment=row, by=None)
    send()
    Payment.objects.filter(campaign=dollars).update(confirmed_at=datetime(2026, 10, 31, 23, 30, tzinfo=UTC))
    Payment.objects.filter(campaign=pounds).update(confirmed_at=datetime(2026, 11, 1, 0, 30, tzinfo=UTC))
    plan_bonus(assignment=rows[1], amount_cents=100, cause="extra", reason="Thanks.")
    Payment.objects.filter(kind="bonus").update(created_at=datetime(2026, 11, 2, tzinfo=UTC))
    clear(assignment=rows[2], by=None)
    Payment.objects.filter(assignment=rows[2]).update(
        state=WriteState.REFUSED, created_at=datetime(2026, 11, 3, tzinfo=UTC)
    )
    return rows


DOLLARS = StatementLine(
    key="taxed", environment="taxed", currency="USD", payments=1, owed_cents=50, fee_cents=5, tax_cents=1
)
POUNDS = StatementLine(
    key="taxed-gbp",
    environment="taxed-gbp",
    currency="GBP",
    payments=3,
    owed_cents=200,
    fee_cents=20,
    tax_cents=4,
    promised_cents=112,
    refused_cents=224,
)


def test_by_recruiter(study: Study, paid: list[Assignment]) -> None:
    assert statement("recruiter", study) == [DOLLARS, POUNDS]
    assert (DOLLARS.total_cents, POUNDS.total_cents) == (56, 224)


def test_a_payment_counts_in_the_month_in_which_it_was_confirmed(study: Study, paid: list[Assignment]) -> None:
    months = [(line.key, line.currency, line.payments, line.total_cents) for line in statement("month", study)]
    assert months == [("2026-10", "USD", 1, 56), ("2026-11", "GBP", 3, 224)]


def test_by_person_under_our_own_code(study: Study, paid: list[Assignment]) -> None:
    codes = [row.person.participant.code for row in paid if row.person]
    lines = {line.key: line for line in statement("person", study)}
    assert set(lines) == set(codes)
    assert [lines[code].total_cents for code in codes] == [56, 224, 0]
    assert [lines[code].promised_cents for code in codes] == [0, 112, 0]
    assert not {"P1", "P2", "P3"} & set(lines)


def test_people_who_had_themselves_deleted_stay_in_the_sums(study: Study, paid: list[Assignment]) -> None:
    Assignment.objects.filter(pk=paid[0].pk).update(person=None)
    assert statement("person", study)[0].key == ""
    assert sum(line.total_cents for line in statement("person", study) if line.currency == "USD") == 56


def test_by_study_over_all_of_them(study: Study, paid: list[Assignment], taxed: Taxed) -> None:
    other = make_study("other")
    launched(other, "taxed", reward_cents=50)
    send()
    campaign = Campaign.objects.get(study=other)
    clear(assignment=submitted(taxed, campaign, "P9"), by=None)
    send(environment="taxed")
    lines = [(line.key, line.currency, line.total_cents) for line in statement("study")]
    assert lines == [(study.slug, "USD", 56), (study.slug, "GBP", 224), ("other", "USD", 56)]
    assert [line.total_cents for line in statement("recruiter", study)] == [56, 224]


def test_several_are_made_in_one_pass_over_the_ledger(study: Study, paid: list[Assignment]) -> None:
    kinds: tuple[By, ...] = ("recruiter", "month", "person")
    with CaptureQueriesContext(connection) as asked:
        found = statements(kinds, study)
    assert sum(Payment._meta.db_table in query["sql"] for query in asked.captured_queries) == 1
    assert found == {by: statement(by, study) for by in kinds}


def test_sums_are_made_in_each_currency(study: Study, paid: list[Assignment]) -> None:
    dollars, pounds = totals(statement("person", study))
    assert (dollars.currency, dollars.payments, dollars.total_cents) == ("USD", 1, 56)
    assert (pounds.currency, pounds.payments, pounds.promised_cents, pounds.refused_cents) == ("GBP", 3, 112, 224)


def test_the_page_and_the_other_pages_say_the_same(study: Study, paid: list[Assignment]) -> None:
    for line, money in zip(totals(statement("recruiter", study)), money_of(tally_of(study)), strict=True):
        assert (line.currency, line.total_cents) == (money.currency, money.spent_cents)
        assert (line.owed_cents, line.fee_cents, line.tax_cents) == (
            money.owed_cents,
            money.net_fee_cents,
            money.tax_cents,
        )


def test_the_file_keeps_its_columns_in_minor_units(study: Study, paid: list[Assignment], admin_client: Client) -> None:
    first = rows_of(admin_client.get(f"/studies/{study.slug}/monitor/money/recruiter.csv"))[0]
    assert list(first)[:3] == ["recruiter", "currency", "payments"]
    rows = rows_of(admin_client.get(f"/studies/{study.slug}/monitor/money/month.csv"))
    assert next(row for row in rows if row["currency"] == "GBP") == {
        "month": "2026-11",
        "recruiter": "taxed-gbp",
        "currency": "GBP",
        "payments": "3",
        "promised_cents": "112",
        "owed_cents": "200",
        "paid_cents": "0",
        "fee_cents": "20",
        "tax_cents": "4",
        "refused_cents": "224",
        "total_cents": "224",
    }


def test_taking_a_file_of_all_studies_is_recorded(study: Study, paid: list[Assignment], admin_client: object) -> None:
    reply = admin_client.get("/money/study.csv")  # type: ignore[attr-defined]
    lines = b"".join(reply.streaming_content).decode("utf-8-sig").splitlines()
    assert lines[0].startswith("study,recruiter,currency,payments,promised_cents")
    assert lines[1] == f"{study.slug},taxed,USD,1,0,50,0,5,1,0,56"
    assert AuditEvent.objects.filter(action="export", subject="money.csv").count() == 1


def test_what_waits_for_a_person_is_promised_still(study: Study, paid: list[Assignment]) -> None:
    Payment.objects.filter(kind="bonus").update(state=WriteState.PARKED)
    [line] = [line for line in statement("recruiter", study) if line.currency == "GBP"]
    assert (line.promised_cents, line.refused_cents) == (112, 224)
