from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def without_guards(unhurried, open_gates):
    """Nearly every test answers trials at once or opens a campaign; `test_limits` puts the pace back."""
