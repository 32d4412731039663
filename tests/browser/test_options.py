"""People answer trials that offer some labels, or none of these: by pointer and keyboard, told only what they may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.labels.files import labels_of_words
from humanexp.participation.models import Response, Session
from humanexp.stimuli.services.label_sets import store_labels
from tests import factories
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.listener import Listener
from tests.browser.looks import fits, shot
from tests.browser.person import Person
from tests.browser.studies import given, right_answers
from tests.browser.test_labels import DESIGN, GERMAN, PROTOCOL, every_choice_fits, reads_what_it_was, written

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]

LONG = ("Lawnmower", "Refrigerator", "Wheelbarrow", "Ladder")


@dataclass(frozen=True)
class Case:
    """A design, and what its page has to say."""

    design: Mapping[str, object]
    said: str
    how: str
    language: str = "en"
    #: empty: the product's, with icons
    words: tuple[str, ...] = ()


CASES: Mapping[str, Case] = {
    "two": Case({"alternatives": 2}, "choose one of two answers", "two of these answers appear next to each other"),
    "two-words": Case({"alternatives": 2}, "choose one of two", "two of these answers", words=LONG),
    "two-none": Case(
        {"alternatives": 2, "none_of_these": True},
        "eine von zwei Antworten",
        "wählen Sie „Nichts davon“",
        language="de",
    ),
    "three": Case({"alternatives": 3}, "eine von 3 Antworten", "einige dieser Antworten", "de", GERMAN),
    "grid-none": Case({"none_of_these": True}, "say which of 16 things it showed", "choose “None of these”"),
}


def session_of(case: Case) -> Session:
    labels = store_labels(labels_of_words("dinge", case.words, case.language)) if case.words else None
    factories.make_stimulus_set(
        labels=labels, per_category=4 if case.words else 2, per_function=30, size_px=studies.SIZE_PX, picture=written
    )
    study = factories.collecting_study(
        protocol=PROTOCOL,
        design={**DESIGN, **case.design},
        language=case.language,
        ending={"comments": False, "problems": False, "device": False},
    )
    return studies.open_session(study)


def reads_the_instructions(person: Person, case: Case, name: str) -> None:
    page = person.page
    shown = page.locator("[data-screen=instructions-categorisation]")
    expect(shown.locator("[data-page]").first).to_contain_text(case.said, use_inner_text=True)
    shot(page, f"options-{name}-first")
    person.presses("next")
    person.plays_the_example()
    person.presses("next")
    expect(shown).to_contain_text(case.how, use_inner_text=True)
    offered = case.design.get("alternatives")
    expect(shown.locator("[data-rows=one]")).to_be_visible(visible=offered is not None)
    assert violations(page) == []
    before = page.viewport_size
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        fits(page, f"options-{name}-answers-{width}")
    page.set_viewport_size(before)
    person.presses("next")
    person.presses("next")


def on_the_screen(page: Any) -> list[str]:
    return [
        str(one)
        for one in page.eval_on_selector_all("[data-grid] [data-choice]", "all => all.map((one) => one.dataset.choice)")
    ]


@pytest.mark.parametrize("name", list(CASES))
def test_answers_among_what_is_offered(page: Any, live_server: Any, name: str) -> None:
    case = CASES[name]
    session = session_of(case)
    right = right_answers(session)
    offered = dict(session.trials.values_list("position", "options"))
    own = "alternatives" in case.design
    page.set_extra_http_headers({"Accept-Language": case.language})
    listener = Listener.of(page)
    person = Person(page, live_server.url)
    person.enters(session)
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    reads_the_instructions(person, case, name)
    places: set[tuple[Any, ...]] = set()
    wrong = [one for one in offered[0] if one != right[0]][-1]
    for block in session.blocks:
        person.presses("start")
        for position in range(block["first"], block["last"] + 1):
            person.sees_the_choices()
            assert on_the_screen(page) == offered[position]
            boxes = page.locator("[data-grid] [data-choice]")
            places.add(tuple(tuple(boxes.nth(n).bounding_box().values()) for n in range(boxes.count())))
            place = offered[position].index(right[position])
            if position == 0:
                every_choice_fits(page, f"options-{name}")
                page.click(f'[data-grid][data-shown] [data-choice="{wrong}"]')
                reads_what_it_was(page, right[0], wrong, f"options-{name}")
                person.sees_them_go()
            elif position % 2 and own:
                page.keyboard.press(str(place + 1))
                person.sees_them_go()
            else:
                person.clicks(right[position])
    person.sees("done")

    assert len(places) == 1, "the buttons stay in place"
    assert given(session) == {**right, 0: wrong}
    if own:
        kinds = dict(Response.objects.filter(session=session).values_list("position", "input_kind"))
        assert kinds == {position: "key" if position % 2 else "pointer" for position in right}
        assert len({tuple(one) for one in offered.values()}) > 1
    listener.was_told_nothing(session)
    assert person.complaints == []


def test_by_keyboard_alone(page: Any, live_server: Any) -> None:
    """Keys 1 and 2, or the arrows and Enter."""
    session = session_of(CASES["two"])
    right = right_answers(session)
    offered = dict(session.trials.values_list("position", "options"))
    person = Person(page, live_server.url)
    person.enters(session)
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    for _ in range(4):
        person.presses("next")
    for block in session.blocks:
        person.presses("start")
        for position in range(block["first"], block["last"] + 1):
            person.sees_the_choices()
            place = offered[position].index(right[position])
            if position % 2:
                page.keyboard.press("ArrowLeft")  # the first move lands on the first choice
                for _ in range(place):
                    page.keyboard.press("ArrowRight")
                page.keyboard.press("Enter")
            else:
                page.keyboard.press(str(place + 1))
            person.sees_them_go()
    person.sees("done")
    assert given(session) == right
    kinds = set(Response.objects.filter(session=session).values_list("input_kind", flat=True))
    assert kinds == {"key"}
