from __future__ import annotations

from tests.experiments.conftest import session, stimulus_set, study, tab
from tests.recruitment.conftest import marketplace_process, rich_keys

__all__ = ["marketplace_process", "rich_keys", "session", "stimulus_set", "study", "tab"]
