"""Scripted participants in a real browser."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from analysis.errors import install
from analysis.labels.space import NO_ANSWER
from humanexp.simulation.participant import ParticipationFailed, options_in
from humanexp.simulation.personas import Answer, Persona, TruePicture

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


MISSING = (
    f"Real pages need playwright, which is not installed: {install('browser')}. They need Chromium, too "
    "(`playwright install chromium`, or its path in CHROMIUM)."
)
WINDOW = {"width": 1280, "height": 860}
_PICTURES = re.compile(r"/trials/(\d+)-(\d+)/pictures/$")
_QUESTION = re.compile(r"/trials/(\d+)/question/$")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window.

    Raises
    ------
    ParticipationFailed
        If playwright or Chromium is missing.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise ParticipationFailed(MISSING) from error
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        try:
            # Root, as in a container, has no sandbox of its own.
            flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=path, args=flags)
        except Error as error:
            raise ParticipationFailed(MISSING) from error
        try:
            yield browser
        except Error as error:
            raise ParticipationFailed(str(error).splitlines()[0]) from error
        finally:
            browser.close()


@dataclass(kw_only=True)
class BrowserParticipant:
    """A persona that takes part through the real pages, in a browser profile of its own."""

    persona: Persona
    #: what is known about every stimulus, by the sha256 of its bytes
    truth: Mapping[str, TruePicture]
    #: name of the participant whose session a token opens: keys the random stream
    name_of: Callable[[str], str]
    browser: Any
    name: str = ""
    #: pictures and wanted category by position, as far as the page has them
    _pictures: dict[int, list[TruePicture]] = field(default_factory=dict)
    _wanted: dict[int, str] = field(default_factory=dict)
    _offered: dict[int, list[str]] = field(default_factory=dict)
    _choices: list[dict[str, str]] = field(default_factory=list)
    #: position of the next trial that comes on the screen
    _position: int = 0
    _fault: str = ""

    def takes_link(self, entry_url: str) -> None:
        """From a plain link to its last page."""
        with self._profile() as context:
            page = context.new_page()
            page.goto(entry_url)
            page.check("[data-consent]")
            page.click("[data-action=start]")
            page.wait_for_url("**/run/**", timeout=PATIENCE_MS)
            self._goes_through(page)

    def takes_work(self, work_url: str, cookies: Sequence[Mapping[str, Any]]) -> None:
        """From a HIT accepted by the account of these cookies to its submission."""
        with self._profile() as context:
            context.add_cookies(list(cookies))
            page = context.new_page()
            page.goto(work_url)
            frame = page.query_selector("[data-work-frame]").content_frame()
            if not self._takes_part_in_a_window(context, frame):
                frame.wait_for_selector("[data-panel=done]:not([hidden])", timeout=PATIENCE_MS)
                frame.click("[data-action=submit]")
            # The marketplace takes the form in the frame, and then loads its own page anew.
            page.wait_for_selector("text=Your work has been submitted", timeout=PATIENCE_MS)

    @contextmanager
    def _profile(self) -> Iterator[Any]:
        context = self.browser.new_context(viewport=WINDOW, locale="en-US")
        context.route("**/take/*/open/", self._opens)
        context.route("**/api/v1/run/responses/", self._declares)
        context.route("**/api/v1/run/session/", self._starts)
        context.route(_PICTURES, self._receives_pictures)
        context.route(_QUESTION, self._receives_question)
        try:
            yield context
        finally:
            context.close()

    def _takes_part_in_a_window(self, context: Any, entry: Any) -> bool:
        """Agree, go through the study in its own window, close it; whether the entry page then submits by itself."""
        entry.check("[data-consent]")
        with context.expect_page(timeout=PATIENCE_MS) as opened:
            entry.click("[data-action=start]")
        has_pressed_finish = self._goes_through(opened.value)
        opened.value.close()
        return has_pressed_finish

    def _goes_through(self, page: Any) -> bool:
        """From the first screen to the last; whether there were questions at the end."""
        study = StudyPage(page)
        try:
            study.goes_through(answer=lambda: self._answers(page), judgement=lambda: self._next_answer().response)
        except ParticipationFailed as error:
            raise ParticipationFailed(f"{self.name}: {error}") from error
        return study.has_pressed_finish

    def _answers(self, window: Any) -> None:
        """One trial: the choices are on the screen."""
        answer = self._next_answer()
        if answer.response != NO_ANSWER and answer.rt_ms is not None:
            window.wait_for_timeout(answer.rt_ms)
            choice = window.query_selector(f'[data-grid][data-shown] [data-choice="{answer.response}"]')
            place = choice and choice.bounding_box()
            if place:  # it is gone when the time was up
                window.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)

    def _next_answer(self) -> Answer:
        position, self._position = self._position, self._position + 1
        if self._fault:
            raise ParticipationFailed(self._fault)
        if position not in self._pictures:
            raise ParticipationFailed(f"trial {position} is on the screen before its pictures came")
        return self.persona.among(self._offered.get(position, ())).answer(
            self._pictures[position], participant=self.name, position=position, wanted=self._wanted.get(position)
        )

    def _opens(self, route: Any) -> None:
        """The page does not know that this is no person: its calls say so here."""
        reply = route.fetch(post_data=_as_simulated(route.request))
        if reply.ok:
            self.name = self.name_of(reply.json()["token"])
        route.fulfill(response=reply)

    def _declares(self, route: Any) -> None:
        route.continue_(post_data=_as_simulated(route.request))

    def _starts(self, route: Any) -> None:
        """The server's cursor leads: a passed qualification skips its other tries."""
        reply = route.fetch()
        if reply.ok:
            self._position = reply.json()["cursor"]
            self._choices = reply.json()["choices"].get("categorisation", [])
        route.fulfill(response=reply)

    def _receives_pictures(self, route: Any) -> None:
        reply = route.fetch()
        if reply.ok:
            first, last = map(int, _found(_PICTURES, route.request.url))
            self._keep(first, last, reply.body(), reply.headers.get("picture-lengths", ""))
            offered = options_in(reply.headers.get("trial-options", ""), self._choices)
            self._offered |= dict(zip(range(first, last + 1), offered, strict=False))
        route.fulfill(response=reply)

    def _keep(self, first: int, last: int, content: bytes, lengths: str) -> None:
        parts, place = [], 0
        for length in map(int, lengths.split(",")):
            parts.append(content[place : place + length])
            place += length
        each = len(parts) // (last - first + 1)
        for number, position in enumerate(range(first, last + 1)):
            known = (self.truth.get(hashlib.sha256(part).hexdigest()) for part in parts[number * each :][:each])
            # A mask is in no manifest.
            self._pictures[position] = [picture for picture in known if picture is not None]
            if not self._pictures[position]:
                self._fault = f"trial {position}: these bytes are not in the stimulus manifest"

    def _receives_question(self, route: Any) -> None:
        reply = route.fetch()
        if reply.ok:
            (position,) = map(int, _found(_QUESTION, route.request.url))
            self._wanted[position] = reply.json()["wanted"]
        route.fulfill(response=reply)


def _as_simulated(request: Any) -> str:
    return json.dumps({**request.post_data_json, "simulated": True})


def _found(pattern: re.Pattern[str], url: str) -> tuple[str, ...]:
    found = pattern.search(urlsplit(url).path)
    return found.groups() if found else ()
