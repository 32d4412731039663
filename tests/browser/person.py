"""Somebody at a computer who takes part: sees pages, presses keys and buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from analysis.labels.files import default_labels
from humanexp.participation.models import Session
from humanexp.participation.openings import issue_handoff
from humanexp.simulation.browser import NO_DOUBLE_CLICK_MS, PATIENCE_MS, StudyPage
from tests.browser.looks import refused

_KEPT = """() => new Promise((resolve) => {
  const opening = indexedDB.open("humanexp", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("kept");
  opening.onsuccess = () => {
    const reading = opening.result.transaction("kept").objectStore("kept").getAllKeys();
    reading.onsuccess = () => resolve([...reading.result, ...Object.keys(localStorage)]);
  };
})"""


class Person(StudyPage):
    def __init__(self, page: Any, address: str) -> None:
        super().__init__(page)
        self.address = address
        # Leaving with unsent answers asks back; this person leaves all the same.
        page.on("dialog", lambda dialog: dialog.accept())

    @property
    def kept(self) -> list[str]:
        """Names of everything that the pages have left in this browser for the time after the window."""
        names: list[str] = self.page.evaluate(_KEPT)
        return names

    def enters(self, session: Session, keep_as: str = "") -> None:
        """`keep_as`: the name of the secret on the person's own computer; empty: other people use it."""
        self.page.goto(f"{self.address}/run/#{issue_handoff(session=session, keep_as=keep_as)}")

    def reads(self, text: str) -> None:
        self.page.wait_for_selector(f"text={text}", timeout=PATIENCE_MS)

    def arrives(self, session: Session, task: str = "categorisation", keep_as: str = "") -> None:
        """All the way from the link to the first trial."""
        self.enters(session, keep_as)
        self.passes_the_checks()
        self.sees(f"instructions-{task}")
        for _ in range(4):
            self.presses("next")
        self.presses("start")

    def types(self, choice: str) -> None:
        """With the keyboard alone: the first arrow lands in the upper left corner."""
        self.sees_the_choices()
        row, column = divmod(default_labels().in_grid.index(choice), 4)
        for key in ["ArrowRight", *["ArrowDown"] * row, *["ArrowRight"] * column, "Enter"]:
            self.page.keyboard.press(key)
        self.sees_them_go()

    def answers_round(self, session: Session, choose: Callable[[int], str]) -> None:
        """What is left of the present round; everything answered or cut off before it is stored."""
        session.refresh_from_db()
        block = next(block for block in session.blocks if session.cursor <= block["last"])
        self.answers(range(session.cursor, block["last"] + 1), choose)

    def answers(self, positions: Iterable[int], choose: Callable[[int], str]) -> None:
        for position in positions:
            self.clicks(choose(position))

    @property
    def complaints(self) -> list[str]:
        """What the content policy refused, and errors of scripts and console."""
        return [*refused(self.page), *self.page.complaints]


def lets_time_pass(page: Any, ms: int) -> None:
    """By the page's own clock, which `page.clock.install()` has put in its place: nobody waits.

    In steps, so that answers on their way arrive meanwhile.
    """
    for _ in range(0, ms, 500):
        page.clock.run_for(500)


class Judge(Person):
    """A person who judges pictures."""

    def arrives_to_judge(self, session: Session) -> None:
        self.enters(session)
        self.passes_the_checks()
        self.sees("instructions-validation")
        for _ in range(3):
            self.presses("next")
        self.presses("start")
        self.sees("validation")

    def sees_picture(self, count: str) -> None:
        begins = "count => document.querySelector('[data-value=count]').textContent.startsWith(count)"
        self.page.wait_for_function(begins, arg=count, timeout=PATIENCE_MS)

    def judges_with_keys(self, response: str) -> None:
        """From the heading, which has the focus: past the link to each question, an arrow for the answer, Enter."""
        keys = self.page.keyboard
        for answer in response.split("-"):
            while "shows" not in self._focused() and "usable" not in self._focused() or self._chosen():
                keys.press("Tab")
            keys.press("Space" if answer == "yes" else "ArrowDown")
        self.page.wait_for_timeout(NO_DOUBLE_CLICK_MS)
        keys.press("Enter")

    def _focused(self) -> str:
        return str(self.page.evaluate("document.activeElement.name || ''"))

    def _chosen(self) -> bool:
        return bool(
            self.page.evaluate(
                "Boolean(document.querySelector(`input[name='${document.activeElement.name}']:checked`))"
            )
        )
