"""Somebody of the practice panel in a browser: takes a place there, and opens the study from it."""

from __future__ import annotations

from typing import Any

from humanexp.recruiters.models import Campaign
from tests.browser.person import PATIENCE_MS
from tests.panel.server import PanelServer


def take_part(page: Any, panel: PanelServer, campaign: Campaign) -> Any:
    """A new person reserves a place and opens the study; its entry page."""
    page.goto(f"{panel.url}/people/")
    page.get_by_role("button", name="Play a new person").click()
    page.get_by_role("link", name=campaign.title).first.click()
    page.get_by_role("button", name="Take part").click()
    return open_study(page)


def open_study(page: Any) -> Any:
    """From the page of the place that somebody holds."""
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Open study").click()
    opened.value.wait_for_selector("[data-panel=start]:not([hidden])", timeout=PATIENCE_MS)
    return opened.value
