"""A recruited person's way in a real browser: the marketplace's frame, the study's own window, and the submission.

The marketplace answers at localhost and the platform at 127.0.0.1: two sites, as in production, so that faults of
frames and cookies show.
"""

from __future__ import annotations

import itertools
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import RequestFactory
from playwright.sync_api import expect

from humanexp.core.limits import caller_of
from humanexp.entry import admission
from humanexp.ledger.figures import payment_summary
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import settle
from humanexp.participation.answers import unfetched_answers
from humanexp.participation.models import Session
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.browser.looks import fits, refused
from tests.browser.person import PATIENCE_MS, Person
from tests.browser.researcher import sign_in
from tests.marketplace.server import MarketplaceServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


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
    session = Session.objects.latest("pk")
    person.answers_round(session, lambda _: "cat")
    for _ in session.blocks[1:]:
        person.presses("start")
        person.answers_round(session, lambda _: "cat")
    person.sees("done")


@pytest.mark.gate
@pytest.mark.promise(2)
def test_from_the_list_of_work_to_the_money(page: Any, platform: str, market: MarketplaceServer, study: Study) -> None:
    campaign = publish(
        study=study,
        terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=120, title=f"Pictures {next(_numbers)}"),
    )
    send(environment="marketplace")
    sign_up(page, market)
    page.get_by_role("link", name=campaign.title).click()
    frame = page.frame_locator("[data-work-frame]")
    frame.get_by_role("heading", name="This is a preview").wait_for()
    assert not Session.objects.exists()
    page.get_by_role("button", name="Accept").click()
    frame.get_by_role("heading", name="Your decision").wait_for()
    fits(page, "recruitment-frame-consent")
    frame.get_by_role("button", name="Start the study").click()
    frame.get_by_text("Please tick the box first").wait_for()
    assert not Session.objects.exists()
    frame.get_by_role("checkbox", name="I have read this").check()
    with page.expect_popup() as popup:
        frame.get_by_role("button", name="Start the study").click()
    window = popup.value
    frame.get_by_role("heading", name="The study is open in another window").wait_for()
    fits(page, "recruitment-frame-under-way")
    assert window.context.cookies(platform) == []
    does_everything(window, platform)
    assert set(unfetched_answers(Session.objects.all()).values()) == {0}, "a page looks before it answers"
    window.close()
    frame.get_by_role("heading", name="Done. Thank you for taking part.").wait_for(timeout=PATIENCE_MS)
    fits(page, "recruitment-frame-done")
    frame.get_by_role("button", name="Submit the HIT").click()
    page.get_by_role("heading", name="Your work has been submitted").wait_for()

    report = sync(study=study)
    assert (report.submitted, report.unmatched) == (1, 0)
    assert Assignment.objects.get().evidence == "receipt"
    settle(study=study)
    assert send(environment="marketplace").confirmed == 1
    assert payment_summary(study)["total_cents"] == 144
    assert page.complaints == []


@pytest.mark.slow
def test_a_closed_window_and_a_reload_lose_nothing(
    page: Any, platform: str, market: MarketplaceServer, study: Study
) -> None:
    """Chromium lets a frame of another site store nothing here: the strictest browser there is."""
    campaign = publish(
        study=study,
        terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=120, title=f"Pictures {next(_numbers)}"),
    )
    send(environment="marketplace")
    sign_up(page, market)
    page.get_by_role("link", name=campaign.title).click()
    page.get_by_role("button", name="Accept").click()
    frame = page.frame_locator("[data-work-frame]")
    with page.expect_popup() as first:
        frame.get_by_role("checkbox", name="I have read this").check()
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
        frame.get_by_role("checkbox", name="I have read this").check()
        frame.get_by_role("button", name="Start the study").click()
    third.value.click("[data-action=again-yes]")  # the frame has kept nothing: the study's window asks
    does_everything(third.value, platform)
    frame.get_by_role("button", name="Submit the HIT").wait_for(timeout=PATIENCE_MS)
    assert Session.objects.count() == 1


def test_a_worker_in_whose_name_another_began_begins_here(
    page: Any, platform: str, market: MarketplaceServer, study: Study
) -> None:
    campaign = publish(
        study=study,
        terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=120, title=f"Pictures {next(_numbers)}"),
    )
    send(environment="marketplace")
    sign_up(page, market)
    page.get_by_role("link", name=campaign.title).click()
    page.get_by_role("button", name="Accept").click()
    frame = page.frame_locator("[data-work-frame]")
    frame.get_by_role("heading", name="Your decision").wait_for()
    told = parse_qs(urlsplit(page.locator("[data-work-frame]").get_attribute("src")).query)
    stranger = {
        "consent": True,
        "workerId": told["workerId"][0],
        "assignmentId": "INVENTED",
        "turkSubmitTo": market.url,
    }
    assert page.request.post(f"{platform}/take/{campaign.entry}/open/", data=stranger).status == 201
    frame.get_by_role("checkbox", name="I have read this").check()
    with page.expect_popup() as popup:
        frame.get_by_role("button", name="Start the study").click()
    frame.get_by_role("heading", name="You have begun this study before").wait_for()
    fits(page, "recruitment-frame-begun")
    frame.get_by_role("button", name="Begin here").click()
    frame.get_by_role("heading", name="The study is open in another window").wait_for()
    does_everything(popup.value, platform)


def test_where_too_many_begin_the_page_says_so_and_tries_again(page: Any, platform: str, study: Study) -> None:
    campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=2))
    while not admission.OPENINGS.spend((caller_of(RequestFactory().get("/")), campaign.pk)):
        pass
    page.goto(f"{platform}/take/{campaign.entry}/")
    page.get_by_role("checkbox", name="I have read this").check()
    page.get_by_role("button", name="Start the study").click()
    page.get_by_text("Many people are beginning from your network").wait_for()
    fits(page, "recruitment-too-many")
    admission.OPENINGS.clear()
    page.get_by_role("button", name="Try again").click()
    Person(page, platform).sees("checks")


def test_a_plain_link_to_a_timed_study_on_a_small_screen(page: Any, platform: str, study: Study) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=2))
    page.goto(f"{platform}/take/{campaign.entry}/?p=panel-7")
    page.get_by_role("heading", name="This study needs a computer").wait_for()
    expect(page.get_by_role("checkbox")).to_have_count(0)
    fits(page, "recruitment-link-refused-390")
    assert not Session.objects.exists()


def test_recruiting_in_the_console(page: Any, platform: str, study: Study, market: MarketplaceServer) -> None:
    study.memberships.create(user=sign_in(page, platform), role="owner")
    page.goto(f"{platform}/studies/{study.slug}/recruit/")
    page.get_by_role("heading", name="What it costs").wait_for()
    page.wait_for_function("window.htmx")
    page.get_by_label("Reward").fill("2.00")
    page.get_by_role("button", name="Launch for $4.80").wait_for()
    fits(page, "recruitment-recruit")
    page.get_by_label("plain link").check()
    page.get_by_role("button", name="Open the link").click()
    page.get_by_text("This study is recruiting.").wait_for()
    campaign = Campaign.objects.get()
    page.get_by_text(f"/take/{campaign.entry}/").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, "recruitment-recruit-390")
    page.goto(f"{platform}/studies/{study.slug}/monitor/")
    page.get_by_role("heading", name="Sessions over time", exact=True).wait_for()
    fits(page, "recruitment-monitor-390")
    page.set_viewport_size({"width": 1280, "height": 860})
    fits(page, "recruitment-monitor")
    assert refused(page) == page.complaints == []
