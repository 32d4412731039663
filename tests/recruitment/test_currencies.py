"""Accounts in several currencies: sums are kept in each, and nothing is ever converted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from humanexp.core.errors import CapExceeded, InvalidRequest
from humanexp.ledger.budgets import budget_of, budgets_of, set_month_cap, set_study_cap
from humanexp.ledger.figures import money_of, payment_summary
from humanexp.ledger.owed import owed, payable, sums_of
from humanexp.ledger.payments import ledger, tally_of
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import clear, plan_bonus, settle
from humanexp.ledger.wages import top_up_plan, wage_of
from humanexp.recruiters import money
from humanexp.recruiters.memory import FEES, Memory
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.money import FeeTable, Quote, QuoteTerms
from humanexp.recruiters.registry import Account, registered
from humanexp.recruiting.accounts import open_account
from humanexp.recruiting.extension import quote_extension
from humanexp.recruiting.launch import LaunchTerms, publish, quote
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study

pytestmark = pytest.mark.django_db(transaction=True)


class Taxed(Memory):
    """Takes tax on its fees, and answers what a campaign costs when it is asked."""

    code = "taxed"
    name = "a recruiter that takes tax"
    is_asked = False

    @property
    def fees(self) -> FeeTable:
        return replace(FEES, tax_percent=20)

    def quote(self, terms: QuoteTerms, account: Account) -> Quote:
        by_formula = super().quote(terms, account)
        return replace(by_formula, fees_cents=99, source="asked") if self.is_asked else by_formula

    def hourly_minimum_cents(self, currency: str) -> int | None:
        return {"GBP": 600}.get(currency)


@pytest.fixture
def memory() -> Iterator[Memory]:
    kind = Memory()
    with registered(kind):
        open_account(kind="memory", code="pounds", name="Grant in pounds", currency="GBP", by=None)
        yield kind


@pytest.fixture
def taxed() -> Iterator[Taxed]:
    kind = Taxed()
    with registered(kind):
        open_account(kind="taxed", code="taxed-gbp", name="Grant in pounds", currency="GBP", by=None)
        yield kind


def launched(study: Study, to: str, *, reward_cents: int = 50, cap_cents: int = 1_000) -> Campaign:
    terms = LaunchTerms(to=to, assignments=2, reward_cents=reward_cents, cap_cents=cap_cents)
    return publish(study=study, terms=terms)


def submitted(kind: Memory, campaign: Campaign, person: str) -> Assignment:
    """Somebody whom we never saw has submitted there, and a person clears it."""
    account = kind.of(campaign.environment)
    ticket = account.accept(campaign.hits.get().hit_id, person)
    account.submit(ticket.submission)
    sync()
    return Assignment.objects.get(assignment_id=ticket.submission, environment=campaign.environment)


def paid_in_both(study: Study, memory: Memory) -> None:
    for to, reward in (("memory", 50), ("pounds", 80)):
        launched(study, to, reward_cents=reward)
    send()
    for number, campaign in enumerate(Campaign.objects.order_by("pk")):
        clear(assignment=submitted(memory, campaign, f"P{number}"), by=None)
    send()


def test_amounts_are_written_with_the_sign_of_their_currency() -> None:
    assert [money.shown(123_456, one) for one in ("USD", "GBP", "EUR", "CHF")] == [
        "$1,234.56",
        "£1,234.56",
        "€1,234.56",
        "CHF 1,234.56",
    ]
    assert money.shown(-5, "GBP") == "−£0.05"
    assert money.listed({"USD": 144, "GBP": 200}) == "$1.44 and £2.00"
    assert money.listed({"USD": 1, "GBP": 2, "EUR": 3}) == "$0.01, £0.02 and €0.03"
    assert money.listed({}) == "$0.00"
    assert money.summed([("GBP", 1), ("USD", 2), ("GBP", 3)]) == {"USD": 2, "GBP": 4}
    assert [money.cents(text) for text in ("£1.20", "€ 7", "1.20")] == [120, 700, 120]


def test_sums_are_kept_in_each_currency(study: Study, memory: Memory) -> None:
    paid_in_both(study, memory)
    dollars, pounds = money_of(tally_of(study))
    # by hand: two places each; one reward each, with a fee of 10 %
    assert (dollars.currency, dollars.quoted_cents, dollars.owed_cents, dollars.fee_cents) == ("USD", 110, 50, 5)
    assert (pounds.currency, pounds.quoted_cents, pounds.owed_cents, pounds.fee_cents) == ("GBP", 176, 80, 8)
    assert (dollars.open_cents, pounds.open_cents) == (55, 88)


def test_a_summary_names_its_currency_or_adds_nothing_up(study: Study, memory: Memory) -> None:
    paid_in_both(study, memory)
    summary = payment_summary(study)
    assert summary["approved"] == 2
    assert [summary[key] for key in ("currency", "owed_cents", "paid_cents", "fee_cents", "total_cents")] == [None] * 5
    assert summary["by_currency"]["GBP"]["total_cents"] == 88
    assert summary["by_currency"]["USD"]["total_cents"] == 55


def test_the_ledger_file_names_the_currency_of_each_row(study: Study, memory: Memory) -> None:
    paid_in_both(study, memory)
    assert [(row.amount_cents, row.currency) for row in ledger(study).order_by("pk")] == [(50, "USD"), (80, "GBP")]


def test_settling_says_what_it_costs_in_each_currency(study: Study, memory: Memory) -> None:
    for to in ("memory", "pounds"):
        launched(study, to)
    send()
    for campaign in Campaign.objects.order_by("pk"):
        row = submitted(memory, campaign, f"P-{campaign.pk}")
        Assignment.objects.filter(pk=row.pk).update(evidence="receipt")
    due = payable(owed(study))
    assert (len(due), sums_of(due)) == (2, {"USD": 55, "GBP": 55})
    assert settle(study=study).sums == {"USD": 55, "GBP": 55}


class TestCaps:
    def test_each_currency_has_its_own(self, study: Study, memory: Memory) -> None:
        set_study_cap(study=study, cap_cents=110, by=None)
        set_study_cap(study=study, cap_cents=120, currency="GBP", by=None)
        launched(study, "memory")
        launched(study, "pounds")
        with pytest.raises(CapExceeded, match=r"costs £1\.10 with fees, and £0\.10 of the study's cap of £1\.20"):
            launched(study, "pounds")
        assert (budget_of(study, "USD").left_cents, budget_of(study, "GBP").left_cents) == (0, 10)
        assert [one.currency for one in budgets_of(study, tally_of(study))] == ["USD", "GBP"]

    def test_who_has_a_cap_in_one_currency_spends_in_no_other_without_one(self, study: Study, memory: Memory) -> None:
        set_study_cap(study=study, cap_cents=1_000, by=None)
        with pytest.raises(CapExceeded, match="a cap in USD and none in GBP"):
            launched(study, "pounds")
        set_study_cap(study=study, cap_cents=500, currency="GBP", by=None)
        launched(study, "pounds")

    def test_a_month_cap_is_in_the_currency_of_its_account(self, study: Study, memory: Memory) -> None:
        set_month_cap(environment="pounds", cap_cents=100, by=None)
        with pytest.raises(CapExceeded, match=r"£1\.00 of the month's cap of £1\.00"):
            launched(study, "pounds")
        launched(study, "memory")

    def test_a_currency_that_nobody_pays_in_is_refused(self, study: Study) -> None:
        with pytest.raises(InvalidRequest, match="one of USD, GBP, EUR"):
            set_study_cap(study=study, cap_cents=100, currency="XXX", by=None)


class TestQuotes:
    def test_tax_is_on_the_fee_alone(self) -> None:
        table = replace(FEES, tax_percent=20)
        charge = table.on_reward(200, hit_size=1)
        assert (charge.fee_cents, charge.tax_cents, table.reward_fee_cents(200, hit_size=1)) == (20, 4, 24)
        priced = money.quote(QuoteTerms(reward_cents=200, lots=((3, 3),)), fees=table, currency="GBP")
        assert (priced.rewards_cents, priced.fees_cents, priced.tax_cents, priced.total_cents) == (600, 60, 12, 672)

    def test_a_launch_is_priced_in_the_currency_of_its_account(self, study: Study, taxed: Taxed) -> None:
        price = quote(to="taxed-gbp", assignments=2, reward_cents=200)
        assert (price.currency, price.tax_cents, price.total_cents, price.source) == ("GBP", 8, 448, "formula")
        campaign = launched(study, "taxed-gbp", reward_cents=200)
        assert campaign.quoted_cents == 448

    def test_a_recruiter_that_answers_is_believed_before_the_formula(self, study: Study, taxed: Taxed) -> None:
        taxed.is_asked = True
        price = quote(to="taxed-gbp", assignments=2, reward_cents=200)
        assert (price.is_asked, price.fees_cents, price.total_cents) == (True, 99, 507)
        campaign = launched(study, "taxed-gbp", reward_cents=200)
        send()
        campaign.refresh_from_db()
        wanted = quote_extension(campaign=campaign, places=1)
        assert (wanted.quoted.is_asked, wanted.total_cents) == (True, 200 + 99 + 4)

    def test_the_ledger_keeps_the_tax_of_each_payment(self, study: Study, taxed: Taxed) -> None:
        campaign = launched(study, "taxed-gbp", reward_cents=200)
        send()
        row = submitted(taxed, campaign, "P1")
        payment = clear(assignment=row, by=None)
        assert (payment.amount_cents, payment.fee_cents, payment.tax_cents) == (200, 24, 4)
        bonus = plan_bonus(assignment=row, amount_cents=100, cause="extra", reason="Thanks.")
        assert (bonus.fee_cents, bonus.tax_cents, bonus.cost_cents) == (12, 2, 112)
        send()
        (sums,) = money_of(tally_of(study))
        assert (sums.owed_cents, sums.fee_cents, sums.tax_cents) == (300, 36, 6)


class TestPayOfAnHour:
    def test_the_floor_is_of_the_currency_and_of_the_recruiter(
        self, study: Study, taxed: Taxed, settings: object
    ) -> None:
        launched(study, "taxed-gbp", reward_cents=10)
        wage = wage_of(study)
        assert (wage.currency, wage.floor_cents) == ("GBP", 600)
        assert top_up_plan(study).floor_cents == 600 and top_up_plan(study).currency == "GBP"
        settings.WAGE_FLOOR_CENTS_GBP = 900  # type: ignore[attr-defined]
        assert wage_of(study).floor_cents == 900

    def test_nothing_is_converted_where_nobody_has_set_a_floor(self, study: Study, memory: Memory) -> None:
        launched(study, "pounds", reward_cents=10)
        wage = wage_of(study)
        assert (wage.floor_cents, wage.is_under_floor) == (0, False)
        launched(study, "memory", reward_cents=10)
        assert wage_of(study).floor_cents == 725 and wage_of(study, currency="GBP").floor_cents == 0
