"""What people are told of a study, in its language, and how long it takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

from analysis.persons.sentinels import SentinelCost, sentinel_cost
from analysis.study.link import LinkPay
from analysis.study.protocol import ProtocolConfig
from analysis.study.study import StudyConfiguration
from analysis.study.terms import PayOnLeaving
from humanexp.studies.models import Study
from humanexp.studies.plans import plan_head
from humanexp.studies.tasks import TASKS, Task

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
        total += trials * trial_ms(TASKS[name], protocol, has_feedback=has_feedback)
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
        total += ROUND_MS + trials * trial_ms(TASKS[block["task"]], protocol, has_feedback=block["feedback"])
    begun = {block["task"] for block in blocks if block["first"] < cursor}
    total += INSTRUCTIONS_MS * len({block["task"] for block in ahead} - begun)
    return ceil(total / 60_000)


def round_seconds(blocks: Sequence[Mapping[str, Any]], protocol: ProtocolConfig, *, cursor: int) -> int:
    """What is left of the block at this position, without the page before it; 0 after the last one."""
    block = next((one for one in blocks if one["last"] >= cursor), None)
    if block is None:
        return 0
    trials: int = block["last"] - max(block["first"], cursor) + 1
    return ceil(trials * trial_ms(TASKS[block["task"]], protocol, has_feedback=block["feedback"]) / 1000)


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
    of_a_trial = trial_ms(TASKS["categorisation"], configuration.protocol, has_feedback=False)
    return sentinel_cost(
        configuration.design.person_trials,
        sessions,
        trial_ms=round(of_a_trial),
        pay_per_hour=configuration.recruitment.planned_hourly_cents,
    )


def trial_ms(task: Task, protocol: ProtocolConfig, *, has_feedback: bool) -> float:
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


#: Days from a withdrawal until its answers are erased; consent, "Stop and leave?" and the goodbye name them.
KEPT_DAYS = 14
#: How a person came: by a plain link, by a HIT, or in a preview that belongs to nobody.
Way = Literal["link", "hit", "preview"]


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """A study as its participants should know it."""

    #: names of its tasks, in the order in which they are asked; empty where it is not known which study this is
    tasks: tuple[str, ...] = ()
    way: Way = "preview"
    #: what one person is paid by us; 0 = nothing
    reward_cents: int = 0
    #: ISO code of it
    currency: str = "USD"
    #: what people are told it takes; 0 = not said
    minutes: int = 0
    #: its own title, by which a letter names it
    title: str = ""
    #: whom a participant can write to; empty where the study names nobody
    contact: str = ""
    #: whether whoever sent the person here may ask for the completion code
    shows_code: bool = False
    #: what people are paid who stop before the end, where they are paid at all
    pay_on_leaving: PayOnLeaving = "none"
    #: whether people go back to a site that has sent them, which its pages then do by one button
    leads_out: bool = False
    #: its name; empty where it has none
    site: str = ""
    #: what people get there, and how much of it, where that was said
    site_pay: LinkPay = "none"
    site_reward: str = ""
    #: what they can do instead for the same credit
    alternative: str = ""
    #: whether nobody comes with an id, and what a session leaves in the browser is the mark by which it is known again
    marks_browser: bool = False
    #: whether people see their own curve after their last session, and the study whose curves appear next to it
    shows_curve: bool = False
    shown_next_to: str = ""
    #: whether people who come without an id get a code with which they can have their answers deleted, and its last day
    gives_deletion_code: bool = False
    deletable_until: str = ""
    #: address of the page that takes the code
    deletion_address: str = ""
    #: days until the answers of who has left are erased
    erased_after_days: int = KEPT_DAYS

    @property
    def is_timed(self) -> bool:
        """Pictures are shown for an exact time, which takes a computer."""
        return not self.tasks or any(TASKS[name].is_timed for name in self.tasks)

    @property
    def is_paid(self) -> bool:
        return self.reward_cents > 0

    @property
    def is_link(self) -> bool:
        return self.way == "link"

    @property
    def is_hit(self) -> bool:
        return self.way == "hit"

    @property
    def names(self) -> bool:
        """A single picture is named."""
        return "categorisation" in self.tasks

    @property
    def compares(self) -> bool:
        """Two or three pictures are compared."""
        return "discrimination" in self.tasks or "abx" in self.tasks

    @property
    def judges(self) -> bool:
        """Pictures are judged at leisure."""
        return "validation" in self.tasks


def tasks_of(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """Tasks that a study's configuration asks for, in their order."""
    design = configuration.get("design") or {}
    if design.get("validation"):
        return ("validation",)
    pairs = design.get("discrimination")
    compared = () if not pairs else ("abx",) if pairs.get("form") == "abx" else ("discrimination",)
    return (*(() if design.get("main_trials") == 0 else ("categorisation",)), *compared)


def own_words_of(study: Study) -> dict[str, Any]:
    """What the study itself asks people to keep to, where, and whether it words the second question of a picture."""
    judging = study.configuration.get("judging", {})
    return {
        "instructions": judging.get("instructions", []),
        "instructions_shown": judging.get("instructions_shown", False),
        "own_words": bool(judging.get("usable")),
    }


def language_of_study(study: Study) -> str:
    """The tag of the language in which its pages begin."""
    return str(study.configuration.get("language") or "en")
