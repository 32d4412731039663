"""What a page looks like: whether it fits its window, pictures of it where SCREENSHOTS names a folder, and what its
accessibility tree says where TRANSCRIPTS does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from humanexp.simulation.browser import PATIENCE_MS

_AGAIN_MS = 50
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}


def shot(page: Any, name: str, *, full_page: bool = False) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=full_page)


def transcript(page: Any, name: str) -> None:
    """The accessibility tree of the page as text: what a screen reader has to go by. None is run."""
    if folder := os.environ.get("TRANSCRIPTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{name}.yaml").write_text(page.locator("body").aria_snapshot() + "\n", encoding="utf-8")


def fits(page: Any, name: str) -> None:
    """No page scrolls sideways."""
    within_its_window(page, name)
    shot(page, name, full_page=True)


def within_its_window(place: Any, name: str) -> None:
    """A page or a frame is no wider than its window; a chart that is drawn anew is waited for."""
    for _ in range(PATIENCE_MS // _AGAIN_MS):
        if _excess(place) <= 0:
            return
        place.wait_for_timeout(_AGAIN_MS)
    assert _excess(place) <= 0, f"{name} is too wide by so many px"


def _excess(place: Any) -> int:
    return int(place.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def refused(page: Any) -> list[str]:
    """What the content policy has refused since the page was loaded: a record, which nothing can be waited for in."""
    listed: list[str] = page.evaluate("window.__refused")
    return listed


def after_two_frames(page: Any) -> None:
    """Handlers of what has happened have run, and what they draw is drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
