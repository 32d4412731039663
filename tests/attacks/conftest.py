from __future__ import annotations

import pytest

from tests.recruitment.conftest import (
    accounts,
    launch,
    marketplace,
    marketplace_process,
    new_worker,
    other_side,
    rich_keys,
    use_keys,
)

__all__ = [
    "accounts",
    "launch",
    "marketplace",
    "marketplace_process",
    "new_worker",
    "other_side",
    "rich_keys",
    "use_keys",
]


@pytest.fixture(autouse=True)
def without_guards(unhurried, open_gates):
    """Studies that are attacked were launched somehow, and their answers came in time."""
