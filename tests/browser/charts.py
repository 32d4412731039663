"""What plotly has drawn on a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.browser.looks import PATIENCE_MS

_AGAIN_MS = 50


def drawn_lines(page: Any) -> int:
    """Curves; the outlines of bands have no width."""
    return int(
        page.evaluate(
            """() => [...document.querySelectorAll(".js-plotly-plot .lines path.js-line")]
              .filter((path) => parseFloat(path.style.strokeWidth) > 0).length"""
        )
    )


def drawn_bands(page: Any) -> int:
    return int(page.evaluate("document.querySelectorAll('.js-plotly-plot .fills path.js-fill').length"))


def becomes(reading: Callable[[Any], int], page: Any, wanted: int) -> bool:
    """Wait for a redrawing (by asking: the page's policy lets no strings be evaluated inside it)."""
    for _ in range(PATIENCE_MS // _AGAIN_MS):
        if reading(page) == wanted:
            return True
        page.wait_for_timeout(_AGAIN_MS)
    return False
