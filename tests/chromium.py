"""Where Chromium is. Tests that need it are skipped where it is missing; with CI=true they fail."""

from __future__ import annotations

import os
import shutil

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def require_chromium() -> None:
    if CHROMIUM is not None:
        return
    reason = "there is no Chromium: install it or set CHROMIUM to its path"
    if os.environ.get("CI") == "true" or os.environ.get("REQUIRE_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)
