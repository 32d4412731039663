"""Hands of a newcomer: every press and every field is counted; every page on the way can be kept as pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from analysis.labels.files import default_labels
from humanexp.simulation.browser import StudyPage
from tests.browser.looks import fits

WIDTHS = (1280, 390)
#: Jobs and polls of three processes on a busy machine.
LONG_MS = 400_000


class Hand:
    """Somebody at a browser window who can be counted."""

    def __init__(self, page: Any, name: str) -> None:
        self.page, self.name = page, name
        self.done: list[str] = []
        self._shots = 0

    def press(self, target: Any, what: str) -> None:
        self.done.append(f"press {what}")
        target.click(timeout=LONG_MS)

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
        self.page.locator(f'[name="{name}"]').fill(value, timeout=LONG_MS)

    def reads(self, text: str, *, within_ms: int = LONG_MS) -> None:
        self.page.get_by_text(text).first.wait_for(timeout=within_ms)

    def lists_what_was_done(self) -> None:
        """Every press and every field by its number, next to the pictures."""
        if folder := os.environ.get("SCREENSHOTS"):
            lines = [f"{number} {what}\n" for number, what in enumerate(self.done, 1)]
            Path(folder, f"newcomer-{self.name}-interactions.txt").write_text("".join(lines), encoding="utf-8")

    def shot(self, what: str, page: Any = None) -> None:
        """On a desk and on a phone; of another window than the first, where one is given."""
        page = page or self.page
        self._shots += 1
        page.wait_for_load_state()
        before = page.viewport_size
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 860})
            fits(page, f"newcomer-{self.name}-{self._shots:02d}-{what}-{width}")
        page.set_viewport_size(before)


def takes_the_study(window: Any) -> int:
    """From the first check to the last trial, answering the same to everything; returns the number of answers."""
    answered: list[str] = []

    def press_the_first_choice() -> None:
        choice = window.query_selector("[data-grid][data-shown] [data-choice]")
        if choice:  # it is gone when the time was up
            choice.click()
            answered.append("first")

    def judge() -> str:
        answered.append("yes-yes")
        return answered[-1]

    StudyPage(window).goes_through(answer=press_the_first_choice, judgement=judge)
    return len(answered)


def draw_pictures(folder: Path, *, per_category: int, size_px: int) -> None:
    """What a lab has on its disk."""
    from PIL import Image

    from analysis.examples.pictures import draw

    for category in default_labels().ids:
        (folder / category).mkdir(parents=True)
        for seed in range(per_category):
            Image.fromarray(draw(category, seed, size_px)).save(folder / category / f"{seed}.png")
