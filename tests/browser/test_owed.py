"""Who is owed money, in a real browser: late work, a cap, a first bonus and a list of bonuses, on both widths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from humanexp.ledger.budgets import raise_cap
from humanexp.ledger.owed import Hold, owed
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import fits
from tests.browser.researcher import sign_in
from tests.panel.server import PanelServer
from tests.recruitment.at_panel import come
from tests.recruitment.studies import make_study
from tests.recruitment.test_owed import late

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make_study()


@pytest.fixture
def campaign(panel: PanelServer, launch_at_panel: Callable[..., Campaign]) -> Campaign:
    """Two who can be paid, one who saw nothing, one without a code, and two who ran out of time."""
    found = launch_at_panel(reward_cents=175, assignments=6)
    late(panel, found, 2)
    for _ in range(2):
        come(panel, found).finish()
    blind = come(panel, found)
    blind.visitor.answer_all(fetches=False)
    blind.go_back(blind.way_out()["code"])
    come(panel, found).go_back("")
    sync()
    return found


@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_said_why_each_waits_and_what_can_be_done(
    page: Any, live_server: Any, study: Study, campaign: Campaign, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    owner = sign_in(page, live_server.url, is_staff=True)
    study.memberships.create(user=owner, role="owner")
    held = {row.hold for row in owed(study)}
    assert {None, Hold.NO_PICTURES, Hold.LOOK, Hold.CAMPAIGN_CAP} <= held
    for name, address, heading in (
        ("owed-monitor", "monitor/", "Owed, and not paid with the others"),
        ("owed-pay", "monitor/settle/", "Pay 2 people: £4.68 with fees"),
        ("owed-money", "monitor/money/", "Owed, and not planned yet"),
        ("bonuses", "monitor/bonuses/", "Pay a bonus"),
        ("notify", "recruit/notify/", "Write to people"),
    ):
        page.goto(f"{live_server.url}/studies/{study.slug}/{address}")
        page.get_by_role("heading", name=heading, exact=True).wait_for()
        fits(page, f"{name}-{width}")
        assert violations(page) == []


def test_a_bonus_from_a_persons_page_to_the_ledger(
    page: Any, live_server: Any, study: Study, campaign: Campaign
) -> None:
    owner = sign_in(page, live_server.url, is_staff=True)
    study.memberships.create(user=owner, role="owner")
    row = Assignment.objects.filter(state="submitted").earliest("pk")
    page.goto(f"{live_server.url}/studies/{study.slug}/assignments/{row.pk}/")
    page.get_by_role("link", name="Pay a bonus").click()
    people = page.get_by_label("Who gets how much")
    people.fill(f"{people.input_value()}0.90")
    page.get_by_label("Reason, as the person will read it").fill("The bus was late for our fault.")
    page.get_by_role("button", name="See what it comes to").click()
    page.get_by_role("heading", name="1 bonus: £1.20 with fees").wait_for()
    fits(page, "bonuses-checked-1280")
    assert violations(page) == []
    page.get_by_role("button", name="Pay £1.20").click()
    page.get_by_text("raise the cap first").wait_for()
    page.get_by_role("link", name="Raise the cap").wait_for()
    fits(page, "bonuses-refused-1280")
    raise_cap(campaign=campaign, cap_cents=campaign.cap_cents + 500, by=owner)
    page.get_by_role("button", name="Pay £1.20").click()
    page.get_by_text("1 bonus is on its way: £0.90.").wait_for()
    fits(page, "bonuses-paid-1280")
