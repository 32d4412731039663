"""ABX in a real browser: three pictures one after the other, answered by the keys A and B."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.study.design import DiscriminationDesign
from humanexp.participation.models import Response
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.person import Person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.mark.gate
def test_three_pictures_are_shown_and_answered_by_key_and_pointer(page: Any, live_server: Any, drawings: Path) -> None:
    compared = DiscriminationDesign(form="abx", trials=2, sentinels=2, practice=2)
    design = studies.pairs_design(discrimination=compared)
    session = studies.open_session(studies.make_study(drawings, design=design))
    right = {trial.position: trial.correct_response for trial in session.trials.all()}
    person = Person(page, live_server.url)
    person.enters(session)
    person.passes_the_checks()
    person.sees("instructions-abx")
    assert violations(page) == []
    person.presses("next")
    page.click('[data-play="a"][data-pace="real"]')
    person.reads("Speckles, coarse squares, speckles: like A")
    for _ in range(3):
        assert violations(page) == []
        person.presses("next")
    person.reads("2 comparisons of three pictures")
    for block in session.blocks:
        person.presses("start")
        for position in range(block["first"], block["last"] + 1):
            person.sees_the_choices()
            question = "Was the third picture changed like A, the first, or like B, the second?"
            expect(page.locator("[data-grid]")).to_have_attribute("aria-label", question)
            if position == 0:
                assert violations(page) == []
                wrong = {"a": "b", "b": "a"}[right[0]]
                page.keyboard.press({"a": "1", "b": "2"}[wrong])
                person.reads(f"It was: {'A, the first' if right[0] == 'a' else 'B, the second'}")
                person.sees_them_go()
            elif position % 2:
                page.keyboard.press({"a": "1", "b": "2"}[right[position]])
                person.sees_them_go()
            else:
                person.clicks(right[position])
    person.sees("done")
    stored = {response.position: response for response in Response.objects.filter(session=session)}
    assert {position: response.correct for position, response in stored.items()} == {
        **dict.fromkeys(right, True),
        0: False,
    }
    assert set(right.values()) == {"a", "b"}
    for response in stored.values():
        timing = response.timing
        # Fixation, picture and mask of A and B lie between the first fixation and the onset of X.
        assert timing["ts_stim_on"] - timing["ts_fix_on"] >= 3 * 60 + 2 * 200 + 2 * 60 - 100
        # From the onset of X: 200 ms, then the mask; unless the record says that frames were long.
        assert timing["ts_grid_on"] - timing["ts_stim_on"] < 600 or timing["n_long_frames"]
        assert timing["decode_ok"]
    assert person.complaints == []
