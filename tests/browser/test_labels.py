"""People answer among 2 to 30 labels: by pointer and by keyboard, on a grid that fits, told only what they may know."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from analysis.labels.files import labels_of_words, shipped
from analysis.labels.space import Label, LabelSpace
from humanexp.core.storage import media_path
from humanexp.participation.models import Response, Session
from humanexp.stimuli.models import LabelSet
from humanexp.stimuli.services.label_sets import label_set_named, store_labels
from tests import factories
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.listener import Listener
from tests.browser.looks import fits, shot
from tests.browser.person import Person
from tests.browser.studies import given, right_answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]

#: Labels without groups have no negatives.
DESIGN = {
    "sessions": 2,
    "main_trials": 6,
    "minimum_main_trials": 4,
    "practice_trials": 3,
    "gold_trials": 1,
    "negative_trials": 0,
    "consistency_pairs": 0,
    "clean_trials": 1,
    "block_trials": 5,
}
#: A mistake in practice stays on the screen until a press.
PROTOCOL = {"name": "vcr", "size_px": studies.SIZE_PX, **studies.BRIEF, "feedback_wrong_ms": 20_000}
WINDOWS = ((390, 844), (844, 390), (1280, 800))
#: The smallest target for a finger.
TARGET_PX = 44
GERMAN = ("Schlüsselbund", "Taschenlampe", "Fahrradhelm", "Glas", "Ei")
MEASURE = """() => [...document.querySelectorAll("[data-grid] [data-choice]")].map((button) => {
  const box = button.getBoundingClientRect();
  const range = document.createRange();
  range.selectNodeContents(button);
  const text = range.getBoundingClientRect();
  return {
    name: button.dataset.choice,
    width: box.width,
    height: box.height,
    isInside: box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight,
    overflows: button.scrollWidth > button.clientWidth || button.scrollHeight > button.clientHeight
      || text.left < box.left || text.right > box.right || text.top < box.top || text.bottom > box.bottom,
  };
})"""


@dataclass(frozen=True)
class Case:
    """Labels, and what their page has to look like."""

    space: Callable[[], LabelSpace]
    columns: int
    rows: int
    said: str
    first: str
    language: str = "en"

    def keys(self, choice: str) -> list[str]:
        """What answers so: row and column, or the number where there is one row."""
        row, column = divmod(self.space().in_grid.index(choice), self.columns)
        return [str(column + 1)] if self.rows == 1 else [str(row + 1), str(column + 1)]


def thirty() -> LabelSpace:
    return LabelSpace(name="thirty", labels=tuple(Label(id=f"thing-{n:02d}") for n in range(30)))


CASES: Mapping[str, Case] = {
    "digits": Case(lambda: shipped("mnist"), 3, 4, "say which of 10 things it showed", "1"),
    "germans": Case(
        lambda: labels_of_words("dinge", GERMAN, "de"), 3, 2, "welches von 5 Dingen es gezeigt hat", GERMAN[0], "de"
    ),
    "thirty": Case(thirty, 6, 5, "say which of 30 things it showed", "thing-00"),
    "two": Case(lambda: labels_of_words("tableware", ("Cup", "Plate")), 2, 1, "say which of 2 things it showed", "Cup"),
}


def written(number: int) -> tuple[str, str]:
    """A grey picture of its own for every number: its file in the folder of this test, and its digest."""
    path = media_path(f"tests/{number}.png")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (studies.SIZE_PX, studies.SIZE_PX), (number % 256, number // 256, 128)).save(path)
    return f"tests/{number}.png", hashlib.sha256(path.read_bytes()).hexdigest()


def session_among(case: Case) -> Session:
    space = case.space()
    labels: LabelSet | None = label_set_named(space.name) if space.name == "mnist" else store_labels(space)
    factories.make_stimulus_set(
        labels=labels, per_category=max(2, 16 // len(space)), per_function=30, size_px=studies.SIZE_PX, picture=written
    )
    study = factories.collecting_study(
        protocol=PROTOCOL,
        design=DESIGN,
        language=case.language,
        ending={"comments": False, "problems": False, "device": False},
    )
    return studies.open_session(study)


def every_choice_fits(page: Any, name: str) -> None:
    """In all windows; nothing is laid out anew between trials, so one look at the grid is enough."""
    before = page.viewport_size
    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        shot(page, f"labels-{name}-grid-{width}x{height}")
        for one in page.evaluate(MEASURE):
            place = f"{one['name']} in {width} x {height}: {one}"
            assert min(one["width"], one["height"]) >= TARGET_PX, place
            assert one["isInside"], place
            assert not one["overflows"], place
    page.set_viewport_size(before)


def reads_the_instructions(person: Person, case: Case, name: str) -> None:
    page = person.page
    shown = page.locator("[data-screen=instructions-categorisation]")
    expect(shown).to_contain_text(case.said)
    person.presses("next")
    person.plays_the_example()
    expect(shown.locator("[data-example-answer]")).to_contain_text(f": {case.first}")
    assert violations(page) == []
    shot(page, f"labels-{name}-example")
    person.presses("next")
    cards = shown.locator("[data-choices] li")
    space = case.space()
    expect(cards).to_have_text([space[one].word(case.language) for one in space.in_grid], use_inner_text=True)
    expect(shown.locator("[data-rows=one]")).to_be_visible(visible=case.rows == 1)
    expect(shown.locator("[data-rows=several]")).to_be_visible(visible=case.rows > 1)
    expect(shown.locator("[data-numbers]")).to_be_visible(visible=name == "digits")
    expect(shown.locator("[data-choices]")).to_have_attribute("style", re.compile(rf"--columns: {case.columns};"))
    assert violations(page) == []
    before = page.viewport_size
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        fits(page, f"labels-{name}-answers-{width}")
    page.set_viewport_size(before)
    person.presses("next")
    person.presses("next")


def reads_what_it_was(page: Any, right: str, wrong: str, name: str) -> None:
    """Until a press."""
    page.wait_for_selector(".stage__verdict[data-kind=wrong]")
    expect(page.locator("[data-mark=right]")).to_have_attribute("data-choice", right)
    expect(page.locator("[data-mark=wrong]")).to_have_attribute("data-choice", wrong)
    assert violations(page) == []
    before = page.viewport_size
    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        shot(page, f"labels-{name}-feedback-{width}x{height}")
    page.set_viewport_size(before)
    page.wait_for_timeout(500)  # a press sooner than 400 ms belongs to the answer
    page.keyboard.press("Shift")


@pytest.mark.parametrize("name", list(CASES))
def test_answers_among_any_labels(page: Any, live_server: Any, name: str) -> None:
    case = CASES[name]
    session = session_among(case)
    right = right_answers(session)
    page.set_extra_http_headers({"Accept-Language": case.language})
    listener = Listener.of(page)
    person = Person(page, live_server.url)
    person.enters(session)
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    reads_the_instructions(person, case, name)
    mistaken = next(one for one in case.space().ids if one != right[0])
    stages = set()
    for block in session.blocks:
        person.presses("start")
        for position in range(block["first"], block["last"] + 1):
            person.sees_the_choices()
            if position == 0:
                every_choice_fits(page, name)
                page.click(f'[data-grid][data-shown] [data-choice="{mistaken}"]')
                reads_what_it_was(page, right[0], mistaken, name)
                person.sees_them_go()
                continue
            if position > 1:  # from the first key on, numbers are on the choices
                stages.add(page.evaluate("document.querySelector('[data-grid]').outerHTML"))
            if position % 2:
                for key in case.keys(right[position]):
                    page.keyboard.press(key)
                person.sees_them_go()
            else:
                person.clicks(right[position])
    person.sees("done")

    assert given(session) == {**right, 0: mistaken}
    inputs = dict(Response.objects.filter(session=session).values_list("position", "input_kind"))
    assert inputs == {position: "key" if position % 2 else "pointer" for position in right}
    assert len(stages) == 1, "the page is the same in every trial"
    listener.was_told_nothing(session)
    assert person.complaints == []
