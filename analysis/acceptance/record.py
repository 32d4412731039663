"""What a session's trials say to the rules: everything about sentinels, nothing about right or wrong elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from analysis.corruptions.registry import NO_CORRUPTION
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace
from analysis.study.persons import PERSON

#: Up to here an attentive person knows what a picture shows; beyond, honest guessing looks like careless answering.
LIGHT_VISUAL_CHANGE = 0.3
#: Roles whose right answer the rules may know.
SENTINEL_ROLES = frozenset({"gold", "negative", "qualification"})
#: Tasks in which corruptions are compared: every answer that is no sentinel's is the outcome.
COMPARISONS = frozenset({"discrimination", "abx"})
#: A gold that turned out not to be easy: a clean picture like others.
WITHDRAWN_GOLD = "withdrawn_gold"


class AnsweredTrial(NamedTuple):
    """The columns of ``tables.trials.TRIALS`` that rules read. None = hidden from the rules, or not measured."""

    position: int
    task: str
    role: str
    stimulus: str
    category: str | None
    corruption: str
    visual_change: float
    response: str | None
    correct: bool | None
    rt_ms: float | None
    timing_ok: bool | None
    #: tells tries of a qualification apart
    block: int = 0
    #: nobody could see and answer it (`analysis.timing.rules.is_set_aside`): it was fetched, and says nothing else
    is_set_aside: bool = False
    #: pointer, touch or key; empty where nobody kept it
    input_kind: str = ""


@dataclass(frozen=True)
class SessionRecord:
    """One session's answers in the order of their positions, however they were given.

    On construction everything that no rule may read is removed: for corrupted pictures the category and whether the
    answer was right, beyond LIGHT_VISUAL_CHANGE the answer and its time as well. What is left of such a trial is its
    place and its timing; of a trial that was set aside, its place alone. In validation the answer itself is the
    outcome: of new pictures it is removed as well, but for those that are shown twice. So no rule, present or future,
    can select on the outcome. Sentinels of persons are left out as a whole: no rule knows that they were there.

    Parameters
    ----------
    trials : tuple of AnsweredTrial
    others : tuple of SessionRecord
        The same person's other sessions, for rules that count sentinels over all of them.
    fetched : frozenset of int or None
        Positions whose pictures were given out before they were answered; None where nobody kept that.
    space : LabelSpace
        Labels of the answers.
    """

    trials: tuple[AnsweredTrial, ...]
    others: tuple[SessionRecord, ...] = ()
    fetched: frozenset[int] | None = None
    space: LabelSpace = field(default_factory=default_labels)

    def __post_init__(self) -> None:
        ordered = sorted(self.trials, key=lambda trial: trial.position)
        object.__setattr__(self, "trials", tuple(_readable(trial) for trial in ordered))

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        withdrawn: Collection[str] = (),
        fetched: frozenset[int] | None = None,
        space: LabelSpace | None = None,
    ) -> SessionRecord:
        """From rows with the columns of ``tables.trials.TRIALS``; golds of withdrawn originals are none any more."""
        return cls(
            fetched=fetched,
            space=space or default_labels(),
            trials=tuple(
                AnsweredTrial(
                    position=int(row["position"]),
                    task=str(row["task"]),
                    role=_role(row, withdrawn),
                    stimulus=str(row["stimulus"]),
                    category=str(row["category"]),
                    corruption=str(row["corruption"]),
                    visual_change=1.0 if row["visual_change"] is None else float(row["visual_change"]),
                    response=str(row["response"]),
                    correct=None if row["correct"] is None else bool(row["correct"]),
                    rt_ms=None if row["rt_ms"] is None else float(row["rt_ms"]),
                    timing_ok=None if row["timing_ok"] is None else bool(row["timing_ok"]),
                    block=int(row.get("block") or 0),
                    # A try of the qualification was decided in the session, by all its answers.
                    is_set_aside=row.get("set_aside") is True and row["role"] != "qualification",
                    input_kind=str(row.get("input_kind") or ""),
                )
                for row in rows
                if row["role"] != PERSON
            ),
        )

    @property
    def asked(self) -> int:
        """Trials beside practice, qualification and sentinels with a known answer."""
        beside = SENTINEL_ROLES | {"practice", WITHDRAWN_GOLD}
        return sum(trial.role not in beside for trial in self.trials)

    def with_role(self, role: str, task: str | None = None) -> list[AnsweredTrial]:
        """Trials of a role that were not set aside."""
        return [
            trial
            for trial in self.trials
            if trial.role == role and task in (None, trial.task) and not trial.is_set_aside
        ]

    def timed_answers(self, task: str) -> list[AnsweredTrial]:
        """Answers of a task after practice whose time the rules may read."""
        return [
            trial
            for trial in self.trials
            if trial.task == task and trial.role != "practice" and trial.rt_ms is not None
        ]

    def shape_trials(self) -> list[AnsweredTrial]:
        """Trials on which the shape of answering is judged: categorisation, clean or light, after practice."""
        return [
            trial
            for trial in self.trials
            if trial.task == "categorisation" and trial.role != "practice" and trial.response is not None
        ]


def _role(row: Mapping[str, Any], withdrawn: Collection[str]) -> str:
    return WITHDRAWN_GOLD if row["role"] == "gold" and row.get("original") in withdrawn else str(row["role"])


def _readable(trial: AnsweredTrial) -> AnsweredTrial:
    if trial.is_set_aside:
        return trial._replace(category=None, correct=None, response=None, rt_ms=None, timing_ok=None)
    if trial.role in SENTINEL_ROLES or trial.role == "practice":
        return trial
    if trial.task in COMPARISONS or (trial.corruption != NO_CORRUPTION and trial.visual_change > LIGHT_VISUAL_CHANGE):
        return trial._replace(category=None, correct=None, response=None, rt_ms=None)
    if trial.task == "validation" and not trial.role.startswith("consistency"):
        trial = trial._replace(response=None)
    return trial if trial.corruption == NO_CORRUPTION else trial._replace(category=None, correct=None)
