from __future__ import annotations

from tests.experiments.conftest import session, stimulus_set, study, tab

__all__ = ["session", "stimulus_set", "study", "tab"]
