"""What a page looks like: whether it fits its window, and pictures of it where SCREENSHOTS names a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}


def shot(page: Any, name: str, *, full_page: bool = False) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=full_page)


def fits(page: Any, name: str) -> None:
    """No page scrolls sideways."""
    excess = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert excess <= 0, f"{name} is {excess} px too wide"
    shot(page, name, full_page=True)
