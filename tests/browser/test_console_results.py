"""The dashboard in a browser: drawn under the strict policy, usable by keyboard, readable without a script."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import expect

from tests.browser.charts import becomes, drawn_bands, drawn_lines
from tests.browser.looks import fits, refused
from tests.browser.researcher import sign_in
from tests.results.large import MODELS, NAMES, make_large_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def address(page: Any, live_server: Any) -> str:
    """A signed-in browser and the address of an analysed study's results."""
    study = make_large_study(sign_in(page, live_server.url), corruptions=2, models=1)
    return f"{live_server.url}/studies/{study.slug}/results/"


def test_the_chart_is_drawn_under_the_strict_policy(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("[data-drawn]")
    assert refused(page) == []
    assert page.complaints == []
    assert becomes(drawn_lines, page, 2)
    box = page.locator("[data-chart]").bounding_box()
    plot = page.locator(".js-plotly-plot .main-svg").first.bounding_box()
    assert plot["height"] <= box["height"] + 1 and plot["width"] <= box["width"] + 1


@pytest.mark.gate
def test_switching_by_keyboard_redraws_without_a_reload(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("[data-drawn]")
    page.evaluate("window.__same = true")
    words = page.get_attribute("[data-chart]", "aria-label")
    page.focus("input[name=figure]:checked")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "(words) => document.querySelector('[data-chart]').getAttribute('aria-label') !== words", arg=words
    )
    assert page.evaluate("window.__same") is True
    expect(page).to_have_url(re.compile(re.escape(f"figure=accuracy--{NAMES[1]}")))
    page.wait_for_selector(f'[data-panel="accuracy--{NAMES[1]}"]')
    expect(page.locator("[data-panel]")).to_have_count(1)
    assert refused(page) == [] and page.complaints == []


def test_legend_and_bands_switch_series(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("[data-drawn]")
    page.uncheck(f"input[name=observer][value='{MODELS[0]}']")
    assert becomes(drawn_lines, page, 1)
    page.check(f"input[name=observer][value='{MODELS[0]}']")
    assert becomes(drawn_lines, page, 2)
    assert becomes(drawn_bands, page, 2)
    page.locator("input[name=band]").last.check(force=True)
    assert becomes(drawn_bands, page, 0)


def test_the_chart_has_a_table_twin_and_landmarks(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("[data-drawn]")
    page.locator(".about summary", has_text="Table").click()
    page.wait_for_selector(".about caption >> text=Rates in bins")
    expect(page.locator(".about table td").nth(20), "there are more than 20").to_be_attached()
    found = page.evaluate(
        """() => ({
          main: document.querySelectorAll("main").length,
          h1: document.querySelectorAll("h1").length,
          unnamed: [...document.querySelectorAll("input:not([type=hidden]), select, textarea")]
            .filter((one) => !one.labels.length && !one.getAttribute("aria-label")).length,
          buttons: [...document.querySelectorAll("button, a[href], summary")]
            .filter((one) => !one.textContent.trim() && !one.getAttribute("aria-label")).length,
          pictures: [...document.querySelectorAll("img:not([alt]), [role=img]:not([aria-label])")].length,
          tables: [...document.querySelectorAll("table")].filter((one) => !one.querySelector("th[scope]")).length,
          ids: [...document.querySelectorAll("[id]")].map((one) => one.id)
            .filter((id, place, all) => all.indexOf(id) !== place),
          levels: [...document.querySelectorAll("h1, h2, h3, h4")].map((one) => Number(one.tagName[1])),
          lang: document.documentElement.lang,
        })"""
    )
    levels = found.pop("levels")
    assert found == {
        "main": 1,
        "h1": 1,
        "unnamed": 0,
        "buttons": 0,
        "pictures": 0,
        "tables": 0,
        "ids": [],
        "lang": "en",
    }
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_runs_over_the_edge(page: Any, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    for name, path in {"results": address, "study": address.replace("results/", ""), "studies": "/"}.items():
        page.goto(urljoin(address, path))
        fits(page, f"console-{name}-{width}")


def test_without_scripts_the_figure_is_a_picture_and_can_be_chosen(chromium: Any, page: Any, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    plain = context.new_page()
    plain.goto(f"{address}?figure=accuracy--{NAMES[1]}")
    expect(plain.locator("noscript img").first).to_be_visible()
    expect(plain.locator(f"input[name=figure][value='accuracy--{NAMES[1]}']")).to_be_checked()
    context.close()
