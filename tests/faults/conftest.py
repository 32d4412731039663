"""A lab's machine, as the journeys start it, and a platform in the test's own process."""

from __future__ import annotations

from tests.journeys.conftest import marketplace_controls, prepared, site
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
    "marketplace_controls",
    "marketplace_process",
    "new_worker",
    "other_side",
    "prepared",
    "rich_keys",
    "site",
    "use_keys",
]
