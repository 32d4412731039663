"""What stays the same about a session from its opening to its end, kept in memory: most calls then ask one row only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from analysis.study.protocol import ProtocolConfig
from humanexp.core.errors import NotFound
from humanexp.participation import minimum_duration
from humanexp.participation.credentials import SessionClaim
from humanexp.participation.minimum_duration import too_fast_ms
from humanexp.participation.models import Trial
from humanexp.participation.pictures import Picture
from humanexp.participation.selectors import answers
from humanexp.participation.selectors.sessions import session_of
from humanexp.studies.tasks import TASKS
from humanexp.studies.tasks.base import Task

#: Sessions in memory; one of a hundred trials takes about 50 kB.
KEPT = 1000
#: Kinds of blocks that come before what is measured.
PREPARING = ("practice", "qualification")


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """A trial as the API needs it."""

    pk: int
    position: int
    block: int
    task: Task
    correct_response: str
    mask_seed: int
    wanted: str
    #: in the order of their showings
    pictures: tuple[Picture, ...]
    #: seconds that all trials of its block take at least, up to the end of this one's pictures
    not_before_s: float


@dataclass(frozen=True, kw_only=True)
class Course:
    """A session's plan with the study's protocol and wording."""

    session_id: int
    is_scripted: bool
    blocks: list[dict[str, Any]]
    trials: tuple[PlannedTrial, ...]
    protocol: ProtocolConfig | None
    wording: Mapping[str, Mapping[str, str]]
    #: answers sooner than this are implausibly fast; 0 where nobody is asked to slow down
    too_fast_ms: float = 0.0

    @property
    def counts_from(self) -> int:
        """The first position after practice and qualification; a plan that has nothing else counts from its first."""
        return next((block["first"] for block in self.blocks if block["kind"] not in PREPARING), 0)

    def trial(self, position: int) -> PlannedTrial:
        if position >= len(self.trials):
            raise NotFound
        return self.trials[position]

    def fetchable(self, positions: Sequence[int], cursor: int) -> list[PlannedTrial]:
        """The trials at these positions, if the pictures of all may be fetched: unanswered, in the cursor's block."""
        trials = [self.trial(position) for position in positions]
        if any(trial.position < cursor or self.blocks[trial.block]["first"] > cursor for trial in trials):
            raise NotFound
        return trials

    def measured_before(self, position: int) -> list[int]:
        """The finished blocks of timed tasks whose answers are measured, where a block begins at this position."""
        if not self.begins_block(position):
            return []
        return [
            block["index"]
            for block in self.blocks
            if block["last"] < position and block["kind"] not in PREPARING and TASKS[block["task"]].is_timed
        ]

    def begins_block(self, position: int) -> bool:
        return position < len(self.trials) and self.blocks[self.trials[position].block]["first"] == position


@lru_cache(maxsize=KEPT)
def course_of(claim: SessionClaim) -> Course:
    """The course of the token's session.

    Whether the token is still good is not looked at when the course is in memory: every call asks the session's row.
    """
    session = session_of(claim)
    study = session.study
    protocol = ProtocolConfig.from_dict(study.protocol.configuration) if study.protocol else None
    rows = Trial.objects.filter(session=session).order_by("position")
    columns = ("pk", "position", "block", "task", "correct_response", "mask_seed", "wanted")
    trials: list[PlannedTrial] = []
    shown = [f"{name}__{part}" for name in answers.PICTURES for part in Picture._fields]
    for row in rows.values_list(*columns, *shown):
        (pk, position, block, name, correct, mask_seed, wanted), parts = row[: len(columns)], row[len(columns) :]
        task = TASKS[name]
        before = trials[-1].not_before_s if trials and trials[-1].block == block else 0.0
        triples = zip(parts[0::3], parts[1::3], parts[2::3], strict=True)
        pictures = tuple(Picture(*triple) for triple in triples if triple[0] is not None)[: task.showings]
        least = minimum_duration.least_s(task, protocol)
        trials.append(PlannedTrial(pk, position, block, task, correct, mask_seed, wanted, pictures, before + least))
    return Course(
        session_id=session.pk,
        is_scripted=session.is_scripted,
        blocks=session.blocks,
        trials=tuple(trials),
        protocol=protocol,
        wording=study.configuration.get("wanted", {}),
        too_fast_ms=too_fast_ms(study.rule_set),
    )
