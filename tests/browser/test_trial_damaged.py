"""A picture's file was changed: the participant reads whose fault it is, and goes on once it is restored."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.core.storage import media_path
from humanexp.participation.models import Response, Session
from humanexp.participation.monitoring import damaged_files
from tests.browser.axe import violations
from tests.browser.looks import shot
from tests.browser.person import Person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


def test_a_damaged_picture_has_a_kind_page(page: Any, live_server: Any, session: Session) -> None:
    path = media_path(session.trials.get(position=1).stimulus.file)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    person = Person(page, live_server.url)
    person.enters(session)
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    for _ in range(4):
        person.presses("next")
    person.sees("damaged")
    expect(page.locator("[data-screen=damaged]")).to_contain_text("our fault", use_inner_text=True)
    assert violations(page) == []
    shot(page, "frames-damaged")
    assert not Response.objects.filter(session=session).exists()
    assert [one.sessions for one in damaged_files()] == [1]
    path.write_bytes(whole)
    person.presses("reload")
    person.sees("instructions-categorisation")  # what was told of the eyes is remembered
