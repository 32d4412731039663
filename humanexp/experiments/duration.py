"""Rough length of a session, from what its plan asks and how its protocol shows it."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.protocols import ProtocolConfig
from humanexp.experiments.configuration import StudyConfiguration
from humanexp.experiments.models import Study
from humanexp.experiments.plans import plan_head
from humanexp.experiments.tasks import TASKS

#: A picture, a definition and two questions, at leisure.
JUDGING_MS = 12_000
#: What a trial takes beside the protocol's fixed times: the median answer of published observers, and the save.
ANSWER_MS, BETWEEN_MS = 850, 300


def session_minutes(study: Study) -> float:
    """Trials alone: who reads the instructions needs a little more."""
    counts = plan_head(study)["summary"]["trials_by_role"]
    return minutes_of(counts, StudyConfiguration.from_dict(study.configuration).protocol)


def minutes_of(trials_by_role: Mapping[str, float], protocol: ProtocolConfig) -> float:
    """Of a session with so many trials by role, as a plan's summary counts them."""
    showing_ms = protocol.fixation_ms + protocol.stimulus_ms + protocol.mask_ms
    answer_ms = protocol.response_ms if protocol.fixed_response_window else min(ANSWER_MS, protocol.response_ms)
    total = 0.0
    for role, trials in trials_by_role.items():
        task = TASKS[task_of(role)]
        total += trials * (task.showings * showing_ms + answer_ms + BETWEEN_MS if task.is_timed else JUDGING_MS)
    return total / 60_000


def task_of(role: str) -> str:
    """Roles of other tasks than categorisation begin with the task's name."""
    first = role.split(" ")[0]
    return first if first in TASKS else "categorisation"
