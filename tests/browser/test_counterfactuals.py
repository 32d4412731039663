"""The pages of counterfactuals in a browser: nothing serious for axe, at two widths, under the strict policy."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.examples.pictures import draw
from analysis.generation.files import encode_png
from analysis.labels.files import default_labels
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.services import searches
from humanexp.counterfactuals.services.searches import create_search
from humanexp.jobs import runner
from humanexp.stimuli.models import SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from tests.browser.axe import violations
from tests.browser.looks import fits
from tests.browser.researcher import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]
CLEAN, ROBUST = (f"export:fixtures/classifiers/{name}.pt2" for name in ("clean", "robust"))


@pytest.fixture
def signed_in(page: Any, live_server: Any, tmp_path: Any) -> Any:
    """A browser with an account, a finished search and one that people judge."""
    for category in default_labels().ids:
        (tmp_path / "drawn" / category).mkdir(parents=True)
        (tmp_path / "drawn" / category / "1.png").write_bytes(encode_png(draw(category, 3, 112)))
    import_images(source=tmp_path / "drawn", order=ImportOrder(name="drawn"))
    asked = {
        "source_set": SourceSet.objects.get(name="drawn"), "classifier": CLEAN, "size_px": 112,
        "budget": 2,
    }  # fmt: skip
    pixel = SearchRun(name="pixels", generator="pixel:", oracle=f"classifier:{ROBUST}", **asked)
    people = SearchRun(
        name="people", generator="corruption:frost", oracle="crowd:", cap_cents=9000, population="scripted", **asked
    )
    for run in (pixel, people):
        create_search(run=run, pictures=6)
    runner.run_waiting(kinds=[searches.SEARCH_KIND])
    sign_in(page, live_server.url)
    return page


def test_pages_are_fit_for_everybody(signed_in: Any, live_server: Any) -> None:
    for name, path in (
        ("leaderboard", "counterfactuals/"),
        ("new", "counterfactuals/new/"),
        ("search", "counterfactuals/pixels/"),
        ("rounds", "counterfactuals/people/"),
    ):
        signed_in.set_viewport_size({"width": 390, "height": 900})
        signed_in.goto(f"{live_server.url}/{path}")
        signed_in.wait_for_load_state("networkidle")
        for width in (390, 1280):
            signed_in.set_viewport_size({"width": width, "height": 900})
            assert violations(signed_in) == [], name
            fits(signed_in, f"counterfactuals-{name}-{width}")
    assert signed_in.complaints == []


@pytest.mark.gate
def test_the_gallery_is_filtered_without_a_reload(signed_in: Any, live_server: Any) -> None:
    signed_in.set_viewport_size({"width": 1280, "height": 900})
    signed_in.goto(f"{live_server.url}/counterfactuals/pixels/")
    signed_in.evaluate("window.__same = true")
    signed_in.focus("#gallery a[href='?show=valid']")
    signed_in.keyboard.press("Enter")
    signed_in.wait_for_selector("#gallery a[href='?show=valid'][aria-current]")
    assert signed_in.evaluate("window.__same") is True
