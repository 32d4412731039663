"""Six ways through a study in Firefox, by link: nothing there depends on Chromium.

What the engine records of its times is asked for, not how precise they are: no claim is made about Firefox.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from humanexp.participation.models import Response, Session, SessionState
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.browser import studies
from tests.journeys import firefox as browsers
from tests.journeys.firefox import Firefox, NotThereError, Tab
from tests.journeys.test_participants import DESIGNS
from tests.made_up import TAG

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("made_up_language", "own_media", "unhurried", "open_gates"),
    pytest.mark.skipif(browsers.FIREFOX is None, reason="there is no firefox-esr"),
]

WAYS = [
    ("categorisation", "en", "pointer"),
    ("categorisation", TAG, "keyboard"),
    ("discrimination", "de", "pointer"),
    ("abx", TAG, "pointer"),
    ("abx", "en", "keyboard"),
    ("validation", "de", "pointer"),
]
_SHOWN = "[data-screen]:not([hidden])"
_PAGE = f"{_SHOWN} [data-page]:not([hidden])"
_BUTTONS = {
    "closing": "finish",
    "calibration": "no-card",
    "ready": "start",
    "paused": "continue",
    "absent": "continue",
    "deadline": "continue",
    "slow": "continue",
}


@pytest.fixture
def firefox() -> Iterator[Firefox]:
    with browsers.running() as started:
        yield started


class Visitor:
    """Somebody who does what each page asks, and answers right."""

    def __init__(self, tab: Tab, *, by: str) -> None:
        self.tab, self.by, self.answered = tab, by, 0

    @property
    def screen(self) -> str:
        return str(self.tab.asks(f"document.querySelector('{_SHOWN}')?.dataset.screen"))

    def goes_all_the_way(self) -> None:
        deadline = time.monotonic() + 350
        self.tab.waits_for(f"document.querySelector('{_SHOWN}')")
        while (screen := self.screen) != "done":
            assert time.monotonic() < deadline, screen
            with suppress(NotThereError):  # the page has gone on meanwhile
                self.does(screen)

    def does(self, screen: str) -> None:
        """What the page asks, if it asks something now."""
        if screen == "checks":
            self.passes_the_checks()
        elif screen.startswith("instructions-"):
            self.reads_on()
        elif screen in _BUTTONS:
            self.presses_when_enabled(_BUTTONS[screen])
        elif screen == "validation":
            self.judges()
        elif screen == "trial" and self.tab.asks("document.querySelector('[data-grid][data-shown]')?.tagName"):
            self.answers()
        else:
            time.sleep(0.02)

    def passes_the_checks(self) -> None:
        for name in ("sight", "colour_sight", "corruption_knowledge"):
            if self.tab.sees(f'input[name="{name}"][value="yes"]'):
                self.tab.clicks(f'input[name="{name}"][value="yes"]')
        self.tab.clicks('[data-screen="checks"] button[data-primary]')
        self.tab.waits_for(f"document.querySelector('{_SHOWN}')?.dataset.screen !== 'checks'", "the checks are over")

    def reads_on(self) -> None:
        if self.tab.sees(f"{_PAGE} [data-watch-first]"):
            self.tab.clicks(f'{_PAGE} [data-play][data-pace="real"]:enabled')
            self.tab.waits_for(f"document.querySelector('{_SHOWN} [data-action=next]:enabled')", "the example ends")
        self.presses_when_enabled("next")

    def presses_when_enabled(self, action: str) -> None:
        if not self.tab.asks(f"document.querySelector('{_SHOWN} [data-action={action}]:enabled')?.tagName"):
            time.sleep(0.1)
            return
        if self.by == "keyboard":
            self.tab.asks(f"document.querySelector('{_SHOWN} [data-action={action}]')?.focus()")
            self.tab.presses("Enter")
        else:
            self.tab.clicks(f"{_SHOWN} [data-action={action}]:enabled")

    def answers(self) -> None:
        session = self.session_with_all_answers()
        right = session.trials.get(position=session.cursor).correct_response
        tile = f'[data-grid][data-shown] [data-choice="{right}"]'
        if self.by == "keyboard":
            for key in str(self.tab.asks(f"document.querySelector('{tile}').dataset.keys")).split():
                self.tab.presses(key)
        else:
            self.tab.clicks(tile)
        self.tab.waits_for("!document.querySelector('[data-grid][data-shown]')", "the choices go")
        self.answered += 1

    def session_with_all_answers(self) -> Session:
        """Which picture is shown is known once the answer to the last one is stored."""
        deadline = time.monotonic() + browsers.PATIENCE_S
        while (session := Session.objects.get()).cursor < self.answered:
            assert time.monotonic() < deadline, "the last answer was not stored"
            time.sleep(0.02)
        return session

    def judges(self) -> None:
        judged = "[data-screen=validation] [data-action=judged]"
        if self.tab.asks("document.querySelector('[data-screen=validation] fieldset:enabled')?.tagName"):
            for name, answer in (("shows", "yes"), ("usable", "yes")):
                self.tab.clicks(f'[data-screen="validation"] input[name="{name}"][value="{answer}"]')
            time.sleep(0.4)
        if self.tab.asks(f"document.querySelector('{judged}:enabled')?.tagName"):
            self.tab.clicks(judged)
        time.sleep(0.1)


@pytest.mark.timeout(500)
@pytest.mark.parametrize(("task", "language", "by"), WAYS)
def test_a_way_through_the_study(
    firefox: Firefox,
    live_server: Any,
    drawings: Path,
    task: str,
    language: str,
    by: str,
) -> None:
    study = studies.make_study(drawings, design=DESIGNS[task])
    Study.objects.filter(pk=study.pk).update(configuration={**study.configuration, "ending": {}})
    link = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
    tab = firefox.opens(1280, 860)
    tab.goes_to(f"{live_server.url}/take/{link.entry}/?language={language}")
    tab.clicks("[data-consent]")
    tab.clicks("[data-action=start]")
    Visitor(tab, by=by).goes_all_the_way()
    session = Session.objects.get()
    assert session.cursor == session.total == Response.objects.filter(session=session).count()
    assert session.language == language == session.environment["page_language"]
    assert tab.asks("document.documentElement.dir || 'ltr'") == ("rtl" if language == TAG else "ltr")
    records = [answer.timing for answer in Response.objects.filter(session=session)]
    assert all(record["engine_version"] for record in records)
    if task != "validation":
        assert all(record["frames_shown"] for record in records), "the engine's own record of every presentation"
    session.refresh_from_db()
    assert session.state == SessionState.SUBMITTED
    assert firefox.complaints == []
