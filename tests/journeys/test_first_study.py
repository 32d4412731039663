"""A first study by the way that an empty console shows: own pictures, own answers, a network, curves on one axis."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.classifiers import onnx_network
from analysis.classifiers.onnx_network import is_installed
from tests.journeys.newcomer import LONG_MS, Hand, draw_pictures
from tests.journeys.site import Site
from tests.journeys.test_newcomer import browser, people  # noqa: F401  (fixtures)
from tests.journeys.test_newcomer_recruits import _agrees_and_takes_it, _checks, _signs_in, house  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(1800)]
#: Of the researcher, without the trials.
MOST_INTERACTIONS = 30


@pytest.fixture(params=["drawings", "photographs"])
def pictures(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """What a lab has on its disk: a folder, packed by nobody. Photographs come with a network that knows them."""
    if request.param == "photographs":
        folder = Path(os.environ.get("REFERENCE_DATA", "/nonexistent")) / "photos16"
        if not (folder.is_dir() and is_installed(onnx_network.SPECS[0])):
            pytest.skip("needs REFERENCE_DATA with photos16, and requirements/networks.txt")
        shutil.copytree(folder, tmp_path / "photographs")
        return tmp_path / "photographs"
    draw_pictures(tmp_path / "drawings", per_category=4, size_px=224)
    return tmp_path / "drawings"


def test_from_own_pictures_to_a_networks_curve(house: Site, people: tuple[Hand, Hand], pictures: Path) -> None:  # noqa: F811
    ada, at_the_link = people
    _signs_in(ada, house)
    _next(ada)
    _gives_the_folder(ada, pictures)
    _makes_stimuli(ada)
    _studies(ada, "way-study")
    _next(ada)
    ada.field("contact", "ada@example.org")
    ada.press(ada.page.locator("[data-create]"), "create")
    ada.page.locator("[data-next]").wait_for(timeout=LONG_MS)
    _checks(ada)
    ada.button("Open the link")
    ada.reads("This study is recruiting.")
    _takes_it_herself(at_the_link, house)
    _studies(ada, "way-network")
    _next(ada)
    ada.shot("evaluate")
    if pictures.name != "drawings":
        expect(ada.page.locator('[name="spec"]')).to_have_value(re.compile("^lite:"), timeout=LONG_MS)
    ada.button("Evaluate")
    ada.page.get_by_text("complete", exact=True).first.wait_for(timeout=LONG_MS)
    ada.shot("evaluated")
    _studies(ada, "way-results")
    _next(ada)
    ada.button("Run the analysis")
    figure = ada.page.locator("[data-figure] svg, .js-plotly-plot svg").first
    figure.wait_for(timeout=LONG_MS)
    ada.shot("results")
    ada.page.goto(house.addresses.web)
    expect(ada.page.locator(".way"), "whoever went the way is shown it no more").to_have_count(0, timeout=LONG_MS)
    assert ada.page.complaints == at_the_link.page.complaints == []
    assert len(ada.done) <= MOST_INTERACTIONS, ada.done


def _studies(ada: Hand, shot: str) -> None:
    ada.link("Studies")
    ada.page.locator(".way").wait_for(timeout=LONG_MS)
    ada.shot(shot)


def _next(ada: Hand) -> None:
    button = ada.page.locator("[data-next-step]").first
    ada.press(button, f"the way: {button.inner_text()}")


def _gives_the_folder(ada: Hand, pictures: Path) -> None:
    ada.field("name", "drawings")
    ada.done.append("choose the folder")
    ada.page.locator("[data-folder]").set_input_files(str(pictures))
    files = [file for file in pictures.rglob("*") if file.is_file()]
    ada.reads(f"Packed: {len(files)} of {len(files)} files.")
    ada.shot("folder")
    ada.button("Import the pictures")
    ada.page.locator('a[href*="source_set="]').wait_for(timeout=LONG_MS)
    count = sum(file.suffix in (".png", ".jpg") for file in files)
    ada.reads(f"{count} pictures of 16 categories")
    ada.shot("imported")


def _makes_stimuli(ada: Hand) -> None:
    ada.press(ada.page.locator('a[href*="source_set="]'), "make stimuli of them")
    ada.press(ada.page.locator('input[name="corruptions"][value="gaussian_noise"]'), "gaussian noise")
    ada.field("count", "60")
    ada.button("Make the stimuli")
    ada.page.get_by_text("complete", exact=True).first.wait_for(timeout=LONG_MS)


def _takes_it_herself(at_the_link: Hand, site: Site) -> None:
    [campaign] = site.platform("SELECT entry FROM recruitment_campaign")
    page: Any = at_the_link.page
    page.goto(f"{site.addresses.web}/take/{campaign['entry']}/")
    _agrees_and_takes_it(at_the_link, page, re.escape(site.addresses.web))
