"""Pages of a stimulus set in a browser: usable by keyboard, at phone width, under the strict policy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.stimuli.models import Stimulus
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from tests.analysis.generation.originals import write_originals
from tests.browser import studies
from tests.browser.looks import refused, within_its_window
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
    return refused(page) == [] and page.complaints == []


def pictures_of(page: Any) -> list[str]:
    """Below the map."""
    expect(page.locator(".map__place img").nth(7), "there are eight and more").to_be_attached()
    sources: list[str] = page.eval_on_selector_all(".map__place img", "all => all.map((one) => one.src)")
    return sources


def unnamed(page: Any) -> list[str]:
    """Controls for which a screen reader has no word."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("a, button, input:not([type=hidden]), select")].filter((one) =>
          !one.textContent.trim() && !one.getAttribute("aria-label") && !one.labels?.length
          && !one.querySelector("img[alt]:not([alt=''])")).map((one) => one.outerHTML)"""
    )
    return found


def number_in(said: Any) -> float:
    """The visual change that a text names."""
    return float(said.inner_text().removeprefix("Δv "))


def test_no_page_is_wider_than_a_phone_or_breaks_the_policy(page: Any, address: str) -> None:
    key = Stimulus.objects.filter(corruption="gaussian_blur").order_by("visual_change")[40].key
    site = address.split("/stimuli/")[0]
    for path in (
        address,
        f"{address}browse/",
        f"{address}browse/?corruption=all&low=0.5&high=0.6",
        f"{address}browse/?corruption=brightness&low=0.99",
        f"{address}browse/{key}/",
        f"{address}figures/?figure=strengths&function=brightness&at=0.2",
        f"{address}delete/",
        f"{site}/stimuli/",
        f"{site}/stimuli/new/",
    ):
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(path)
        page.wait_for_load_state("networkidle")
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            within_its_window(page, f"{path} at {width}")
            assert unnamed(page) == [], path
            assert is_clean(page), (path, refused(page), page.complaints)


def test_the_histogram_is_chosen_from_by_keyboard(page: Any, address: str) -> None:
    page.goto(f"{address}browse/?corruption=gaussian_noise")
    page.focus("#bar-0")
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#bar-12")).to_be_focused()
    expect(page.locator("[data-said]")).to_have_text(re.compile(r"^Δv 0\.300–0\.325: "), use_inner_text=True)
    page.evaluate("window.__same = true")
    page.keyboard.press("Enter")
    page.wait_for_selector("#bar-12[aria-current=true]")
    expect(page).to_have_url(re.compile(r"low=0\.3&high=0\.325"))
    assert page.evaluate("window.__same") is True
    shown = Stimulus.objects.filter(corruption="gaussian_noise", visual_change__gte=0.3, visual_change__lt=0.325)
    assert shown.exists()
    expect(page.locator("a.thumbnail")).to_have_count(shown.count())
    # The bar keeps the focus and is the one stop of the Tab key.
    expect(page.locator("#bar-12")).to_be_focused()
    expect(page.locator('.histogram [tabindex="0"]')).to_have_count(1)
    page.keyboard.press("End")
    expect(page.locator("#bar-39")).to_be_focused()
    page.go_back()
    expect(page.locator("a.thumbnail")).to_have_count(48)
    expect(page.locator(".tabs")).to_have_count(1)
    assert is_clean(page)


def test_the_map_is_one_stop_of_the_tab_key_beside_its_rows(page: Any, address: str) -> None:
    page.goto(address)
    page.focus("#bin-brightness-0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#bin-gaussian_blur-1")).to_be_focused()
    expect(page.locator("[data-said]")).to_contain_text("Gaussian blur, Δv 0.025–0.050", use_inner_text=True)
    expect(page.locator('.map [data-cell][tabindex="0"]')).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_selector("#browse")
    expect(page).to_have_url(re.compile(r"corruption=gaussian_blur&low=0\.025&high=0\.05"))


def test_the_pictures_below_the_map_change_with_the_function(page: Any, address: str) -> None:
    page.goto(address)
    before = pictures_of(page)
    page.select_option("#shown-function", "gaussian_noise")
    page.wait_for_selector(".map__row.is-shown a[href*=gaussian_noise]")
    expect(page.locator(".map__place img").first).not_to_have_js_property("src", before[0])
    assert not set(before) & set(pictures_of(page))
    expect(page.locator('.map [data-cell][tabindex="0"]')).to_have_count(1)
    assert is_clean(page)


def test_filters_work_as_they_are_changed(page: Any, address: str) -> None:
    page.goto(f"{address}browse/")
    page.select_option("#id_category", "cat")
    page.wait_for_url("**category=cat**")
    thumbnails = page.locator("a.thumbnail")
    expect(thumbnails.nth(47)).to_have_count(0)
    expect(thumbnails.filter(has_not_text=re.compile(r"^\s*cat"))).to_have_count(0)
    expect(thumbnails.first).to_be_visible()
    page.fill("#id_low", "0.9")
    page.fill("#id_high", "0.2")
    page.keyboard.press("Tab")
    expect(page.locator("[role=alert]").first).to_contain_text("ends before it begins", use_inner_text=True)
    assert page.complaints == []
    assert refused(page) == []


def test_original_and_stimulus_are_compared(page: Any, address: str) -> None:
    key = Stimulus.objects.filter(corruption="gaussian_noise").order_by("visual_change")[60].key
    page.goto(f"{address}browse/{key}/")
    original, stimulus = ".compare__original", ".compare__stimulus"
    boxes = [page.locator(f"{one} img").bounding_box() for one in (original, stimulus)]
    assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    page.focus("input[name=compare]:checked")
    page.keyboard.press("ArrowRight")
    expect(page.locator(original)).to_have_css("visibility", "hidden")
    expect(page.locator(stimulus)).to_have_css("visibility", "visible")
    page.keyboard.press("ArrowRight")
    expect(page.locator(original)).to_have_css("visibility", "visible")
    expect(page.locator(stimulus)).to_have_css("visibility", "hidden")
    boxes = [page.locator(f"{one} img").bounding_box() for one in (original, stimulus)]
    assert boxes[0] == boxes[1]
    page.keyboard.press("ArrowRight")
    expect(page.locator(f"{stimulus} img")).to_have_css("mix-blend-mode", "difference")
    page.keyboard.press("ArrowRight")
    # Seen in every frame, not now and then as an expectation looks: the two go on alternating.
    page.wait_for_selector(".compare.is-original")
    page.wait_for_selector(".compare.is-stimulus")
    assert is_clean(page)


def test_who_wants_less_motion_is_not_offered_alternation(chromium: Any, page: Any, address: str) -> None:
    key = Stimulus.objects.filter(corruption="gaussian_noise").first().key
    context = chromium.new_context(reduced_motion="reduce", storage_state=page.context.storage_state())
    calm = context.new_page()
    calm.goto(f"{address}browse/{key}/")
    expect(calm.locator("text=Difference").first).to_be_visible()
    expect(calm.locator("[data-flicker]").first).to_be_hidden()
    context.close()


def test_all_functions_are_chosen_at_once_and_estimated(page: Any, address: str) -> None:
    page.goto(f"{address.split('/sets/')[0]}/new/")
    page.wait_for_selector(".estimate >> text=Choose pictures and functions")
    page.click("[data-choose-all]")
    boxes = page.locator("input[name=corruptions]")
    expect(boxes.nth(13), "there are 14 and more").to_be_attached()
    wanted = re.compile(f"^{48 + 1000 * boxes.count():,}\\b")
    expect(page.locator(".estimate strong").first).to_have_text(wanted, use_inner_text=True, timeout=60_000)
    assert is_clean(page)


def test_the_pages_can_be_used_without_scripts(chromium: Any, page: Any, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    plain = context.new_page()
    plain.goto(f"{address}browse/")
    plain.select_option("#id_corruption", "gaussian_noise")
    plain.click("noscript button, .filters button")
    expect(plain).to_have_url(re.compile("corruption=gaussian_noise"))
    plain.click("a[rel=next]")
    expect(plain).to_have_url(re.compile("after="))
    expect(plain.locator("a.thumbnail")).to_have_count(32)
    plain.click("a.thumbnail >> nth=0")
    expect(plain.locator(".compare__original")).to_be_visible()
    expect(plain.locator(".compare__stimulus")).to_be_visible()
    context.close()


def test_choosing_small_pictures_suggests_how_they_are_shown(
    page: Any, live_server: Any, own_media: None, drawings: Path, tmp_path: Path
) -> None:
    write_originals(tmp_path / "small", {"cat": 2, "dog": 2}, size_px=32)
    small = import_images(source=tmp_path / "small", order=ImportOrder(name="small")).source_set
    large = import_images(source=drawings, order=ImportOrder(name="large")).source_set
    sign_in(page, live_server.url)
    page.goto(f"{live_server.url}/stimuli/new/")
    size, factor, pictures = (page.locator(f"[name={name}]") for name in ("size_px", "enlarged", "source_set"))
    expect(pictures).to_have_value(str(large.pk))
    expect(size).to_have_value("224")
    expect(factor).to_have_value("1")
    size.fill("160")
    pictures.select_option(str(small.pk))
    expect(factor).to_have_value("7")
    expect(size).to_have_value("224")
    pictures.select_option(str(large.pk))
    expect(factor).to_have_value("1")
    size.fill("160")
    pictures.select_option(str(large.pk))
    expect(size).to_have_value("160")
    assert is_clean(page)
