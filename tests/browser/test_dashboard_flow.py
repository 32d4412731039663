"""How an analyst defends a finding: from the overview to a band, an exclusion, a figure and a table for the paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.results import selectors
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.charts import becomes, drawn_lines
from tests.browser.looks import fits, refused
from tests.browser.researcher import sign_in
from tests.results.large import EXCLUDED, MODELS, NAMES, make_large_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROOMS = ("", "models/", "corruptions/", "people/", "methods/")


@pytest.fixture
def study(page: Any, live_server: Any, own_media: None) -> Study:
    """A signed-in browser, and a study with a stored analysis."""
    return make_large_study(sign_in(page, live_server.url), corruptions=3, models=3)


@pytest.fixture
def results(live_server: Any, study: Study) -> str:
    return f"{live_server.url}/studies/{study.slug}/results/"


def test_a_finding_is_defended(page: Any, results: str, study: Study, tmp_path: Path) -> None:
    found = selectors.findings(selectors.latest_run(study))
    people = next(one for one in found.human_curves if one.property == "accuracy")

    # Open the study: what was asked, of how many, who does not count, the curves.
    page.goto(results)
    page.wait_for_selector("[data-drawn]")
    expect(page.locator(".summary")).to_contain_text("48", use_inner_text=True)
    assert becomes(drawn_lines, page, 4)

    # Switch a model off.
    page.uncheck(f"input[name=observer][value='{MODELS[1]}']")
    assert becomes(drawn_lines, page, 3)

    # Read people's band at a visual change of 0.8, then the simultaneous one.
    page.fill("input[name=v]", "0.80")
    place = people.band.v.index(0.8)
    reading = page.locator("[data-reading=people]")
    for kind, label in (("pointwise", "95 %"), ("simultaneous", "83.4 %")):
        page.locator("input[name=band]").and_(page.locator(f"[value^='{label}']")).check(force=True)
        page.wait_for_selector(f"[data-read-band] >> text={label}")
        band = people.band.of_kind(kind)
        ends = f"{band.lower[place]:.3f}–{band.upper[place]:.3f}"
        expect(reading).to_have_text(f"{people.band.estimate[place]:.3f} {ends}", use_inner_text=True)

    # Hovering says the same, with the number of answers.
    page.evaluate(
        """() => {
          const chart = document.querySelector("[data-chart]");
          const curveNumber = chart.data.findIndex(({ meta }) => meta.kind === "line" && meta.observer === "people");
          window.Plotly.Fx.hover(chart, [{ curveNumber, pointNumber: 80 }]);
        }"""
    )
    hovered = page.locator(".hoverlayer")
    expect(hovered).to_contain_text(f"{people.band.lower[place]:.3f} to {people.band.upper[place]:.3f}")
    expect(hovered).to_contain_text("answers in this bin")

    # The figure as PDF: what is shown, no more.
    page.locator(".about summary", has_text="Figure for a paper").click()
    link = page.locator("a[data-download]", has_text="PDF").first
    expect(link).to_have_attribute("href", re.compile("observer=people"))
    expect(link).to_have_attribute("href", re.compile(r"83\.4"))
    expect(link).not_to_have_attribute("href", re.compile(re.escape(f"observer={MODELS[1]}")))
    with page.expect_download() as download:
        link.click()
    path = tmp_path / "figure.pdf"
    download.value.save_as(path)
    assert path.read_bytes().startswith(b"%PDF")

    # The table as LaTeX.
    page.locator(".about summary", has_text="Table").click()
    with page.expect_download() as download:
        page.locator(".about a", has_text="LaTeX").first.click()
    path = tmp_path / "table.tex"
    download.value.save_as(path)
    text = path.read_text(encoding="utf-8")
    assert r"\toprule" in text and f"people & {people.n} & {people.area:.3f} [" in text

    # Why were twelve people excluded?
    page.locator(".summary a", has_text="12").first.click()
    page.wait_for_selector("#flow")
    reason, count = next(iter(EXCLUDED.items()))
    page.locator("#flow a", has_text=reason).click()
    page.wait_for_selector("#sessions")
    expect(page.locator("#sessions tbody tr")).to_have_count(count)
    assert refused(page) == [] and page.complaints == []


def test_another_corruption_keeps_what_was_switched_off(page: Any, results: str) -> None:
    page.goto(results)
    page.wait_for_selector("[data-drawn]")
    page.uncheck(f"input[name=observer][value='{MODELS[0]}']")
    page.fill("input[name=v]", "0.40")
    page.locator(f"input[name=figure][value='accuracy--{NAMES[1]}']").check(force=True)
    page.wait_for_selector(f"[data-panel='accuracy--{NAMES[1]}']")
    expect(page.locator(f"input[name=observer][value='{MODELS[0]}']")).not_to_be_checked()
    expect(page.locator("input[name=v]")).to_have_value("0.40")
    assert becomes(drawn_lines, page, 3)
    expect(page).to_have_url(re.compile(re.escape(f"figure=accuracy--{NAMES[1]}")))


def test_the_leaderboard_is_sorted_and_charts_are_swapped(page: Any, results: str) -> None:
    page.goto(results + "models/")
    page.wait_for_selector("[data-plot][data-drawn]")
    names = page.locator("#card-leaderboard table").first.locator("tbody th")
    best = names.first.inner_text()
    head = page.locator("#card-leaderboard th", has_text="HMRI").first
    head.locator("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(names.first).to_have_text(best, use_inner_text=True)
    head.locator("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(names.last).to_have_text(best, use_inner_text=True)
    title = page.inner_text("#title-indices")
    page.select_option("#choose-indices", f"indices--consistency--{NAMES[2]}")
    page.wait_for_function("(before) => document.querySelector('#title-indices').innerText !== before", arg=title)
    page.wait_for_selector("#card-indices [data-plot][data-drawn]")
    expect(page.locator("#title-indices")).to_contain_text("consistency", use_inner_text=True)
    assert refused(page) == [] and page.complaints == []


def test_the_plan_is_frozen_after_a_confirmation(page: Any, results: str, study: Study) -> None:
    page.goto(results + "methods/")
    page.locator("#plan summary", has_text="Freeze the plan").click()
    page.click("#plan button[type=submit]")
    assert selectors.plan_of(study) is None, "the browser asks for the confirmation first"
    page.check("#plan input[name=confirmed]")
    page.click("#plan button[type=submit]")
    page.wait_for_selector("[data-plan-digest]")
    plan = selectors.plan_of(study)
    assert plan is not None
    expect(page.locator("[data-plan-digest]")).to_have_text(plan.digest, use_inner_text=True)


def test_no_room_is_too_wide_or_shuts_anybody_out(page: Any, results: str) -> None:
    for room in ROOMS:
        page.set_viewport_size({"width": 1280, "height": 860})
        page.goto(results + room)
        page.wait_for_load_state("networkidle")
        assert violations(page) == [], room
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 860})
            fits(page, f"room-{room.strip('/')}-{width}")
        assert refused(page) == [] and page.complaints == [], room


def test_paper_shows_the_chart_and_the_numbers_without_controls(page: Any, results: str) -> None:
    page.goto(results)
    page.wait_for_selector("[data-drawn]")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    # Paper is no window: nothing is told of a new size.
    drawn = page.evaluate(
        """() => {
          const chart = document.querySelector("[data-chart]"), drawing = chart.querySelector(".main-svg");
          const before = drawing.getBoundingClientRect();
          chart.style.width = "400px";
          const after = drawing.getBoundingClientRect();
          return [after.width, after.height / after.width - before.height / before.width];
        }"""
    )
    assert drawn == pytest.approx([400, 0], abs=0.02)
    page.evaluate("document.querySelector('[data-chart]').style.width = ''")
    expect(page.locator("[data-chart]")).to_be_visible()
    expect(page.locator("[data-reading=people]")).to_be_visible()
    for control in (".rooms", ".choice__change", ".about", "input[name=observer]", ".btn"):
        expect(page.locator(control).first, control).to_be_hidden()
