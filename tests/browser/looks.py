"""What a page looks like: whether it fits its window, pictures of it where SCREENSHOTS names a folder, and what its
accessibility tree says where TRANSCRIPTS does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

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
    excess = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert excess <= 0, f"{name} is {excess} px too wide"
    shot(page, name, full_page=True)
