"""The money page in a real browser: two currencies, on both widths, by keyboard and for screen readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from humanexp.ledger.sender import send
from humanexp.ledger.settlement import clear, plan_bonus
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.registry import registered
from humanexp.recruiting.accounts import open_account
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import fits
from tests.browser.researcher import sign_in
from tests.recruitment.studies import make_study
from tests.recruitment.test_currencies import Taxed, launched, submitted

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.fixture
def study(transactional_db: None) -> Iterator[Study]:
    """Somebody paid in dollars and two people in pounds, one of them with a bonus on its way."""
    kind, study = Taxed(), make_study()
    with registered(kind):
        open_account(kind="taxed", code="taxed-gbp", name="Grant in pounds", currency="GBP", by=None)
        for to, reward in (("taxed", 125), ("taxed-gbp", 900)):
            launched(study, to, reward_cents=reward, cap_cents=10_000)
        send()
        rows = [
            submitted(kind, campaign, f"P{number}")
            for number, campaign in enumerate([*Campaign.objects.order_by("pk"), Campaign.objects.latest("pk")])
        ]
        for row in rows:
            clear(assignment=row, by=None)
        send()
        plan_bonus(assignment=rows[1], amount_cents=250, cause="extra", reason="Thanks.")
        yield study


@pytest.mark.parametrize("width", [1280, 390])
def test_it_reads_well(page: Any, live_server: Any, study: Study, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    owner = sign_in(page, live_server.url, is_staff=True)
    study.memberships.create(user=owner, role="owner")
    for name, address, heading in (
        ("money", f"studies/{study.slug}/monitor/money/", "By person"),
        ("money-of-all", "money/", "By study"),
        ("monitor-money", f"studies/{study.slug}/monitor/", "Money"),
        ("recruit-money", f"studies/{study.slug}/recruit/?to=taxed-gbp", "What it costs"),
        ("overview-money", f"studies/{study.slug}/", "As a participant"),
    ):
        page.goto(f"{live_server.url}/{address}")
        page.get_by_role("heading", name=heading, exact=True).wait_for()
        fits(page, f"{name}-{width}")
        assert violations(page) == []
