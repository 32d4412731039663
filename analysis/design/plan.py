"""The plan as a value, with practice as its parts, and as a file of one JSON line a session."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple, TypeVar

from analysis.errors import InvalidInput
from analysis.study.design import DesignConfig, PracticeDesign

BlockKind = Literal["practice", "slow-practice", "practice-round", "qualification", "main"]
#: Kinds with feedback: a single round, trials in slow motion, and a round at speed that can be passed.
PRACTICE: frozenset[BlockKind] = frozenset({"practice", "slow-practice", "practice-round"})
FORMAT = "study-plan-1"


class PlannedTrial(NamedTuple):
    """One trial of a session plan."""

    position: int
    block: int
    kind: BlockKind
    task: str
    role: str
    stimulus: str
    second_stimulus: str | None
    correct_response: str
    #: chooses the noise mask; drawn apart from everything else, so that it tells nothing
    mask_seed: int
    #: validation: the category that the picture is compared with; known to the participant
    wanted: str = ""
    #: ABX: the picture X
    third_stimulus: str | None = None
    #: ids of the labels that are offered, in the order shown, and `none` where it can be answered; empty: all labels
    options: tuple[str, ...] = ()

    @property
    def stimuli(self) -> tuple[str, ...]:
        """Its pictures in the order of their showings."""
        return tuple(name for name in (self.stimulus, self.second_stimulus, self.third_stimulus) if name is not None)


@dataclass(frozen=True, kw_only=True)
class BlockPlan:
    """A stretch of trials between two breaks. Everything here may be told to a participant."""

    index: int
    kind: BlockKind
    task: str
    first: int
    last: int
    feedback: bool

    @property
    def trials(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, kw_only=True)
class SessionPlan:
    """One slot: the trials of one sitting, in order."""

    slot: int
    trials: tuple[PlannedTrial, ...]

    def blocks(self) -> tuple[BlockPlan, ...]:
        """Blocks in order; kinds of practice are the only ones with feedback."""
        stretches: dict[int, list[PlannedTrial]] = {}
        for trial in self.trials:
            stretches.setdefault(trial.block, []).append(trial)
        return tuple(
            BlockPlan(
                index=index,
                kind=stretch[0].kind,
                task=stretch[0].task,
                first=stretch[0].position,
                last=stretch[-1].position,
                feedback=stretch[0].kind in PRACTICE,
            )
            for index, stretch in sorted(stretches.items())
        )

    def to_json(self) -> str:
        # Trials that offer all labels stand in files as they did before there were others.
        trials = [trial if trial.options else trial[:-1] for trial in self.trials]
        return json.dumps({"slot": self.slot, "trials": trials}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> SessionPlan:
        values = json.loads(text)
        trials = (PlannedTrial(*trial) for trial in values["trials"])
        return cls(slot=values["slot"], trials=tuple(trial._replace(options=tuple(trial.options)) for trial in trials))


@dataclass(frozen=True, kw_only=True)
class StudyPlan:
    """Every session of a study, and how it came about.

    Parameters
    ----------
    config : DesignConfig
        As asked; `notes` say what was cut.
    seed : int
    pools : mapping of str to tuple of str
        Originals by role: practice, qualification, gold, consistency, main. Disjoint.
    sessions : tuple of SessionPlan
        Slot n at index n.
    notes : tuple of str
        What was cut or noticed, one sentence each.
    summary : mapping
        Counts for people: originals by pool and category, trials by role, answers by corruption and visual change.
    """

    config: DesignConfig
    seed: int
    pools: Mapping[str, tuple[str, ...]]
    sessions: tuple[SessionPlan, ...]
    notes: tuple[str, ...]
    summary: Mapping[str, Any]

    def to_lines(self) -> list[str]:
        """First a line about the whole, then one line a slot."""
        head = {
            "format": FORMAT,
            "config": self.config.to_dict(),
            "seed": self.seed,
            "pools": {role: list(originals) for role, originals in self.pools.items()},
            "notes": list(self.notes),
            "summary": self.summary,
        }
        return [json.dumps(head, separators=(",", ":")), *(session.to_json() for session in self.sessions)]

    @classmethod
    def from_lines(cls, lines: Sequence[str]) -> StudyPlan:
        head = _head(lines[0] if lines else "")
        return cls(
            config=DesignConfig.from_dict(head["config"]),
            seed=head["seed"],
            pools={role: tuple(originals) for role, originals in head["pools"].items()},
            sessions=tuple(SessionPlan.from_json(line) for line in lines[1:]),
            notes=tuple(head["notes"]),
            summary=head["summary"],
        )


def read_session_plan(lines: Iterable[str], slot: int) -> tuple[dict[str, tuple[str, ...]], SessionPlan]:
    """Pools and the plan of one slot, parsing no other slot.

    Parameters
    ----------
    lines : iterable of str
        As written by ``StudyPlan.to_lines``; an open text file will do.
    slot : int

    Raises
    ------
    InvalidInput
        If these are not the lines of a plan, or it has no such slot.
    """
    for number, line in enumerate(lines):
        if number == 0:
            pools = {role: tuple(originals) for role, originals in _head(line)["pools"].items()}
        elif number == slot + 1:
            return pools, SessionPlan.from_json(line)
    raise InvalidInput(f"The plan has no slot {slot}.")


def _head(line: str) -> dict[str, Any]:
    try:
        head: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidInput("This file is no study plan.") from error
    if head.get("format") != FORMAT:
        raise InvalidInput(f"This plan has the format {head.get('format')!r}; this version reads {FORMAT!r}.")
    return head


T = TypeVar("T")
#: Of a session for which there are few originals: trials of a single round of each task, and those in slow motion.
SHORT_ROUND, SHORT_ROUND_OF_PAIRS, SHORT_SLOW = 4, 2, 2


class Part(NamedTuple):
    """A block of practice."""

    kind: BlockKind
    trials: int


def practice_parts(design: PracticeDesign) -> tuple[Part, ...]:
    """Blocks of a task's practice, in order. All rounds at speed are planned: whoever passes one skips the others."""
    if design.single_practice is not None:
        return (Part("practice", design.single_practice),)
    rounds = [Part("practice-round", design.practice_round)] * design.practice_rounds
    return (Part("slow-practice", design.practice_slow), *rounds)


def shortened(parts: Sequence[Part], *, single: int) -> tuple[Part, ...]:
    """The same with fewer trials: a single round of `single`, or a short slow motion and one round at speed.

    A round that decides is never shorter than planned: its criterion would be another one.
    """
    most = {"practice": single, "slow-practice": SHORT_SLOW}
    rounds = [part for part in parts if part.kind == "practice-round"]
    return (
        *(Part(part.kind, min(part.trials, most[part.kind])) for part in parts if part.kind in most),
        *rounds[:1],
    )


def dealt_to(parts: Sequence[Part], entries: Sequence[T]) -> list[tuple[BlockKind, Sequence[T]]]:
    """Entries in order as the blocks of a practice; the last blocks are shorter where there are fewer entries."""
    edges = [0, *accumulate(part.trials for part in parts)]
    return [(part.kind, entries[first:last]) for part, (first, last) in zip(parts, pairwise(edges), strict=True)]
