"""A recruited person's way in a real browser: the marketplace's frame, the study's own window, and the submission.

The marketplace answers at localhost and the platform at 127.0.0.1: two sites, as in production, so that faults of
frames and cookies show.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from humanexp.core.models import User
from humanexp.experiments.models import Session, Study
from humanexp.recruitment import selectors, services
from humanexp.recruitment.models import Assignment, Campaign
from tests.browser import studies
from tests.browser.person import PATIENCE_MS, Person
from tests.marketplace.server import MarketplaceServer, running

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MarketplaceServer]:
    with running(tmp_path_factory.mktemp("marketplace")) as server:
        yield server


@pytest.fixture
def platform(live_server: Any, market: MarketplaceServer, settings: Any) -> str:
    """The platform's address, with the marketplace as its recruiter."""
    keys = market.create_requester("Vision Lab", "100.00")
    settings.PUBLIC_URL = live_server.url.replace("localhost", "127.0.0.1")
    settings.MARKETPLACE_URL = market.url
    settings.RECRUITER_ORIGINS = [market.url]
    settings.MARKETPLACE_ACCESS_KEY_ID = keys.access_key_id
    settings.MARKETPLACE_SECRET_ACCESS_KEY = keys.secret_access_key
    return str(settings.PUBLIC_URL)


@pytest.fixture
def study(transactional_db: None, own_media: None, drawings: Path) -> Study:
    return studies.make_study(drawings, design=studies.short_design(), protocol=studies.BRIEF)


def shot(page: Any, name: str) -> None:
    """Kept when SCREENSHOTS names a folder; no page scrolls sideways either way."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), name
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"recruitment-{name}.png"), full_page=True)


_numbers = itertools.count(1)


def sign_up(page: Any, market: MarketplaceServer) -> None:
    page.goto(f"{market.url}/signup/")
    page.get_by_label("User name").fill(f"ada-{next(_numbers)}")
    page.get_by_label("Password").fill("a long pass phrase")
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("heading", name="Work", exact=True).wait_for()


def does_everything(window: Any, platform: str) -> None:
    """The study in its own window, from the checks to the last trial."""
    person = Person(window, platform)
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    for _ in range(4):
        person.presses("next")
    person.presses("start")
    session = Session.objects.get()
    person.answers_round(session, lambda _: "cat")
    for _ in session.blocks[1:]:
        person.presses("start")
        person.answers_round(session, lambda _: "cat")
    person.sees("done")


def test_from_the_list_of_work_to_the_money(page: Any, platform: str, market: MarketplaceServer, study: Study) -> None:
    campaign = services.publish(
        study=study, to="marketplace", assignments=2, reward_cents=120, title=f"Pictures {next(_numbers)}"
    )
    services.send(environment="marketplace")
    sign_up(page, market)
    page.get_by_role("link", name=campaign.title).click()
    frame = page.frame_locator("[data-work-frame]")
    frame.get_by_role("heading", name="This is a preview").wait_for()
    assert not Session.objects.exists()
    page.get_by_role("button", name="Accept").click()
    frame.get_by_role("heading", name="Your decision").wait_for()
    shot(page, "frame-consent")
    frame.get_by_role("button", name="Start the study").click()
    frame.get_by_text("Please tick the box first").wait_for()
    assert not Session.objects.exists()
    frame.get_by_role("checkbox").check()
    with page.expect_popup() as popup:
        frame.get_by_role("button", name="Start the study").click()
    window = popup.value
    frame.get_by_role("heading", name="The study is open in another window").wait_for()
    shot(page, "frame-under-way")
    assert window.context.cookies(platform) == []
    does_everything(window, platform)
    window.close()
    frame.get_by_role("heading", name="Done. Thank you for taking part.").wait_for(timeout=PATIENCE_MS)
    shot(page, "frame-done")
    frame.get_by_role("button", name="Submit the HIT").click()
    page.get_by_role("heading", name="Your work has been submitted").wait_for()

    report = services.sync(study=study)
    assert (report.submitted, report.unmatched) == (1, 0)
    assert Assignment.objects.get().evidence == "receipt"
    services.settle(study=study)
    assert services.send(environment="marketplace").confirmed == 1
    assert selectors.payment_summary(study)["total_cents"] == 144
    assert page.complaints == []


@pytest.mark.slow
def test_a_closed_window_and_a_reload_lose_nothing(
    page: Any, platform: str, market: MarketplaceServer, study: Study
) -> None:
    """Chromium lets a frame of another site store nothing here: the strictest browser there is."""
    campaign = services.publish(
        study=study, to="marketplace", assignments=2, reward_cents=120, title=f"Pictures {next(_numbers)}"
    )
    services.send(environment="marketplace")
    sign_up(page, market)
    page.get_by_role("link", name=campaign.title).click()
    page.get_by_role("button", name="Accept").click()
    frame = page.frame_locator("[data-work-frame]")
    with page.expect_popup() as first:
        frame.get_by_role("checkbox").check()
        frame.get_by_role("button", name="Start the study").click()
    under_way = frame.get_by_role("heading", name="The study is open in another window")
    under_way.wait_for()
    first.value.close()
    with page.expect_popup() as second:
        frame.get_by_role("link", name="Open the window again").click()
    Person(second.value, platform).sees("checks")
    second.value.close()
    page.reload()
    with page.expect_popup() as third:
        frame.get_by_role("checkbox").check()
        frame.get_by_role("button", name="Start the study").click()
    does_everything(third.value, platform)
    frame.get_by_role("button", name="Submit the HIT").wait_for(timeout=PATIENCE_MS)
    assert Session.objects.count() == 1


def test_a_plain_link_to_a_timed_study_on_a_small_screen(page: Any, platform: str, study: Study) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    campaign = services.publish(study=study, to="link", assignments=2)
    page.goto(f"{platform}/take/{campaign.entry}/?p=panel-7")
    page.get_by_role("heading", name="This study needs a computer").wait_for()
    assert not page.get_by_role("checkbox").is_visible()
    shot(page, "link-refused-390")
    assert not Session.objects.exists()


def test_recruiting_in_the_console(page: Any, platform: str, study: Study, market: MarketplaceServer) -> None:
    ada = User.objects.create_user("ada", password="lovelace")
    study.memberships.create(user=ada, role="owner")
    page.goto(f"{platform}/login/?next=/studies/{study.slug}/recruit/")
    page.fill("[name=username]", "ada")
    page.fill("[name=password]", "lovelace")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What it costs").wait_for()
    page.wait_for_function("window.htmx")
    page.get_by_label("Reward").fill("2.00")
    page.get_by_role("button", name="Launch for $4.80").wait_for()
    shot(page, "recruit")
    page.get_by_label("plain link").check()
    page.get_by_role("button", name="Open the link").click()
    page.get_by_text("This study is recruiting.").wait_for()
    campaign = Campaign.objects.get()
    assert page.get_by_text(f"/take/{campaign.entry}/").is_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    shot(page, "recruit-390")
    page.goto(f"{platform}/studies/{study.slug}/monitor/")
    page.get_by_role("heading", name="Sessions over time").wait_for()
    shot(page, "monitor-390")
    page.set_viewport_size({"width": 1280, "height": 860})
    shot(page, "monitor")
    assert page.evaluate("window.__refused") == page.complaints == []
