"""What a launch costs, as Prolific's own calculator answers: against the practice panel over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction

from humanexp.ledger.wages import least_hourly_cents
from humanexp.recruiters.money import Quote
from humanexp.recruiters.registry import capabilities_of
from humanexp.recruiting.launch import quote
from humanexp.recruitment.management.base import price_words
from tests.panel.server import Lab, PanelServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PanelServer]:
    server = PanelServer(tmp_path_factory.mktemp("panel")).start()
    yield server
    server.stop()


@pytest.fixture
def lab(panel: PanelServer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    found = panel.lab()
    settings.PANEL_URL = panel.url
    monkeypatch.setenv("PANEL_TOKEN", found.token)
    cache.clear()
    yield found
    cache.clear()


def quoted(reward_cents: int = 150) -> Quote:
    return quote(to="panel", assignments=3, reward_cents=reward_cents)


@pytest.mark.process
def test_the_recruiter_is_asked_and_the_price_says_so(lab: Lab) -> None:
    price = quoted()
    assert (price.source, price.currency, price.rewards_cents, price.fees_cents) == ("asked", "GBP", 450, 150)
    assert price.total_cents == 600
    assert price_words(price) == "rewards £4.50 + fees £1.50 = £6.00 (as the recruiter answered)"


@pytest.mark.process
def test_its_answer_counts_where_the_settings_say_another_fee(lab: Lab, settings: Any) -> None:
    settings.PANEL_ACADEMIC = False
    assert quoted().total_cents == 600


@pytest.mark.process
def test_where_it_does_not_answer_its_published_fees_do(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANEL_TOKEN", "wrong")
    price = quoted(reward_cents=153)
    assert (price.source, price.total_cents) == ("formula", 459 + 153)


@pytest.mark.process
def test_it_is_asked_once_for_a_price(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    assert quoted().is_asked
    monkeypatch.setenv("PANEL_TOKEN", "wrong")
    assert quoted().is_asked and not quoted(reward_cents=151).is_asked


@pytest.mark.process
def test_nobody_is_asked_with_the_database_locked(lab: Lab) -> None:
    with transaction.atomic():
        assert not quoted().is_asked
    assert quoted().is_asked


def test_the_least_pay_of_an_hour_is_the_recruiters() -> None:
    assert least_hourly_cents("GBP", ["panel"]) == 600
    assert least_hourly_cents("USD", ["panel"]) == 800
    assert least_hourly_cents("EUR", ["panel"]) == 0


@pytest.mark.process
def test_an_approval_pays_the_person_there_and_is_no_debt(lab: Lab) -> None:
    can = capabilities_of("panel")
    assert can.pays_out and can.is_own_ground
