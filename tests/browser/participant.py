"""Somebody at work in a window or in a frame, by pointer or by keyboard alone, who is always right."""

from __future__ import annotations

from typing import Any

from analysis.labels.files import default_labels
from humanexp.participation.models import Session
from humanexp.simulation.browser import NO_DOUBLE_CLICK_MS, PATIENCE_MS, StudyPage


def agrees(page: Any, entry: Any, *, by_keyboard: bool = False) -> Any:
    """On the entry page; where the study then is: in the same tab, or for a frame of `page` in its own window."""
    if entry is page:
        _agrees(page, entry, by_keyboard)
        page.wait_for_url("**/run/**", timeout=PATIENCE_MS)
        return page
    with page.expect_popup() as popup:
        _agrees(page, entry, by_keyboard)
    return popup.value


def _agrees(page: Any, entry: Any, by_keyboard: bool) -> None:
    if by_keyboard:
        while entry.evaluate("document.activeElement.name") != "consent":
            page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
    else:
        entry.check("[data-consent]")
        entry.click("[data-action=start]")


class Participant(StudyPage):
    def __init__(self, place: Any, keys: Any, *, by_keyboard: bool = False) -> None:
        super().__init__(place)
        self.keys = keys
        self.by_keyboard = by_keyboard

    def does_everything(self, task: str) -> Session:
        self.passes_the_checks()
        self.sees(f"instructions-{task}")
        pages = self.page.locator(f'[data-screen="instructions-{task}"] [data-page]').count()
        for _ in range(pages):
            self.presses("next")
        session = Session.objects.get()
        right = {trial.position: trial.correct_response or "yes-yes" for trial in session.trials.all()}
        for block in session.blocks:
            self.presses("start")
            for position in range(block["first"], block["last"] + 1):
                if task == "validation":
                    self.judges(right[position])
                    if block["feedback"]:
                        self.reads_the_verdict()
                else:
                    self.chooses(task, right[position])
        return session

    def presses(self, action: str) -> None:
        if self.by_keyboard:
            if action == "next" and self.plays_the_example():
                self.page.focus('[data-screen]:not([hidden]) [data-action="next"]')
            selector = f'[data-screen]:not([hidden]) [data-action="{action}"]:enabled'
            self.page.wait_for_selector(selector, timeout=PATIENCE_MS)
            self.keys.press("Enter")
        else:
            super().presses(action)

    def passes_the_checks(self) -> None:
        if not self.by_keyboard:
            super().passes_the_checks()
            return
        self.sees("checks")
        for fieldset in self.page.query_selector_all('[data-screen="checks"] fieldset:not([hidden])'):
            while not fieldset.evaluate("part => part.contains(document.activeElement)"):
                self.keys.press("Tab")
            self.keys.press("Space")
        self.keys.press("Enter")

    def chooses(self, task: str, choice: str) -> None:
        if not self.by_keyboard:
            self.clicks(choice)
            return
        self.sees_the_choices()
        if task == "discrimination":
            self.keys.press(choice[0])
            self.keys.press("Enter")
        else:
            row, column = divmod(default_labels().in_grid.index(choice), 4)
            for key in ["ArrowRight", *["ArrowDown"] * row, *["ArrowRight"] * column, "Enter"]:
                self.keys.press(key)
        self.sees_them_go()

    def judges(self, response: str) -> None:
        self.sees("validation")
        unanswered = '[data-judge] fieldset[data-question="shows"]:enabled:not(:has(:checked))'
        self.page.wait_for_selector(unanswered, timeout=PATIENCE_MS)
        if not self.by_keyboard:
            super().judges(response)
            return
        for question, answer in zip(("shows", "usable"), response.split("-"), strict=True):
            while self.page.evaluate("document.activeElement.name || ''") != question:
                self.keys.press("Tab")
            self.keys.press("Space" if answer == "yes" else "ArrowDown")
        self.page.wait_for_timeout(NO_DOUBLE_CLICK_MS)
        self.keys.press("Enter")

    def reads_the_verdict(self) -> None:
        """In practice, and goes on."""
        self.page.wait_for_selector('[data-verdict]:has-text(":")', timeout=PATIENCE_MS)
        self.presses("judged")
