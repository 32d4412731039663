from __future__ import annotations

import pytest

from humanexp.experiments import pace


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """Tests answer at once; those of the pace set the share back."""
    monkeypatch.setattr(pace, "SHARE", 0.0)
