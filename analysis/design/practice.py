"""Practice of a session as its parts: a single round, or slow motion and then rounds at speed until one is passed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

from analysis.design.plan import BlockKind
from analysis.spec.design import PracticeDesign

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
