"""Pages of labels in a browser: the grid as in a trial, which takes no answers, at any width, without complaints."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.labels.files import labels_of_words
from humanexp.stimuli.services.label_sets import store_labels
from tests.browser.looks import fits, refused
from tests.browser.researcher import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WORDS = ("Apple", "Pear", "Quince", "Plum", "Cherry", "Fig", "Date", "Lemon", "Dragon fruit", "Pomegranate")
#: name, columns of the grid, choices, icons
GRIDS = [("entry16", 4, 16, 16), ("cifar10", 4, 10, 0), ("fruits", 4, 10, 0)]


@pytest.mark.parametrize("width", [1280, 390])
def test_labels_are_shown_as_in_a_trial(page: Any, live_server: Any, own_media: None, width: int) -> None:
    store_labels(labels_of_words("fruits", WORDS))
    page.set_viewport_size({"width": width, "height": 844})
    sign_in(page, live_server.url)
    for path in ("", "new/", "imagenet1000/"):
        page.goto(f"{live_server.url}/stimuli/labels/{path}")
        fits(page, f"labels-{path.strip('/') or 'list'}-{width}")
    for name, columns, choices, icons in GRIDS:
        page.goto(f"{live_server.url}/stimuli/labels/{name}/")
        grid = page.locator(".stage__grid")
        expect(grid.locator(".choice")).to_have_count(choices)
        expect(grid.locator(".choice img")).to_have_count(icons)
        expect(grid).to_have_attribute("data-columns", str(columns))
        first, second = grid.locator(".choice").nth(0).bounding_box(), grid.locator(".choice").nth(1).bounding_box()
        assert first["y"] == second["y"] and abs(first["width"] - first["height"]) < 1
        fits(page, f"labels-{name}-{width}")
        grid.locator(".choice").nth(1).click()
        page.keyboard.press("ArrowRight")
        expect(page.locator(".choice[data-mark], .choice:focus")).to_have_count(0)
    assert refused(page) == [] and page.complaints == []
