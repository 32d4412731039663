"""What can be done to studies; every function takes keywords and is atomic."""

from __future__ import annotations

from humanexp.studies.services.languages import bring_language, bundles_beside, take_language_away, with_bundles
from humanexp.studies.services.members import change_role, invite, remove
from humanexp.studies.services.power_estimates import request_power, simulate_power
from humanexp.studies.services.studies import create_study, new_version, pause, revise_study, start_collecting, stop

__all__ = [
    "bring_language",
    "bundles_beside",
    "change_role",
    "create_study",
    "invite",
    "new_version",
    "pause",
    "remove",
    "request_power",
    "revise_study",
    "simulate_power",
    "start_collecting",
    "stop",
    "take_language_away",
    "with_bundles",
]
