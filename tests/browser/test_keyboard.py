"""Two presses of the keyboard for every category: the row, then the column, in any language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.labels.files import default_labels
from humanexp.participation.models import Response
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.looks import shot
from tests.browser.person import Person
from tests.browser.studies import given, right_answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


def test_row_and_column_answer_in_german(page: Any, live_server: Any, drawings: Path) -> None:
    session = studies.open_session(studies.make_study(drawings, design=studies.short_design(), language="de"))
    right = right_answers(session)
    page.set_extra_http_headers({"Accept-Language": "de"})
    person = Person(page, live_server.url)
    person.enters(session)
    person.passes_the_checks()
    for _ in range(4):
        person.presses("next")
    expect(page.locator("body")).to_contain_text("Drücken Sie die Nummer der Zeile")
    for block in session.blocks:
        person.presses("start")
        for position in range(block["first"], block["last"] + 1):
            row, column = divmod(default_labels().in_grid.index(right[position]), 4)
            person.sees_the_choices()
            # A letter moves, and answers nothing.
            page.keyboard.press("h")
            page.keyboard.press(str(row + 1))
            expect(page.locator("[data-grid] [data-row]")).to_have_count(4)
            if position == block["first"]:
                shot(page, f"keyboard-row-{block['index']}")
                assert violations(page) == []
            page.keyboard.press(str(column + 1))
            person.sees_them_go()
    person.sees("done")
    assert given(session) == right
    stored = Response.objects.filter(session=session)
    assert set(stored.values_list("input_kind", flat=True)) == {"key"}
    assert all(len(response.clicks) == 1 for response in stored)
