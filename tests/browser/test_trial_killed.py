"""The whole browser is killed a moment after answers that the server has not: they are on the disk."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from humanexp.participation.models import Session
from tests.browser.person import Person
from tests.browser.studies import given, right_answers
from tests.chromium import CHROMIUM

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@contextlib.contextmanager
def browser_of_its_own(chromium: Any, profile: Path) -> Iterator[Any]:
    context = chromium.browser_type.launch_persistent_context(
        profile, executable_path=CHROMIUM, args=["--no-sandbox"], viewport={"width": 1280, "height": 860}
    )
    try:
        yield context
    finally:
        with contextlib.suppress(Exception):  # noqa: BLE001  (a killed browser cannot be closed)
            context.close()


def kill(profile: Path) -> None:
    """Every process of this browser at once, as when the power fails."""
    found = subprocess.run(["pgrep", "-f", f"user-data-dir={profile}"], capture_output=True, text=True, check=True)
    for pid in map(int, found.stdout.split()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_answers_outlive_the_kill_of_the_whole_browser(
    chromium: Any, live_server: Any, session: Session, tmp_path: Path
) -> None:
    right, profile = right_answers(session), tmp_path / "profile"
    with browser_of_its_own(chromium, profile) as context:
        person = Person(context.pages[0], live_server.url)
        person.arrives(session)
        person.answers_round(session, lambda position: right[position])
        person.presses("start")
        person.clicks(right[2])
        context.set_offline(True)
        person.clicks(right[3])
        person.clicks(right[4])
        person.sees_the_choices()
        kill(profile)
    assert given(session) == {position: right[position] for position in range(3)}
    with browser_of_its_own(chromium, profile) as context:
        again = Person(context.pages[0], live_server.url)
        again.enters(session)
        again.sees("ready")
        assert given(session) == {position: right[position] for position in range(5)}
        assert again.kept != [], "what the person has said of their sight"
        again.presses("start")
        # The trial that was cut off is on its way to the server while the next one begins.
        again.answers(range(6, session.blocks[1]["last"] + 1), lambda position: right[position])
        again.presses("start")
        again.answers_round(session, lambda position: right[position])
        again.sees("done")
        assert given(session) == {**right, 5: "na"}, "the trial under way is not shown again"
        assert again.kept == [], "nothing about a person stays in the browser"
