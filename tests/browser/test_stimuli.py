"""Pages of a stimulus set in a browser: usable by keyboard, at phone width, under the strict policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from humanexp.stimuli.models import Stimulus
from tests.browser import studies
from tests.browser.researcher import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FUNCTIONS = ["brightness", "gaussian_blur", "gaussian_noise"]


@pytest.fixture
def address(page: Any, live_server: Any, own_media: None, drawings: Path) -> str:
    """A signed-in browser and the address of a complete set."""
    studies.stimulus_set(drawings, name="seen", corruptions=FUNCTIONS, count=80)
    sign_in(page, live_server.url)
    return f"{live_server.url}/stimuli/sets/seen/"


def is_clean(page: Any) -> bool:
    """Nothing was refused by the policy, and nothing complained."""
    return page.evaluate("window.__refused") == [] and page.complaints == []


def becomes(page: Any, expression: str, wanted: object) -> bool:
    """Wait by asking: the page's policy lets no strings be evaluated inside it."""
    for _ in range(100):
        if page.evaluate(expression) == wanted:
            return True
        page.wait_for_timeout(50)
    return False


def focused(page: Any, attribute: str = "id") -> str:
    return str(page.evaluate("(name) => document.activeElement.getAttribute(name)", attribute))


def test_no_page_is_wider_than_a_phone_or_breaks_the_policy(page: Any, address: str) -> None:
    key = Stimulus.objects.filter(corruption="gaussian_blur").order_by("visual_change")[40].key
    site = address.split("/stimuli/")[0]
    for path in (
        address,
        f"{address}browse/",
        f"{address}browse/?corruption=all&low=0.5&high=0.6",
        f"{address}browse/?corruption=brightness&low=0.99",
        f"{address}browse/{key}/",
        f"{address}walk/?function=brightness&function=gaussian_blur&function=gaussian_noise",
        f"{address}delete/",
        f"{site}/stimuli/",
        f"{site}/stimuli/new/",
    ):
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(path)
        page.wait_for_load_state("networkidle")
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            excess = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert excess <= 0, (path, width, excess)
            unnamed = page.evaluate(
                """() => [...document.querySelectorAll("a, button, input:not([type=hidden]), select")].filter((one) =>
                  !one.textContent.trim() && !one.getAttribute("aria-label") && !one.labels?.length
                  && !one.querySelector("img[alt]:not([alt=''])")).map((one) => one.outerHTML)"""
            )
            assert unnamed == [], (path, unnamed)
            assert is_clean(page), (path, page.evaluate("window.__refused"), page.complaints)


def test_the_slider_walks_by_keyboard(page: Any, address: str) -> None:
    page.goto(f"{address}walk/?function=gaussian_noise&function=brightness&change=0.5")
    reads = "() => [...document.querySelectorAll('[data-walk-function]')].map((one) => one.dataset.walkStep)"
    assert becomes(page, reads, ["20", "20"])
    slider = page.locator("#walk-change")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "Δv 0.525"
    assert becomes(page, reads, ["21", "21"])
    change = page.inner_text("[data-walk-function=gaussian_noise] [data-walk-reached]")
    assert abs(float(change.removeprefix("Δv ")) - 0.525) <= 1 / 80 + 0.0005
    assert page.evaluate("document.querySelector('[data-walk-function=gaussian_noise] img').naturalWidth") == 112
    assert page.is_hidden("[data-walk-function=gaussian_noise] [data-walk-limit]")
    page.keyboard.press("End")
    assert becomes(page, reads, ["40", "40"])
    assert "out of reach: ends at Δv" in page.inner_text("[data-walk-function=brightness] [data-walk-limit]")
    page.keyboard.press("Home")
    assert becomes(page, reads, ["0", "0"])
    assert "change=0.000" in page.url
    assert is_clean(page)


def test_the_histogram_is_chosen_from_by_keyboard(page: Any, address: str) -> None:
    page.goto(f"{address}browse/?corruption=gaussian_noise")
    page.focus("#bar-0")
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    assert focused(page) == "bar-12"
    assert page.inner_text("[data-said]").startswith("Δv 0.300–0.325: ")
    page.evaluate("window.__same = true")
    page.keyboard.press("Enter")
    page.wait_for_selector("#bar-12[aria-current=true]")
    assert "low=0.3&high=0.325" in page.url
    assert page.evaluate("window.__same") is True
    shown = Stimulus.objects.filter(corruption="gaussian_noise", visual_change__gte=0.3, visual_change__lt=0.325)
    assert page.locator("a.thumbnail").count() == shown.count() > 0
    # The bar keeps the focus and is the one stop of the Tab key.
    assert focused(page) == "bar-12"
    assert page.evaluate("document.querySelectorAll('.histogram [tabindex=\"0\"]').length") == 1
    page.keyboard.press("End")
    assert focused(page) == "bar-39"
    page.go_back()
    assert becomes(page, "document.querySelectorAll('a.thumbnail').length", 48)
    assert page.locator(".tabs").count() == 1
    assert is_clean(page)


def test_the_map_is_one_stop_of_the_tab_key_beside_its_rows(page: Any, address: str) -> None:
    page.goto(address)
    page.focus("#bin-brightness-0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert focused(page) == "bin-gaussian_blur-1"
    assert "Gaussian blur, Δv 0.025–0.050" in page.inner_text("[data-said]")
    assert page.evaluate("document.querySelectorAll('.map [data-cell][tabindex=\"0\"]').length") == 1
    page.keyboard.press("Enter")
    page.wait_for_selector("#browse")
    assert "corruption=gaussian_blur&low=0.025&high=0.05" in page.url


def test_the_pictures_below_the_map_change_with_the_function(page: Any, address: str) -> None:
    page.goto(address)
    before = page.evaluate("[...document.querySelectorAll('.map__place img')].map((one) => one.src)")
    assert len(before) >= 8
    page.select_option("#shown-function", "gaussian_noise")
    page.wait_for_selector(".map__row.is-shown a[href*=gaussian_noise]")
    after = page.evaluate("[...document.querySelectorAll('.map__place img')].map((one) => one.src)")
    assert not set(before) & set(after)
    assert page.evaluate("document.querySelectorAll('.map [data-cell][tabindex=\"0\"]').length") == 1
    assert is_clean(page)


def test_filters_work_as_they_are_changed(page: Any, address: str) -> None:
    page.goto(f"{address}browse/")
    page.select_option("#id_category", "cat")
    page.wait_for_url("**category=cat**")
    assert becomes(page, "document.querySelectorAll('a.thumbnail').length < 48", True)
    texts = page.locator("a.thumbnail").all_inner_texts()
    assert texts and all(text.strip().startswith("cat") for text in texts)
    page.fill("#id_low", "0.9")
    page.fill("#id_high", "0.2")
    page.keyboard.press("Tab")
    page.wait_for_selector("[role=alert]")
    assert "ends before it begins" in page.inner_text("[role=alert]")
    assert page.complaints == []
    assert page.evaluate("window.__refused") == []


def test_original_and_stimulus_are_compared(page: Any, address: str) -> None:
    key = Stimulus.objects.filter(corruption="gaussian_noise").order_by("visual_change")[60].key
    page.goto(f"{address}browse/{key}/")
    visible = "(name) => getComputedStyle(document.querySelector(name)).visibility === 'visible'"
    original, stimulus = ".compare__original", ".compare__stimulus"
    boxes = [page.locator(f"{one} img").bounding_box() for one in (original, stimulus)]
    assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    page.focus("input[name=compare]:checked")
    page.keyboard.press("ArrowRight")
    assert not page.evaluate(visible, original) and page.evaluate(visible, stimulus)
    page.keyboard.press("ArrowRight")
    assert page.evaluate(visible, original) and not page.evaluate(visible, stimulus)
    boxes = [page.locator(f"{one} img").bounding_box() for one in (original, stimulus)]
    assert boxes[0] == boxes[1]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(
        "getComputedStyle(document.querySelector('.compare__stimulus img')).mixBlendMode === 'difference'"
    )
    page.keyboard.press("ArrowRight")
    assert becomes(page, "document.querySelector('.compare').classList.contains('is-original')", True)
    assert becomes(page, "document.querySelector('.compare').classList.contains('is-stimulus')", True)
    assert is_clean(page)


def test_who_wants_less_motion_is_not_offered_alternation(chromium: Any, page: Any, address: str) -> None:
    key = Stimulus.objects.filter(corruption="gaussian_noise").first().key
    context = chromium.new_context(reduced_motion="reduce", storage_state=page.context.storage_state())
    calm = context.new_page()
    calm.goto(f"{address}browse/{key}/")
    assert calm.is_visible("text=Difference")
    assert calm.is_hidden("[data-flicker]")
    context.close()


def test_all_functions_are_chosen_at_once_and_estimated(page: Any, address: str) -> None:
    page.goto(f"{address.split('/sets/')[0]}/new/")
    page.wait_for_selector(".estimate >> text=Choose pictures and functions")
    page.click("[data-choose-all]")
    boxes = page.locator("input[name=corruptions]")
    assert boxes.count() >= 14
    page.wait_for_selector(".estimate strong", timeout=60_000)
    stimuli = int(page.inner_text(".estimate strong").split()[0].replace(",", ""))
    assert stimuli == 48 + 1000 * boxes.count()
    assert is_clean(page)


def test_the_pages_can_be_used_without_scripts(chromium: Any, page: Any, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    plain = context.new_page()
    plain.goto(f"{address}browse/")
    plain.select_option("#id_corruption", "gaussian_noise")
    plain.click("noscript button, .filters button")
    assert "corruption=gaussian_noise" in plain.url
    plain.click("a[rel=next]")
    assert "after=" in plain.url
    assert plain.locator("a.thumbnail").count() == 32
    plain.click("a.thumbnail >> nth=0")
    assert plain.is_visible(".compare__original") and plain.is_visible(".compare__stimulus")
    context.close()
