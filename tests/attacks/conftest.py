from __future__ import annotations

from tests.experiments.conftest import session, stimulus_set, study, tab
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
    "session",
    "stimulus_set",
    "study",
    "tab",
    "use_keys",
]
