from __future__ import annotations

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
