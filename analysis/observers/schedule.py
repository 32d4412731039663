"""Which questions are asked about a whole set of stimuli, and in which order: trials, repeats, rotations, controls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from analysis.labels.files import default_labels
from analysis.observers.alternatives import alternatives_of
from analysis.observers.questions import AskPlan, ForcedChoice, drawn_from, rotated

if TYPE_CHECKING:
    from analysis.classifiers.shards import ShownStimulus
    from analysis.labels.space import LabelSpace

#: What a question is for. The answer to a trial stands for its stimulus; controls show another picture than the trial.
Purpose = Literal["trial", "wording", "order", "repeat", "consistency", "rotation", "canary", "grey", "wrong"]
#: Purposes of questions that are asked about every stimulus.
EVERY: tuple[Purpose, ...] = ("trial", "wording", "order", "repeat")
CONTROLS: tuple[Purpose, ...] = ("grey", "wrong")
#: Draws of a picture of another category, before there is taken to be none.
_MOST_DRAWS = 1000


@dataclass(frozen=True, slots=True)
class Planned:
    """A question as it is put.

    Attributes
    ----------
    trial : ShownStimulus
        Whose question it is.
    question : ForcedChoice
    purpose : Purpose
    shown : ShownStimulus or None
        Whose picture is shown with it; None: a grey one.
    """

    trial: ShownStimulus
    question: ForcedChoice
    purpose: Purpose
    shown: ShownStimulus | None


@dataclass(frozen=True)
class Schedule:
    """All questions about a set of stimuli.

    Attributes
    ----------
    plan : AskPlan
    stimuli : sequence of ShownStimulus
        All of them, in the order in which they are asked about.
    space : LabelSpace or None
        Labels by whose words they are asked for; None for the default, whose words are its ids.
    n_labels : int
        Offered with each question.
    foils : mapping of stimulus to str
        A label that is a foil of its picture before any is drawn; of plans with alternatives alone.
    """

    plan: AskPlan
    stimuli: Sequence[ShownStimulus]
    space: LabelSpace | None
    n_labels: int
    foils: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _by_change(self) -> list[ShownStimulus]:
        return sorted(self.stimuli, key=lambda one: (one.corruption, one.visual_change or 0.0, one.stimulus))

    @cached_property
    def _places(self) -> dict[str, int]:
        """Place of the right label for each stimulus: each place once among neighbours in visual change."""
        if not self.plan.is_balanced:
            return {}
        found: dict[str, int] = {}
        for start in range(0, len(self._by_change), self.n_labels):
            block = self._by_change[start : start + self.n_labels]
            places = drawn_from("places", self.plan.seed, start).permutation(self.n_labels)
            found |= {one.stimulus: int(place) for one, place in zip(block, places, strict=False)}
        return found

    @cached_property
    def _consistency(self) -> list[ShownStimulus]:
        return _spread(self._by_change, self.plan.consistency[0])

    @cached_property
    def _canaries(self) -> list[ShownStimulus]:
        return _spread(self._consistency or self._by_change, self.plan.canaries)

    @cached_property
    def _chosen(self) -> dict[Literal["consistency", "rotation"], frozenset[str]]:
        return {
            "consistency": frozenset(one.stimulus for one in self._consistency),
            "rotation": frozenset(one.stimulus for one in _spread(self._by_change, self.plan.rotated)),
        }

    def early(self) -> Iterator[Planned]:
        """Questions that are asked before all others, though their answers are those of their stimuli."""
        for trial in self._canaries:
            for one in self.about(trial):
                if one.purpose in ("trial", "consistency"):
                    yield one

    def about(self, trial: ShownStimulus) -> Iterator[Planned]:
        """The questions about one stimulus, the one whose answer stands for it first."""
        first = None
        for question in self._questions(trial):
            first = first or question
            yield Planned(trial, question, _purpose(question, first), trial)
        if first is None:
            return
        if trial.stimulus in self._chosen["consistency"]:
            for repeat in range(self.plan.repeats, self.plan.consistency[1]):
                yield Planned(trial, replace(first, repeat=repeat), "consistency", trial)
        if trial.stimulus in self._chosen["rotation"]:
            for steps in range(1, self.n_labels):
                turned = replace(first, labels=rotated(first.labels, steps), order=self.plan.orders - 1 + steps)
                yield Planned(trial, turned, "rotation", trial)

    def late(self) -> Iterator[Planned]:
        """Controls, and at the very end the questions of the beginning once more."""
        for trial in _spread(self._by_change, self.plan.grey):
            yield Planned(trial, self._first(trial), "grey", None)
        for trial in _spread(self._by_change, self.plan.wrong):
            other = self._other(trial)
            if other is not None:
                yield Planned(trial, self._first(trial), "wrong", other)
        again = max(self.plan.repeats, self.plan.consistency[1])
        for trial in self._canaries:
            yield Planned(trial, replace(self._first(trial), repeat=again), "canary", trial)

    def everything(self) -> Iterator[Planned]:
        """Each question once."""
        for trial in self.stimuli:
            yield from self.about(trial)
        yield from self.late()

    @cached_property
    def counts(self) -> dict[Purpose, int]:
        """Questions by what they are for."""
        return dict(Counter(one.purpose for one in self.everything()))

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def _questions(self, trial: ShownStimulus) -> Iterator[ForcedChoice]:
        place = self._places.get(trial.stimulus)
        right = None if place is None else (trial.category, place)
        return self.plan.questions_for(trial.stimulus, self.space, right=right, offered=self._offered(trial))

    def _offered(self, trial: ShownStimulus) -> tuple[str, ...]:
        """Labels that compete for one stimulus; none: all."""
        if not self.plan.alternatives:
            return ()
        first = self.foils.get(trial.stimulus)
        return alternatives_of(
            trial.stimulus,
            trial.category,
            self.space or default_labels(),
            count=self.plan.alternatives,
            seed=self.plan.seed,
            accepted=trial.accepted,
            first=() if first is None else (first,),
        )

    def _first(self, trial: ShownStimulus) -> ForcedChoice:
        return next(self._questions(trial))

    def _other(self, trial: ShownStimulus) -> ShownStimulus | None:
        """A stimulus of another category, for which the trial's label is wrong; None where all show the same."""
        rng = drawn_from("wrong", self.plan.seed, trial.stimulus)
        for _ in range(_MOST_DRAWS):
            other = self.stimuli[int(rng.integers(len(self.stimuli)))]
            if not other.is_right(trial.category) and not trial.is_right(other.category):
                return other
        return None


def _purpose(question: ForcedChoice, first: ForcedChoice) -> Purpose:
    if question == first:
        return "trial"
    if question.repeat:
        return "repeat"
    return "order" if question.order else "wording"


def _spread(stimuli: Sequence[ShownStimulus], count: int) -> list[ShownStimulus]:
    """So many of them, at equal distances; all where there are no more."""
    if count >= len(stimuli):
        return list(stimuli)
    return [stimuli[int((number + 0.5) * len(stimuli) / count)] for number in range(count)]
