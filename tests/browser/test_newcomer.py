"""The researcher's half of the way in a real browser: launch, watch, look through, pay, ledger; hands stay on the keys.

The whole way, from an empty console and with the participant's half, is in tests/journeys/test_newcomer.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from humanexp.jobs import runner
from humanexp.ledger.models import CallKind, Payment
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.screening import selectors
from humanexp.screening.selectors import excluded_counts
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import refused
from tests.browser.researcher import sign_in
from tests.journeys.newcomer import Hand
from tests.marketplace.server import MarketplaceServer
from tests.recruitment.workers import Worker

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.fixture
def ada(page: Any, platform: str, study: Study) -> Hand:
    study.memberships.create(user=sign_in(page, platform), role="owner")
    page.goto(f"{platform}/studies/{study.slug}/recruit/")
    page.get_by_role("heading", name="What it costs").wait_for()
    page.wait_for_function("window.htmx")
    return Hand(page, "console")


def looks_right(hand: Hand, what: str) -> None:
    hand.shot(what)
    assert violations(hand.page) == [], what


@pytest.mark.gate
@pytest.mark.promise(2)
def test_launch_watch_review_pay(ada: Hand, study: Study, market: MarketplaceServer) -> None:
    page = ada.page
    ada.field("reward", "0.10")
    ada.reads("the minimum set for this installation")
    ada.field("reward", "2.00")
    page.get_by_role("button", name="Launch for $4.80").wait_for()
    # Leaving the field asks for the price once more; the tests' database in memory takes no two at once.
    page.keyboard.press("Tab")
    page.wait_for_load_state("networkidle")
    looks_right(ada, "recruit")
    ada.button("Launch for $4.80")
    ada.reads("This study is recruiting.")
    runner.run_waiting()
    workers = [Worker(market) for _ in range(2)]
    for worker in workers:
        worker.do(Campaign.objects.get())

    ada.link("Watch it")
    ada.button("Ask now")
    runner.run_waiting()
    page.reload()
    ada.reads("2 people have submitted, of 2 places.")
    page.get_by_role("heading", name="Answers per picture").wait_for()
    looks_right(ada, "monitor")
    ada.link("Look through them first")
    looks_right(ada, "review")
    ada.link("Look through them one by one")
    ada.reads("1 of 2")
    looks_right(ada, "session")
    _goes_by_keys(ada)
    runner.run_waiting()

    ada.link("Monitor")
    ada.link("Ledger: every payment")
    ada.reads("$4.00 is owed to people: the lab pays it out, and writes that down at the recruiter's desk.")
    looks_right(ada, "ledger")
    assert {payment.kind for payment in Payment.objects.all()} == {CallKind.REWARD}
    assert excluded_counts(study)[selectors.BY_HAND] == 1
    assert page.complaints == [] and refused(page) == []


def _goes_by_keys(ada: Hand) -> None:
    """Forth and back, one excluded and paid, one paid: without the pointer."""
    first = ada.page.url
    ada.key("j", "next")
    ada.reads("2 of 2")
    ada.key("k", "previous")
    ada.page.wait_for_url(first)
    ada.key("x", "exclude, but pay")
    ada.reads("The session does not count; the payment is on its way.")
    ada.reads("1 of 1")
    ada.key("a", "pay")
    ada.reads("No session of this kind")


def test_a_rejection_is_read_twice_and_a_limit_is_seen(
    ada: Hand, study: Study, market: MarketplaceServer, platform: str
) -> None:
    page = ada.page
    ada.field("study_cap", "100")
    ada.press(page.get_by_role("button", name="Store").first, "store the limit")
    ada.reads("$100.00 of $100.00")
    ada.button("Launch for $")
    runner.run_waiting()
    Worker(market).do(Campaign.objects.get())
    sync(study=study)
    page.goto(f"{platform}/studies/{study.slug}/review/?show=unpaid")
    ada.link("Look through them one by one")
    ada.reads("Reject …")
    ada.key("r", "reject")
    ada.press(page.locator("#reject > summary"), "open the form")
    ada.field("reason", "Every answer was the same, whatever was shown.")
    ada.field("evidence", "Eleven of eleven answers were cat, each within a second.")
    looks_right(ada, "rejection")
    ada.button("Go on")
    ada.reads("Read it once more")
    looks_right(ada, "rejection-read")
    ada.link("Do not reject")
    ada.reads("Your decision")
    assert not Payment.objects.exists()


def test_smaller_pages_have_no_grave_faults(ada: Hand, study: Study, platform: str) -> None:
    campaign = publish(study=study, terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=50))
    for path in ("recruit/notify", f"recruit/{campaign.pk}/extend", "monitor/top-up", "monitor/answers"):
        ada.page.goto(f"{platform}/studies/{study.slug}/{path}/")
        looks_right(ada, path.replace("/", "-"))
