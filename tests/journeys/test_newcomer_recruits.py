"""From an empty console to paid participants, by pages alone: on the practice panel, and by a site's link.

Nobody types a command: pictures are uploaded, the panel is started by a button. Every press and every field is counted.
"""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys.newcomer import LONG_MS, Hand, draw_pictures, takes_the_study
from tests.journeys.site import Site, wait_for
from tests.journeys.test_newcomer import PASSWORD, browser, people  # noqa: F401  (fixtures)

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(1800)]
#: Of the researcher, without the participant's own.
MOST_INTERACTIONS = 25
IDS = "PROLIFIC_PID=5f0c0ffee0ddba11deadbeef&STUDY_ID=77&SESSION_ID=66aa00bb11cc22dd33ee44ff"


@pytest.fixture
def house(tmp_path: Path, settings: Any, migrated_database: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A fresh installation with an administrator's account, without pictures, recruiter, keys or a contact."""
    monkeypatch.setenv("CONTACT", "")
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    site = Site(settings.MEDIA_ROOT, ("web", "run_jobs"))
    shutil.copyfile(migrated_database, settings.MEDIA_ROOT / "humanexp.sqlite3")
    make = f"User.objects.create_user('ada', password='{PASSWORD}', is_staff=True)"
    site.must("shell", "-c", f"from humanexp.core.models import User; {make}")
    with site:
        yield site


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a lab has on its disk, as one file."""
    folder = tmp_path_factory.mktemp("drawings")
    draw_pictures(folder / "pictures", per_category=4, size_px=224)
    return Path(shutil.make_archive(str(folder / "drawings"), "zip", folder / "pictures"))


def test_on_the_panel(house: Site, people: tuple[Hand, Hand], archive: Path) -> None:  # noqa: F811
    ada, wanda = people
    _signs_in(ada, house)
    _starts_the_panel(ada)
    ada.link("Stimuli")
    ada.shot("stimuli-empty")
    _makes_a_study(ada, archive)
    _checks(ada)
    ada.reads("What it costs")
    ada.shot("recruit")
    ada.button("Launch for")
    ada.reads("This study is recruiting.")
    ada.shot("launched")
    wait_for(lambda: house.platform("SELECT 1 FROM recruitment_hit WHERE hit_id != ''"), "published", patience_s=120)
    _takes_the_study_on_the_panel(wanda, house)
    ada.link("Watch it")
    everyone = ada.page.get_by_role("link", name=re.compile(r"^Pay \d"))  # not "Pay a bonus", which is always there
    everyone.wait_for(timeout=LONG_MS)
    ada.shot("monitor")
    ada.press(everyone, "pay everyone")
    ada.shot("settle")
    ada.press(ada.page.get_by_role("button", name=re.compile("^Pay ")), "confirm")
    paid = "SELECT 1 FROM recruitment_call WHERE kind = 'reward' AND state = 'confirmed'"
    wait_for(lambda: house.platform(paid), "the payment is confirmed", patience_s=LONG_MS / 1000)
    ada.page.get_by_text("confirmed", exact=True).first.wait_for(timeout=LONG_MS)
    ada.reads("£1.50 has been paid to people.")
    ada.shot("paid")
    [row] = house.platform("SELECT amount_cents FROM recruitment_call WHERE kind = 'reward'")
    wanda.page.goto(f"{house.addresses.panel}/earnings/")
    wanda.reads(f"{row['amount_cents'] / 100:.2f}")
    wanda.shot("earnings")
    assert ada.page.complaints == wanda.page.complaints == []
    ada.lists_what_was_done()
    assert len(ada.done) <= MOST_INTERACTIONS, ada.done


def test_by_a_sites_link(house: Site, people: tuple[Hand, Hand], archive: Path) -> None:  # noqa: F811
    ada, wanda = people
    _signs_in(ada, house)
    _makes_a_study(ada, archive)
    _checks(ada)
    ada.reads("What it costs")
    ada.press(ada.page.locator('label:has(input[name="link_preset"][value="prolific"])'), "the site")
    ada.field("link_reward", "1.50")
    ada.reads("At the end people go back to")
    ada.shot("recruit-link")
    ada.button("Open the link")
    ada.reads("This study is recruiting.")
    ada.shot("launched")
    ada.link("What to paste there")
    ada.shot("sheet")
    [entry] = house.platform("SELECT entry FROM recruitment_campaign")
    _takes_the_study_by_link(wanda, house, entry["entry"])
    ada.link("Who finished?")
    ada.shot("who-finished")
    with ada.page.expect_download() as download:
        ada.button("Download everyone")
    [row] = csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8").splitlines())
    assert "5f0c0ffee0ddba11deadbeef" in row.values() and "yes" in row.values(), row
    ada.shot("downloaded")
    assert ada.page.complaints == wanda.page.complaints == []
    ada.lists_what_was_done()
    assert len(ada.done) <= MOST_INTERACTIONS, ada.done


def _signs_in(ada: Hand, house: Site) -> None:
    ada.page.goto(house.addresses.web)
    ada.field("username", "ada")
    ada.field("password", PASSWORD)
    ada.press(ada.page.locator("button[type=submit]"), "log in")
    ada.reads("No study yet")
    ada.shot("empty")


def _starts_the_panel(ada: Hand) -> None:
    ada.link("Recruiters")
    ada.shot("recruiters")
    panel = ada.page.locator("#kind-panel")
    ada.press(panel.get_by_role("button", name="Start it on this machine"), "start the panel")
    panel.get_by_text("works", exact=True).or_(panel.locator(".note--bad")).wait_for(timeout=LONG_MS)
    expect(panel.locator(".note--bad")).to_have_count(0)
    ada.shot("panel-works")


def _makes_a_study(ada: Hand, archive: Path) -> None:
    ada.link("Import pictures")
    ada.field("name", "drawings")
    ada.done.append("choose the archive")
    ada.page.locator('input[name="archive"]').set_input_files(str(archive))
    ada.shot("import")
    ada.button("Import the pictures")
    ada.page.locator('a[href*="source_set="]').wait_for(timeout=LONG_MS)
    ada.shot("imported")
    make = ada.page.locator('a[href*="source_set="]')
    ada.press(make, "make stimuli of them")
    ada.press(ada.page.locator('input[name="corruptions"][value="gaussian_noise"]'), "gaussian noise")
    ada.field("count", "60")
    ada.shot("stimuli")
    ada.button("Make the stimuli")
    ada.page.get_by_text("complete", exact=True).first.wait_for(timeout=LONG_MS)
    ada.shot("stimuli-made")
    ada.link("Make a study")
    ada.press(ada.page.locator('[data-start="rehearsal"]'), "rehearsal")
    ada.field("contact", "ada@example.org")
    ada.shot("form")
    ada.press(ada.page.locator("[data-create]"), "create")
    ada.page.locator("[data-next]").wait_for(timeout=LONG_MS)
    ada.shot("design")


def _checks(ada: Hand) -> None:
    ada.press(ada.page.locator("[data-next]"), "next: pre-flight")
    ada.press(ada.page.locator("[data-preflight-run]"), "run the check")
    verdict = ada.page.locator('[data-preflight="green"], [data-preflight="red"]')
    verdict.wait_for(timeout=3 * LONG_MS)
    ada.shot("preflight")
    expect(verdict).to_have_attribute("data-preflight", "green")
    ada.press(ada.page.locator("[data-launch]"), "go on to the launch")


def _takes_the_study_on_the_panel(wanda: Hand, house: Site) -> None:
    page = wanda.page
    page.goto(f"{house.addresses.panel}/")
    wanda.shot("panel-people")
    wanda.press(page.get_by_role("button").first, "a new person")
    study = page.get_by_role("link", name=re.compile("rehearsal")).first

    def is_listed() -> bool:
        page.reload()
        return bool(study.count())

    wait_for(is_listed, "the panel lists the study")
    wanda.shot("panel-studies")
    wanda.press(study, "the study")
    wanda.shot("panel-study")
    wanda.press(page.locator("main form button").first, "reserve a place")
    wanda.shot("panel-place")
    with page.context.expect_page() as opened:
        wanda.press(page.locator('form[action$="/start/"] button'), "open the study")
    entry = opened.value
    _agrees_and_takes_it(wanda, entry, r"/submissions/")


def _takes_the_study_by_link(wanda: Hand, house: Site, entry: str) -> None:
    page = wanda.page
    page.context.route(
        "https://app.prolific.com/**",
        lambda route: route.fulfill(body="<title>Panel</title><h1>Thank you</h1>", content_type="text/html"),
    )
    page.goto(f"{house.addresses.web}/take/{entry}/?{IDS}")
    _agrees_and_takes_it(wanda, page, r"app\.prolific\.com/submissions/complete\?cc=")


def _agrees_and_takes_it(wanda: Hand, entry: Any, way_back: str) -> None:
    entry.locator("[data-consent]").check(timeout=LONG_MS)
    wanda.shot("consent", entry)
    entry.get_by_role("button", name="Start the study").click()
    entry.wait_for_url("**/run/**", timeout=LONG_MS)
    assert takes_the_study(entry) > 0
    entry.wait_for_url(re.compile(way_back), timeout=LONG_MS)
    wanda.shot("back", entry)
