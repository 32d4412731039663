"""Hands of a newcomer: every press and every field is counted; every page on the way can be kept as pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from analysis.categories import CATEGORIES
from humanexp.simulation.browser.page import PATIENCE_MS, StudyPage

WIDTHS = (1280, 390)
#: Jobs and polls of three processes on a busy machine.
LONG_MS = 120_000


class Hand:
    """Somebody at a browser window who can be counted."""

    def __init__(self, page: Any, name: str) -> None:
        self.page, self.name = page, name
        self.done: list[str] = []
        self._shots = 0

    def press(self, target: Any, what: str) -> None:
        self.done.append(f"press {what}")
        target.click(timeout=PATIENCE_MS)

    def key(self, letter: str, what: str) -> None:
        """After what the page says has been read: then its scripts hear keys once it has loaded."""
        self.done.append(f"key {letter}: {what}")
        self.page.wait_for_load_state()
        self.page.keyboard.press(letter)

    def link(self, name: str) -> None:
        self.press(self.page.get_by_role("link", name=name, exact=True).first, f"link {name}")

    def button(self, name: str) -> None:
        self.press(self.page.get_by_role("button", name=name).first, f"button {name}")

    def field(self, name: str, value: str) -> None:
        self.done.append(f"fill {name}")
        self.page.locator(f'[name="{name}"]').fill(value, timeout=PATIENCE_MS)

    def reads(self, text: str, *, within_ms: int = PATIENCE_MS) -> None:
        self.page.get_by_text(text).first.wait_for(timeout=within_ms)

    def shot(self, what: str) -> None:
        """Kept when SCREENSHOTS names a folder, on a desk and on a phone; no page scrolls sideways either way."""
        self._shots += 1
        self.page.wait_for_load_state()
        folder = os.environ.get("SCREENSHOTS")
        before = self.page.viewport_size
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": 860})
            too_wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert too_wide <= 0, f"{what} is {too_wide} px too wide at {width}"
            if folder:
                Path(folder).mkdir(parents=True, exist_ok=True)
                name = f"newcomer-{self.name}-{self._shots:02d}-{what}-{width}.png"
                self.page.screenshot(path=str(Path(folder) / name), full_page=True)
        self.page.set_viewport_size(before)


def takes_the_study(window: Any) -> int:
    """From the first check to the last trial, answering the same to everything; returns the number of answers."""
    study, answers = StudyPage(window), 0
    window.wait_for_selector("[data-screen]:not([hidden])", timeout=PATIENCE_MS)
    ways_on = {"calibration": "no-card", "ready": "start", "paused": "continue"}
    while (screen := study.screen) != "done":
        if screen == "checks":
            study.passes_the_checks()
            study.sees_another_than("checks")
        elif screen.startswith("instructions-"):
            study.presses("next")
        elif screen in ways_on:
            study.presses(ways_on[screen])
            study.sees_another_than(screen)
        elif screen == "trial" and window.query_selector("[data-grid][data-shown]"):
            choice = window.query_selector("[data-grid][data-shown] [data-choice]")
            if choice:
                choice.click()
                answers += 1
            study.sees_them_go()
        elif screen == "validation":
            _judges(study)
            answers += 1
        else:
            assert screen in ("loading", "saving", "trial"), f"no way on from {screen}: {study.heading}"
            window.wait_for_timeout(20)
    return answers


def _judges(study: StudyPage) -> None:
    number = study.judged_picture
    study.judges("yes-yes")
    while study.screen == "validation" and study.judged_picture == number:
        if study.is_told_the_answer:
            study.presses("judged")
        study.page.wait_for_timeout(20)


def draw_pictures(folder: Path, *, per_category: int, size_px: int) -> None:
    """What a lab has on its disk."""
    from PIL import Image

    from fixtures.pictures import draw

    for category in CATEGORIES:
        (folder / category).mkdir(parents=True)
        for seed in range(per_category):
            Image.fromarray(draw(category, seed, size_px)).save(folder / category / f"{seed}.png")
