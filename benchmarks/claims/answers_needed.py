"""Do the answers that would decide, decide? A pilot study tells a number; a new study of so many answers is judged.

    python -m benchmarks.claims.answers_needed [--runs 0] [--cell TEXT] [--kept FILE] [--write]

The new study has the same answers of a person and as many people as the number takes. To match, or to be equivalent:
nothing differs. To differ: an area smaller by .05, by the same everywhere (the hardest to find in windows) or by an
earlier bend. Half of the number must not do: then it was twice what is needed. The pilots: 60 people x 16 answers or 20
x 48, pictures hard for both sides or for one alone, and one crowd or two for a pair of corruptions. A pilot that
decides tells no number, and is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from analysis.arrays import FloatArray
from analysis.claims.models import ANSWERS_THAT_DECIDE, POWER, TRUE_GAP
from analysis.differences.beside import beside_people
from analysis.differences.family import DRAWS
from benchmarks.claims import corruptions
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims._studies import SHARP, SMOOTH, Curve, Size, simulated


class Judged(NamedTuple):
    """What a study says, and the answers that would show that nothing, or that something, differs."""

    alike: bool
    differs: bool
    answers: int
    to_match: int | None
    to_differ: int | None


#: A study of so many people, and the joint draws of its step-down.
Study = Callable[[np.random.Generator, int, int], Judged]


@dataclass(frozen=True)
class OfModel:
    """One model beside people on one corruption."""

    size: Size
    truth: Curve
    model: Curve
    shares_pictures: bool = True

    def __call__(self, rng: np.random.Generator, people: int, draws: int) -> Judged:
        size = replace(self.size, people=people)
        made = simulated(rng, size, [self.truth], [[self.model]], shares_pictures=self.shares_pictures)
        seed = int(rng.integers(1 << 31))
        (found,) = beside_people(made.people, made.models, attentive=made.attentive, seed=seed, draws=draws).values()
        (one,) = found.corruptions.values()
        is_open = not one.matches and not one.differs
        return Judged(
            one.matches,
            one.differs,
            one.answers,
            one.answers_to_match if is_open else None,
            one.answers_to_differ if is_open else None,
        )


@dataclass(frozen=True)
class OfPair:
    """Two corruptions beside each other."""

    crowd: corruptions.Crowd
    first: Curve
    second: Curve

    def __call__(self, rng: np.random.Generator, people: int, draws: int) -> Judged:
        crowd = replace(self.crowd, people=people)
        (one,) = corruptions.compared(rng, crowd, [self.first, self.second], draws)
        return Judged(one.equivalent, one.different, one.answers, one.answers_to_decide, one.answers_to_differ)


def decided(study: Study, people: int, *, alike: bool) -> Callable[[np.random.Generator], Outcome]:
    """Whether a new study of the size that a pilot tells says the word, and whether half of it would have done."""
    # The step-down draws for differences alone; that a pilot differs is a matter of its draws in either case.
    draws = 1 if alike else DRAWS

    def outcome(rng: np.random.Generator) -> Outcome:
        pilot = study(rng, people, DRAWS)
        needed = pilot.to_match if alike else pilot.to_differ
        if needed is None:
            return {"reached": np.nan, "reached with half": np.nan, "times the pilot": np.nan, "told": 0.0}
        times = needed / pilot.answers
        words = [study(rng, max(round(people * times * part), 2), draws) for part in (1.0, 0.5)]
        full, half = ((one.alike if alike else one.differs) for one in words)
        return {"reached": full, "reached with half": half, "times the pilot": times, "told": 1.0}

    return outcome


def lower_everywhere(truth: Curve, by: float) -> Curve:
    """The curve, lower by the same at all visual changes."""

    def lower(v: FloatArray) -> FloatArray:
        return np.maximum(truth(v) - by, 0.005)

    return lower


def cells() -> Iterator[Cell]:
    limits = {"reached": Limit(at_least=POWER), "reached with half": Limit(at_most=POWER)}
    small, few, fewer = Size(60, 16), Size(20, 48), Size(30, 16)
    joint = corruptions.Crowd(60, 16)
    even, bent = lower_everywhere(SMOOTH, TRUE_GAP), SMOOTH.lowered(TRUE_GAP)
    matching: dict[str, tuple[Study, int]] = {
        "a model, smooth, pictures hard for both": (OfModel(small, SMOOTH, SMOOTH), 60),
        "a model, smooth, pictures of its own": (OfModel(small, SMOOTH, SMOOTH, shares_pictures=False), 60),
        "a model, sharp, pictures hard for both": (OfModel(small, SHARP, SHARP), 60),
        "a model, smooth, pilot of 20 people x 48": (OfModel(few, SMOOTH, SMOOTH), 20),
        "two corruptions, smooth, one crowd": (OfPair(joint, SMOOTH, SMOOTH), 60),
        "two corruptions, smooth, two crowds": (OfPair(replace(joint, joint=False), SMOOTH, SMOOTH), 60),
    }
    differing: dict[str, tuple[Study, int]] = {
        "a model, smooth, lower everywhere": (OfModel(fewer, SMOOTH, even), 30),
        "a model, smooth, bending earlier": (OfModel(fewer, SMOOTH, bent), 30),
        "two corruptions, smooth, lower everywhere, one crowd": (
            OfPair(replace(joint, people=30), SMOOTH, even),
            30,
        ),
    }
    for name, (study, people) in matching.items():
        yield Cell(ANSWERS_THAT_DECIDE.name, f"alike: {name}", decided(study, people, alike=True), limits, 400)
    for name, (study, people) in differing.items():
        yield Cell(ANSWERS_THAT_DECIDE.name, f"apart: {name}", decided(study, people, alike=False), limits, 400)


CELLS = tuple(cells())

if __name__ == "__main__":
    run("answers_needed")
