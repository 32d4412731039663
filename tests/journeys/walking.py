"""People of five kinds on their way through a study, and what they look at on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from humanexp.participation.models import Session
from tests.browser.axe import violations
from tests.browser.looks import fits, transcript
from tests.browser.participant import Participant
from tests.browser.person import NO_DOUBLE_CLICK_MS, PATIENCE_MS, lets_time_pass

#: Pages that were looked at in this run, by name, language and width: each once.
_seen: set[tuple[str, str, int]] = set()


def looks_at(page: Any, name: str) -> None:
    """A page that is new in this language and at this width: nothing is wider than it, and axe finds nothing."""
    language, width = page.evaluate("[document.documentElement.lang, innerWidth]")
    if (name, language, width) in _seen:
        return
    _seen.add((name, language, width))
    fits(page, f"{name}-{language}-{width}")
    transcript(page, f"{name}-{language}")
    found = violations(page)
    assert not found, f"{name}: {found}"


class Walker(Participant):
    """Somebody who is careful: does what each page asks, and answers right."""

    def __init__(self, window: Any, *, task: str, by_keyboard: bool = False) -> None:
        super().__init__(window, window.keyboard, by_keyboard=by_keyboard)
        self.task = task
        #: names of the pages in the order in which they came
        self.came: list[str] = []
        self.presses_made = 0
        self._right: dict[int, str] = {}

    @property
    def session(self) -> Session:
        return Session.objects.latest("pk")

    def meets(self) -> None:
        name = self.screen
        if name.startswith("instructions-"):
            shown = "[data-screen]:not([hidden]) [data-page]:not([hidden])"
            within = "page => [...page.parentElement.querySelectorAll('[data-page]')].indexOf(page) + 1"
            name += f"-{self.page.eval_on_selector(shown, within)}"
        if name not in self.came:
            self.came.append(name)
            looks_at(self.page, name)

    def presses(self, action: str) -> None:
        if action == "start":
            selector = '[data-screen]:not([hidden]) [data-action="start"]:enabled'
            self.page.wait_for_selector(selector, timeout=PATIENCE_MS)
        self.meets()
        self.presses_made += 1
        super().presses(action)

    def passes_the_checks(self) -> None:
        self.sees("checks")
        measured = "[data-check=refresh][data-result]:not([data-result=pending])"
        if self.task != "validation":
            self.page.wait_for_selector(measured, timeout=PATIENCE_MS)
        self.meets()
        super().passes_the_checks()

    def goes_all_the_way(self) -> None:
        self.sees("checks")
        self.goes_through(answer=self.answers, judgement=self.judgement)
        self.meets()

    def answers(self) -> None:
        self.gives(self.right_answer())

    def judgement(self) -> str:
        self.meets()
        return self.right_answer()

    def right_answer(self) -> str:
        """As the plan has it; pictures that are not known stand in for one another."""
        if not self._right:
            self._right = {trial.position: trial.correct_response for trial in self.session.trials.all()}
        answered = int(self.session.cursor)
        return self._right.get(answered) or ("yes-yes" if self.task == "validation" else self.first_choice())

    def first_choice(self) -> str:
        return str(self.page.get_attribute("[data-grid] [data-choice]", "data-choice"))

    def gives(self, choice: str) -> None:
        tile = f'[data-grid][data-shown] [data-choice="{choice}"]'
        if not self.by_keyboard:
            self.page.click(tile)
            return
        for key in str(self.page.get_attribute(tile, "data-keys")).split():
            self.keys.press(key)


class Absent(Walker):
    """Is away from the first trial after practice until somebody asks, and at every page that waits.

    Time passes by the clock of the pages: the test has installed it before they were opened.
    """

    def __init__(self, window: Any, *, task: str) -> None:
        super().__init__(window, task=task)
        self.is_away = False

    def answers(self) -> None:
        cursor = self.session.cursor
        first = next(block["first"] for block in self.session.blocks if block["kind"] != "practice")
        if cursor == first and "absent" not in self.came:
            while self.screen != "absent":
                lets_time_pass(self.page, 500)
            lets_time_pass(self.page, 12_000)
            expect(self.page.locator("[data-screen=absent]"), "it waits until somebody comes").to_be_visible()
            return
        super().answers()

    def judgement(self) -> str:
        if not self.is_away:
            self.is_away = True
            lets_time_pass(self.page, 60_000)
        return super().judgement()


class Impatient(Walker):
    """Presses everything twice, answers anything, and loads the page again in between."""

    def __init__(self, window: Any, *, task: str) -> None:
        super().__init__(window, task=task)
        self.has_reloaded = False

    def passes_the_checks(self) -> None:
        self.sees("checks")
        self.page.click('[data-screen="checks"] button[data-primary]')
        self.page.wait_for_selector("[data-complaint]:not([hidden])", timeout=PATIENCE_MS)
        looks_at(self.page, "checks-refused")
        super().passes_the_checks()

    def presses(self, action: str) -> None:
        super().presses(action)
        self.page.keyboard.press("Enter")

    def answers(self) -> None:
        if not self.has_reloaded and self.session.cursor > 3:
            self.has_reloaded = True
            self.page.reload()
            self.page.wait_for_selector("[data-screen]:not([hidden])", timeout=PATIENCE_MS)
            return
        self.gives(self.first_choice())
        self.page.mouse.down()
        self.page.mouse.up()

    def judgement(self) -> str:
        super().judgement()
        return "yes-no"


class Confused(Walker):
    """Starts without having agreed, goes back, opens the way out and stays, and answers wrong."""

    has_stayed = False

    def passes_the_checks(self) -> None:
        self.sees("checks")
        self.opens_the_way_out()
        super().passes_the_checks()

    def opens_the_way_out(self) -> None:
        self.page.click("[data-leave]")
        self.page.wait_for_selector("dialog[open]", timeout=PATIENCE_MS)
        looks_at(self.page, "leave")
        self.page.click('[data-leave-answer="stay"]')
        self.has_stayed = True

    def presses(self, action: str) -> None:
        if action == "next" and not self.came[-1].startswith("instructions"):
            first = "[data-screen]:not([hidden]) [data-page]:nth-of-type(1)"
            super().presses("next")
            self.page.wait_for_selector(f"{first}[hidden]", state="attached", timeout=PATIENCE_MS)
            self.page.click('[data-screen]:not([hidden]) [data-action="back"]:not([hidden])')
            self.page.wait_for_selector(f"{first}:not([hidden])", timeout=PATIENCE_MS)
            self.came.append("instructions-again")
        super().presses(action)

    def answers(self) -> None:
        right = self.right_answer()
        tiles: list[str] = self.page.eval_on_selector_all(
            "[data-grid] [data-choice]", "tiles => tiles.map((tile) => tile.dataset.choice)"
        )
        self.gives(next(choice for choice in tiles if choice != right))

    def judgement(self) -> str:
        super().judgement()
        return "no-no"


class KeyboardAlone(Walker):
    """Has no pointer."""

    def __init__(self, window: Any, *, task: str) -> None:
        super().__init__(window, task=task, by_keyboard=True)

    def judges(self, response: str) -> None:
        self.page.wait_for_timeout(NO_DOUBLE_CLICK_MS)
        super().judges(response)


KINDS: dict[str, Callable[..., Walker]] = {
    "careful": Walker,
    "absent": Absent,
    "impatient": Impatient,
    "confused": Confused,
    "keyboard": KeyboardAlone,
}
