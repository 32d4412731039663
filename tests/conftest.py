from __future__ import annotations

from pathlib import Path

import pytest

from humanexp.experiments import pace
from humanexp.experiments.services import auditing


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long ones first: at the end, workers that run side by side share what is short."""
    journeys = Path(__file__).parent / "journeys"
    items.sort(key=lambda item: not (item.get_closest_marker("browser") or item.path.is_relative_to(journeys)))


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
