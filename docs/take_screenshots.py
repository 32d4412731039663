"""Take the pictures of the README and of the guides from a running demo.

    make demo                                  # in another terminal; it prints what is asked for here
    python docs/take_screenshots.py --password PASSWORD --entry http://127.0.0.1:8000/take/.../ [--to DIR]
        [--all | --only NAME,NAME | --sites STUDY]

With --all every page at 1280 and 390 px, for looking at; with --only these pages; without, those that are shown.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import sync_playwright

DESKTOP, PHONE = (1280, 860), (390, 844)
#: A narrow window on a computer that timed pictures fit in: they are not shown in a smaller one, nor on phones.
NARROW = (640, 860)
PAGES = {
    "studies": "/",
    "new-study": "/studies/new/",
    "overview": "/studies/demo/",
    "design": "/studies/demo/design/",
    "recruit": "/studies/demo/recruit/",
    "monitor": "/studies/demo/monitor/",
    "sessions": "/studies/demo/sessions/",
    "preview": "/studies/demo/preview/",
    "review": "/studies/demo/review/",
    "results": "/studies/demo/results/",
    "results-models": "/studies/demo/results/models/",
    "results-corruptions": "/studies/demo/results/corruptions/",
    "results-people": "/studies/demo/results/people/",
    "results-methods": "/studies/demo/results/methods/",
    "stimuli": "/stimuli/",
    "source-set": "/stimuli/sources/demo/",
    "stimulus-set": "/stimuli/sets/demo/",
    "stimulus-browse": "/stimuli/sets/demo/browse/",
    "stimulus-figures": "/stimuli/sets/demo/figures/",
    "stimulus-new": "/stimuli/new/",
    "classifiers": "/classifiers/",
    "jobs": "/jobs/",
}
#: In `--only`: what participants see, consent and a trial.
PARTICIPANT = "participant"
SHOWN = (
    "overview",
    "results",
    "results-people",
    "results-methods",
    "stimulus-set",
    "stimulus-browse",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--password", required=True)
    parser.add_argument("--entry", required=True, help="the demo's participant link")
    parser.add_argument("--to", type=Path, default=Path(__file__).parent / "images")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sites", metavar="STUDY", help="of links to sites alone: opens one for each on this study")
    names = ", ".join([*PAGES, PARTICIPANT])
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], help=f"of {names}")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which(os.environ.get("CHROMIUM", "chromium")), args=["--no-sandbox"]
        )
        if options.sites:
            _take_sites(_signed_in(browser, options, DESKTOP), _page(browser, NARROW), options)
            browser.close()
            return
        for size in (DESKTOP, PHONE) if options.all else (DESKTOP,):
            page = _signed_in(browser, options, size)
            for name in options.only or (PAGES if options.all else SHOWN):
                if name == PARTICIPANT:
                    continue
                page.goto(urljoin(options.entry, PAGES[name]))
                page.wait_for_load_state("networkidle")
                _take(page, options, name, size, whole=options.all)
        for size in (DESKTOP, PHONE) if options.all else ():
            page = _page(browser, size)
            page.goto(options.entry)
            _take(page, options, "consent", size, whole=True)
        if not options.only or PARTICIPANT in options.only:
            page = _page(browser, NARROW)
            page.goto(options.entry)
            page.wait_for_selector("[data-panel=start]:not([hidden])")
            page.screenshot(path=str(options.to / "consent.png"), full_page=True)
            _walk_to_a_trial(_page(browser, DESKTOP), options)
        browser.close()


#: What is filled in on the form for each site.
SITES = {
    "prolific": {"#id_link_reward": "1.50"},
    "connect": {"#id_link_site_code": "5F2A90C1", "#id_link_reward": "2.00"},
    "sona": {"#id_link_alternative": "Read the first chapter and write ten lines about it."},
    "class": {"#id_link_alternative": "Read the first chapter and write ten lines about it."},
}


def _take_sites(page: Any, participant: Any, options: argparse.Namespace) -> None:
    """Every step of a link to each site: the form, the sheet, the first page, the way back, and who finished."""
    for site, filled in SITES.items():
        page.goto(urljoin(options.entry, f"/studies/{options.sites}/recruit/?to=link"))
        page.check(f'[name="link_preset"][value="{site}"]')
        page.fill("#id_assignments", "2")
        for field, text in filled.items():
            page.fill(field, text)
        page.wait_for_timeout(1500)  # the price follows what is typed
        page.locator("section:has(#launch)").screenshot(path=str(options.to / f"site-{site}-launch.png"))
        page.get_by_role("button", name="Open the link").click()
        page.get_by_role("link", name="What to paste there").first.click()
        page.locator("main section.card").screenshot(path=str(options.to / f"site-{site}-sheet.png"))
        page.go_back()
        if site != "prolific":
            continue
        page.get_by_role("link", name="What to paste there").first.click()
        address = page.inner_text("[data-copy-source]").partition("?")[0]
        page.go_back()
        page.get_by_role("link", name="Who finished?").first.click()
        page.locator("main section.card").screenshot(path=str(options.to / "site-prolific-finished.png"))
        # the sheet names the address that people outside know
        there = urljoin(options.entry, urlsplit(address).path)
        participant.goto(f"{there}?PROLIFIC_PID=5f0c0ffee0ddba11&STUDY_ID=66&SESSION_ID=66aa00bb")
        participant.wait_for_selector("[data-panel=start]:not([hidden])")
        participant.screenshot(path=str(options.to / "site-prolific-entry.png"), full_page=True)
        participant.get_by_role("button", name="I do not want to take part").click()
        participant.wait_for_selector("[data-panel=declined]:not([hidden])")
        participant.screenshot(path=str(options.to / "site-prolific-declined.png"))


def _page(browser: Any, size: tuple[int, int]) -> Any:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
    return context.new_page()


def _signed_in(browser: Any, options: argparse.Namespace, size: tuple[int, int]) -> Any:
    page = _page(browser, size)
    page.goto(urljoin(options.entry, "/login/"))
    page.fill("#id_username", "researcher")
    page.fill("#id_password", options.password)
    page.click("form button[type=submit]")
    page.wait_for_load_state()
    return page


def _take(page: Any, options: argparse.Namespace, name: str, size: tuple[int, int], *, whole: bool) -> None:
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if overflow > 0:
        raise SystemExit(f"{name} is {overflow} px too wide at {size[0]} px")
    suffix = f"-{size[0]}" if options.all else ""
    page.screenshot(path=str(options.to / f"{name}{suffix}.png"), full_page=whole)


def _walk_to_a_trial(page: Any, options: argparse.Namespace) -> None:
    """From consent to the first answer screen, as a participant."""
    page.goto(options.entry)
    page.check("input[type=checkbox]")
    with page.context.expect_page() as opened:
        page.click("button:enabled >> text=Start")
    run = opened.value
    for question in ("sight", "colour_sight", "corruption_knowledge"):
        run.wait_for_selector('[data-screen="checks"]:not([hidden])')
        if run.is_visible(f'input[name="{question}"]'):
            run.check(f'input[name="{question}"][value="yes"]')
    run.click('[data-screen="checks"] button[data-primary]')
    run.wait_for_selector('[data-screen^="instructions"]:not([hidden])')
    if options.all:
        run.screenshot(path=str(options.to / "instructions.png"))
    for _ in range(4):
        if run.is_visible("[data-watch-first]"):
            run.click('[data-page]:not([hidden]) [data-play][data-pace="real"]:enabled')
        run.click('[data-screen]:not([hidden]) [data-action="next"]:enabled')
        run.wait_for_timeout(300)
        if options.all:
            run.screenshot(path=str(options.to / f"instructions-{_ + 2}.png"))
    run.click('[data-screen]:not([hidden]) [data-action="start"]:enabled')
    run.wait_for_selector("[data-grid][data-shown]")
    run.screenshot(path=str(options.to / "trial.png"))


if __name__ == "__main__":
    main()
