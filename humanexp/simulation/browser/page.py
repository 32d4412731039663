"""Somebody at a computer: what is on the participant's page, and what can be done there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from humanexp.simulation.connection import ParticipationFailed

#: Generous: the machine may be busy with other things.
PATIENCE_MS = 20_000
#: A press sooner than this is taken for the second half of a double click, where pictures are judged.
NO_DOUBLE_CLICK_MS = 350
_SHOWN = "[data-screen]:not([hidden])"
#: Screens from which one button leads on, and those on which a person waits for what comes.
_BUTTONS = {
    "calibration": "no-card",
    "distance": "no-distance",
    "greys": "no-greys",
    "full-screen": "continue",
    "ready": "start",
    "paused": "continue",
    "absent": "continue",
    "slow": "continue",
    "closing": "finish",
}
_WAITING = ("loading", "saving", "trial")


class StudyPage:
    """The page of the experiment in a playwright page."""

    def __init__(self, page: Any) -> None:
        self.page = page
        #: whether there were questions after the last trial
        self.has_pressed_finish = False

    @property
    def screen(self) -> str:
        """Name of the screen that is shown."""
        name: str = self.page.eval_on_selector(_SHOWN, "element => element.dataset.screen")
        return name

    @property
    def heading(self) -> str:
        text: str = self.page.eval_on_selector(
            _SHOWN, "element => (element.querySelector('h1, [data-heading], p') ?? element).textContent.trim()"
        )
        return text

    def sees(self, screen: str) -> None:
        self.page.wait_for_selector(f'[data-screen="{screen}"]:not([hidden])', timeout=PATIENCE_MS)

    def sees_another_than(self, screen: str) -> None:
        self.page.wait_for_selector(f'[data-screen="{screen}"]', state="hidden", timeout=PATIENCE_MS)

    def presses(self, action: str) -> None:
        if action == "next":
            self.plays_the_example()
        self.page.click(f'{_SHOWN} [data-action="{action}"]:enabled', timeout=PATIENCE_MS)

    def plays_the_example(self) -> bool:
        """Where the page is left only once its example was played; whether it was so."""
        note = self.page.locator(f"{_SHOWN} [data-page]:not([hidden]) [data-watch-first]:not([hidden])")
        if not note.count():
            return False
        self.page.locator(f'{_SHOWN} [data-page]:not([hidden]) [data-play][data-pace="real"]:enabled').first.click()
        note.wait_for(state="hidden", timeout=PATIENCE_MS)
        return True

    def passes_the_checks(self) -> None:
        self.sees("checks")
        for question in ("sight", "colour_sight", "corruption_knowledge"):
            if self.page.is_visible(f'input[name="{question}"]'):
                self.page.check(f'input[name="{question}"][value="yes"]')
        for question in self.page.query_selector_all('[data-screen="checks"] fieldset[data-step]:not([hidden])'):
            question.query_selector("input").check()
        self.page.click('[data-screen="checks"] button[data-primary]')

    def sees_the_choices(self) -> None:
        self.page.wait_for_selector("[data-grid][data-shown]", timeout=PATIENCE_MS)

    def sees_them_go(self) -> None:
        self.page.wait_for_selector("[data-grid]:not([data-shown])", state="attached", timeout=PATIENCE_MS)

    def clicks(self, choice: str) -> None:
        self.sees_the_choices()
        self.page.click(f'[data-grid][data-shown] [data-choice="{choice}"]')
        self.sees_them_go()

    def judges(self, response: str) -> None:
        """Answer both questions about a picture, and go on."""
        for question, answer in zip(("shows", "usable"), response.split("-"), strict=True):
            self.page.check(f'[data-screen="validation"] input[name="{question}"][value="{answer}"]')
        self.page.wait_for_timeout(NO_DOUBLE_CLICK_MS)
        self.presses("judged")

    @property
    def judged_picture(self) -> str:
        """What the page says of the number of the picture."""
        text: str = self.page.text_content('[data-screen="validation"] [data-value="count"]')
        return text

    @property
    def is_told_the_answer(self) -> bool:
        """Whether the right answer to a practice picture is shown, and read."""
        shown = self.page.query_selector('[data-screen="validation"] fieldset:disabled')
        return bool(shown) and self.page.is_enabled('[data-screen="validation"] [data-action="judged"]')

    def goes_through(self, *, answer: Callable[[], None], judgement: Callable[[], str]) -> None:
        """From the first screen to the last: `answer` at the choices of a trial, `judgement` of a picture.

        Raises
        ------
        ParticipationFailed
            On a screen from which there is no way on.
        """
        self.page.wait_for_selector(_SHOWN, timeout=PATIENCE_MS)
        while (screen := self.screen) != "done":
            if screen == "checks":
                self.passes_the_checks()
                self.sees_another_than("checks")
            elif screen.startswith("instructions-"):
                self.presses("next")
            elif screen in _BUTTONS:
                self.presses(_BUTTONS[screen])
                if screen == "closing":
                    self.has_pressed_finish = True
                    return self._sees_the_end()
                self.sees_another_than(screen)
            elif screen == "trial" and self.page.query_selector("[data-grid][data-shown]"):
                answer()
                self.sees_them_go()
            elif screen == "validation":
                self._judges_and_goes_on(judgement())
            elif screen in _WAITING:
                self.page.wait_for_timeout(20)
            else:
                raise ParticipationFailed(f"There is no way on from “{self.heading}” ({screen}).")

    def _sees_the_end(self) -> None:
        """Finish leads on to the last screen, or back to the site that has sent the person: no screen of ours."""
        ended = """() => !document.querySelector("[data-screen]")
            || document.querySelector('[data-screen="done"]:not([hidden])')"""
        self.page.wait_for_function(ended, timeout=PATIENCE_MS)

    def _judges_and_goes_on(self, response: str) -> None:
        """One picture, and where the right answer is told, the way past it."""
        number = self.judged_picture
        self.judges(response)
        while self.screen == "validation" and self.judged_picture == number:
            if self.is_told_the_answer:
                self.presses("judged")
            self.page.wait_for_timeout(20)
