"""Rough length of a session, from what its plan asks, how its protocol shows it, and what the trial page adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from analysis.persons.sentinels import SentinelCost, sentinel_cost
from analysis.study.protocol import ProtocolConfig
from analysis.study.study import StudyConfiguration
from humanexp.studies.models import Study
from humanexp.studies.plans import plan_head
from humanexp.studies.tasks import TASKS
from humanexp.studies.tasks.base import Task

#: A picture, a definition and two questions, at leisure.
JUDGING_MS = 12_000
#: The median answer of published observers, and the share of trials that nobody answers in time.
ANSWER_MS, MISSED = 850, 0.03
#: What the trial page (js/participation/trial) adds to a trial: the loop's first frames, the chosen answer's mark,
#: the grey before the next trial, and a frame of handing over. A trial with an answer after 850 ms was measured at
#: 2,066 ms.
WARM_UP_MS, CHOSEN_MS, BETWEEN_MS = 50, 150, 316
#: In practice the right answer is shown instead of the mark; where the person's was another, a sentence is read, too:
#: for the protocol's time, or for this.
READING_FEEDBACK_MS, WRONG_IN_PRACTICE = 1_100, 0.3
#: The page before every round: pictures are loaded, the screen is measured, people rest and press Start.
ROUND_MS = 15_000
#: Four screens and an example before each task; the consent, the checks of the screen, and the way back at the end.
INSTRUCTIONS_MS, AROUND_MS = 60_000, 90_000
#: A question at the end, read and answered with a word or a click, or left empty.
CLOSING_MS = 10_000
#: A step of the set-up that is a question, and those that take a page: a card, a blind spot, two staircases of grey.
ASKED_MS, STEP_MS = 5_000, {"distance": 60_000, "greys": 25_000}


def session_minutes(study: Study) -> float:
    """From the consent to the end."""
    configuration = StudyConfiguration.from_dict(study.configuration)
    counts = plan_head(study)["summary"]["trials_by_role"]
    return minutes_of(
        counts,
        configuration.protocol,
        block_trials=configuration.design.block_trials,
        closing_questions=len(configuration.ending.questions),
        set_up=configuration.setup.steps,
    )


def minutes_of(
    trials_by_role: Mapping[str, float],
    protocol: ProtocolConfig,
    *,
    block_trials: int,
    closing_questions: int = 0,
    set_up: Sequence[str] = (),
) -> float:
    """Of a session with so many trials by role, as a plan's summary counts them, with its set-up and its end."""
    total = float(AROUND_MS + CLOSING_MS * closing_questions + sum(STEP_MS.get(step, ASKED_MS) for step in set_up))
    counts: dict[tuple[str, bool], float] = {}
    for role, trials in trials_by_role.items():
        kind = task_of(role), "practice" in role
        counts[kind] = counts.get(kind, 0) + trials
    for (name, has_feedback), trials in counts.items():
        total += trials * _trial_ms(TASKS[name], protocol, has_feedback=has_feedback)
        total += ROUND_MS * (1 if has_feedback else ceil(trials / block_trials))
    total += INSTRUCTIONS_MS * len({name for name, _ in counts})
    return total / 60_000


def minutes_left(blocks: Sequence[Mapping[str, Any]], protocol: ProtocolConfig, *, cursor: int) -> int:
    """Whole minutes that the blocks of a session take from this position on; a second try of a qualification aside."""
    ahead = [block for block in blocks if block["last"] >= cursor]
    tries = [block for block in ahead if block["kind"] == "qualification"]
    total = 0.0
    for block in ahead:
        if block in tries[1:]:
            continue
        trials = block["last"] - max(block["first"], cursor) + 1
        total += ROUND_MS + trials * _trial_ms(TASKS[block["task"]], protocol, has_feedback=block["feedback"])
    begun = {block["task"] for block in blocks if block["first"] < cursor}
    total += INSTRUCTIONS_MS * len({block["task"] for block in ahead} - begun)
    return ceil(total / 60_000)


def round_seconds(blocks: Sequence[Mapping[str, Any]], protocol: ProtocolConfig, *, cursor: int) -> int:
    """What is left of the block at this position, without the page before it; 0 after the last one."""
    block = next((one for one in blocks if one["last"] >= cursor), None)
    if block is None:
        return 0
    trials: int = block["last"] - max(block["first"], cursor) + 1
    return ceil(trials * _trial_ms(TASKS[block["task"]], protocol, has_feedback=block["feedback"]) / 1000)


def work_ms(task: Task, protocol: ProtocolConfig | None, answer_ms: float | None) -> float:
    """What a trial with this answer took at least; None: no answer in time."""
    if protocol is None or not task.is_timed:
        return answer_ms or 0.0
    if answer_ms is None or protocol.fixed_response_window:
        answer_ms = protocol.response_ms
    shown_ms = protocol.fixation_ms + protocol.stimulus_ms + protocol.mask_ms
    return WARM_UP_MS + task.showings * shown_ms + answer_ms + CHOSEN_MS + BETWEEN_MS


def person_sentinels_cost(configuration: StudyConfiguration, sessions: int) -> SentinelCost:
    """What the sentinels of persons take of so many sessions: trials, seconds, and pay at the planned rate."""
    trial_ms = _trial_ms(TASKS["categorisation"], configuration.protocol, has_feedback=False)
    return sentinel_cost(
        configuration.design.person_trials,
        sessions,
        trial_ms=round(trial_ms),
        pay_per_hour=configuration.recruitment.planned_hourly_cents,
    )


def _trial_ms(task: Task, protocol: ProtocolConfig, *, has_feedback: bool) -> float:
    """As long as published observers take, some of whose trials are missed."""
    if not task.is_timed:
        return JUDGING_MS
    answer_ms = min(ANSWER_MS, protocol.response_ms)
    usual_ms = work_ms(task, protocol, answer_ms + MISSED * (protocol.response_ms - answer_ms))
    if not has_feedback:
        return usual_ms
    wrong_ms = protocol.feedback_wrong_ms
    more_ms = READING_FEEDBACK_MS if wrong_ms is None else wrong_ms - protocol.feedback_ms
    return usual_ms - CHOSEN_MS + protocol.feedback_ms + WRONG_IN_PRACTICE * more_ms


def task_of(role: str) -> str:
    """Roles of other tasks than categorisation begin with the task's name."""
    first = role.split(" ")[0]
    return first if first in TASKS else "categorisation"
