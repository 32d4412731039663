from __future__ import annotations

import pytest

from humanexp.experiments import pace
from humanexp.experiments.services import auditing


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """Tests answer at once and begin with full buckets of calls; those of the pace set the share back."""
    monkeypatch.setattr(pace, "SHARE", 0.0)
    for allowance in (auditing.CALLS, auditing.REFUSALS, auditing.ENTRIES):
        allowance.clear()


@pytest.fixture(autouse=True)
def open_gates(monkeypatch):
    """Tests launch without a pre-flight check; those of the check register its gate again."""
    from humanexp.recruitment import gates

    monkeypatch.setattr(gates, "GATES", [])
