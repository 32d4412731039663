"""OpenCV, imported when a picture is first touched: whoever lists corruption functions pays nothing for it.

`from analysis import opencv as cv2` reads like the library itself.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Import the library, and keep what was asked for."""
    import cv2

    found = globals()[name] = getattr(cv2, name)
    return found
