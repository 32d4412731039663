from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def without_guards(unhurried, open_gates):
    """Studies that are attacked were launched somehow, and their answers came in time."""
