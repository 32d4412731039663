"""From an empty console to a paid participant, in real Chromium, by pages alone: two people, two browsers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from humanexp.simulation.browser import chromium
from tests.evidence import watched
from tests.journeys.newcomer import LONG_MS, Hand, draw_pictures, takes_the_study
from tests.journeys.site import Site, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]
#: Of the newcomer, without the trials of the participant.
MOST_INTERACTIONS = 30
PASSWORD = "three-plain-words"  # noqa: S105  of this test's own database
#: What makes a study of each task short; the rest is what the form starts with.
SHORT = {
    "categorisation": (
        "vcr",
        {"sessions": "2", "main_trials": "16", "practice_trials": "1", "qualification_trials": "0"},
    ),
    "discrimination": (
        "discrimination",
        {"sessions": "2", "discrimination_trials": "2", "discrimination_practice": "1"},
    ),
    # ten people judge each picture
    "validation": ("imagenet-d", {"sessions": "10"}),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not (os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")):
        reason = "there is no Chromium: install it or set CHROMIUM to its path"
        if os.environ.get("CI") == "true" or os.environ.get("REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    with chromium() as found:
        yield watched(found)


@pytest.fixture
def house(tmp_path: Path, settings: Any) -> Iterator[Site]:
    """A fresh installation: a researcher with an account and pictures that a command has imported, nothing else."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    site = Site(settings.MEDIA_ROOT)
    site.must("migrate", "--verbosity", "0")
    site.must("recruiter", "spending", "marketplace", "--limit", "none", "--everybody")
    site.must(
        "shell", "-c", f"from humanexp.core.models import User; User.objects.create_user('ada', password='{PASSWORD}')"
    )
    draw_pictures(tmp_path / "pictures", per_category=4, size_px=224)
    site.must("import_images", str(tmp_path / "pictures"), "--name", "drawings", "--owner", "ada")
    with site:
        yield site


@pytest.fixture
def people(browser: Any) -> Iterator[tuple[Hand, Hand]]:
    """The researcher and the worker, in browser profiles of their own."""
    contexts = [browser.new_context(viewport={"width": 1280, "height": 860}, locale="en-US") for _ in range(2)]
    for context in contexts:
        context.set_default_navigation_timeout(LONG_MS)
    hands = Hand(contexts[0].new_page(), "researcher"), Hand(contexts[1].new_page(), "worker")
    for hand in hands:
        hand.page.complaints = []
        hand.page.on("pageerror", lambda error, page=hand.page: page.complaints.append(str(error)))
    yield hands
    for context in contexts:
        context.close()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("task", list(SHORT))
def test_from_an_empty_console_to_a_paid_participant(house: Site, people: tuple[Hand, Hand], task: str) -> None:
    ada, wanda = people
    _signs_in(ada, house)
    _makes_stimuli(ada)
    _creates_the_study(ada, task)
    _checks_and_launches(ada, house)
    _takes_the_hit(wanda, house)
    _reviews_and_pays(ada, house)
    _sees_the_money(ada, wanda, house)
    assert ada.page.complaints == wanda.page.complaints == []
    assert len(ada.done) <= MOST_INTERACTIONS, ada.done


def _signs_in(ada: Hand, house: Site) -> None:
    ada.page.goto(house.addresses.web)
    ada.field("username", "ada")
    ada.field("password", PASSWORD)
    ada.press(ada.page.locator("button[type=submit]"), "log in")
    ada.reads("No study yet")
    ada.shot("empty")


def _makes_stimuli(ada: Hand) -> None:
    ada.link("New stimulus set")
    ada.field("name", "noise-and-blur")
    for function in ("gaussian_noise", "gaussian_blur"):
        ada.press(ada.page.locator(f'input[name="corruptions"][value="{function}"]'), function)
    ada.field("count", "60")
    ada.shot("stimuli")
    ada.button("Make the stimuli")
    ada.page.get_by_text("complete", exact=True).first.wait_for(timeout=LONG_MS)
    ada.shot("stimuli-made")


def _creates_the_study(ada: Hand, task: str) -> None:
    start, fields = SHORT[task]
    ada.link("Studies")
    ada.link("New study")
    if start != "vcr":
        ada.press(ada.page.locator(f'[data-start="{start}"]'), start)
    ada.field("title", f"What do people see? ({task})")
    for name, value in fields.items():
        ada.field(name, value)
    ada.shot("form")
    ada.press(ada.page.locator("[data-create]"), "create")
    ada.page.locator("[data-next]").wait_for()
    ada.shot("design")


def _checks_and_launches(ada: Hand, house: Site) -> None:
    ada.press(ada.page.locator("[data-next]"), "next: pre-flight")
    ada.press(ada.page.locator("[data-preflight-run]"), "run the check")
    ada.page.locator('[data-preflight="green"]').wait_for(timeout=LONG_MS)
    ada.shot("preflight")
    ada.press(ada.page.locator("[data-launch]"), "go on to the launch")
    ada.reads("What it costs")
    ada.shot("recruit")
    ada.button("Launch for $")
    ada.reads("This study is recruiting.")
    ada.shot("launched")
    ada.link("Watch it")
    ada.reads("0 people have submitted")
    published = "SELECT 1 FROM recruitment_hit WHERE hit_id != ''"
    wait_for(lambda: house.platform(published), "the HIT is published")


def _takes_the_hit(wanda: Hand, house: Site) -> None:
    page = wanda.page
    page.goto(f"{house.addresses.marketplace}/signup/")
    wanda.field("username", wanda.name)
    wanda.field("password", "a long pass phrase")
    wanda.button("Sign up")
    page.get_by_role("heading", name="Work", exact=True).wait_for()
    wanda.shot("work")
    wanda.press(page.get_by_role("link", name="What do people see?").first, "the HIT")
    frame = page.frame_locator("[data-work-frame]")
    frame.get_by_role("heading", name="This is a preview").wait_for()
    wanda.shot("preview")
    wanda.button("Accept")
    wanda.press(frame.locator("[data-consent]"), "consent")
    wanda.shot("consent")
    with page.expect_popup() as opened:
        wanda.press(frame.get_by_role("button", name="Start the study"), "start")
    assert takes_the_study(opened.value) > 0
    opened.value.close()
    # Finish, on the last page of the study, has this page submit the HIT.
    page.get_by_role("heading", name="Your work has been submitted").wait_for(timeout=LONG_MS)


def _reviews_and_pays(ada: Hand, house: Site) -> None:
    ada.button("Ask now")
    listed = "SELECT 1 FROM recruitment_assignment WHERE state = 'submitted'"
    wait_for(lambda: house.platform(listed), "the submission is listed", patience_s=LONG_MS / 1000)
    # The page follows by itself.
    ada.page.get_by_role("link", name="Look through them first").wait_for(timeout=LONG_MS)
    ada.shot("monitor")
    ada.link("Look through them first")
    ada.shot("review")
    ada.link("Look through them one by one")
    ada.reads("Submitted")
    ada.shot("session")
    ada.key("a", "pay")
    ada.reads("The payment is on its way.")
    ada.shot("paid")


def _sees_the_money(ada: Hand, wanda: Hand, house: Site) -> None:
    confirmed = "SELECT 1 FROM recruitment_call WHERE kind = 'reward' AND state = 'confirmed'"
    wait_for(lambda: house.platform(confirmed), "the payment is confirmed", patience_s=LONG_MS / 1000)
    ada.link("Monitor")
    ada.link("Ledger: every payment")
    ada.reads("1 row is confirmed.")
    ada.shot("ledger")
    [paid] = house.platform("SELECT amount_cents FROM recruitment_call WHERE kind = 'reward'")
    wanda.press(wanda.page.get_by_role("link", name="Earnings").first, "earnings")
    dollars = f"${paid['amount_cents'] // 100}.{paid['amount_cents'] % 100:02d}"
    wanda.page.get_by_role("heading", name=f"You have earned {dollars}").wait_for()
    wanda.shot("earnings")
