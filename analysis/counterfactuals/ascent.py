"""A batch of pictures that are perturbed together: Algorithm 1, one round at a time.

Whoever judges the proposals, an oracle in this process or people days later, drives it the same way: look at
`Ascent.proposals`, call `Ascent.advance` with the verdicts, until it `is_done`. Between rounds it travels as arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from analysis.counterfactuals.port import Generator, Painting, State, Target, select
from analysis.errors import InvalidInput, SearchRefused

#: Why a picture left the search.
Ending = Literal["", "refused", "budget"]


@dataclass(slots=True)
class Trace:
    """How one picture came along; grows by one entry at every accepted step.

    Attributes
    ----------
    label : str
        Category.
    clean_response, clean_loss : str, float
        The classifier on the original.
    losses : list of float
        Loss of the classifier at every accepted picture, step 0 first; empty when step 0 was refused.
    responses : list of str
        What the classifier answered to them.
    oracle_responses : list of str
        What the oracle said of every proposal, the refused one included.
    ending : {"", "refused", "budget"}
        Why it left the search; empty while it is under way.
    """

    label: str
    clean_response: str
    clean_loss: float
    losses: list[float] = field(default_factory=list)
    responses: list[str] = field(default_factory=list)
    oracle_responses: list[str] = field(default_factory=list)
    ending: Ending = ""

    @property
    def valid(self) -> bool:
        """Accepted at step 0."""
        return bool(self.losses)

    @property
    def accepted_steps(self) -> int:
        """Perturbations that were accepted, from 0 to the budget."""
        return max(0, len(self.losses) - 1)


class Ascent:
    """Pictures that advance together; finished ones leave.

    Parameters
    ----------
    pictures : ndarray of uint8, shape (n, h, w, 3)
        Originals, or what a control made of them.
    labels : sequence of str, length n
        Categories.
    seeds : sequence of int, length n
        One for every picture.
    target : Target
        Classifier under test.
    generator : Generator
    budget : int
        Most perturbations of a picture, at least 1.

    Raises
    ------
    SearchRefused
        For a budget below 1, or numbers of labels, seeds and pictures that differ.

    Notes
    -----
    OOR paper, Algorithm 1. A picture that is refused at step 0 is not valid; one that is refused later stands at its
    last accepted picture.
    """

    def __init__(
        self,
        pictures: NDArray[np.uint8],
        labels: Sequence[str],
        seeds: Sequence[int],
        *,
        target: Target,
        generator: Generator,
        budget: int,
    ) -> None:
        check_budget(budget)
        if not len(pictures) == len(labels) == len(seeds):
            raise SearchRefused(
                f"One label and one seed a picture: there are {len(pictures)} pictures, {len(labels)} labels and "
                f"{len(seeds)} seeds."
            )
        self._target, self._generator, self._budget = target, generator, budget
        self._numbers = target.numbers(labels)
        clean = target.look(pictures, self._numbers)
        self.traces = [
            Trace(label, str(response), float(loss))
            for label, response, loss in zip(labels, clean.responses, clean.losses, strict=True)
        ]
        self.kept: dict[int, NDArray[np.uint8]] = {}
        self.step = 0
        self.active: NDArray[np.intp] = np.arange(len(pictures))
        self._state: State = generator.start(pictures, np.asarray(seeds, dtype=np.int64)) if len(pictures) else {}
        self._painting = generator.paint(self._state) if len(pictures) else Painting(pictures)

    @property
    def proposals(self) -> NDArray[np.uint8]:
        """Pictures that wait for a verdict, shape (n, h, w, 3)."""
        return self._painting.pictures

    @property
    def is_done(self) -> bool:
        """Whether every picture has left."""
        return not len(self.active)

    @property
    def active_labels(self) -> list[str]:
        """Labels of the pictures whose proposals wait for a verdict."""
        return [self.traces[place].label for place in self.active]

    def advance(self, accepted: NDArray[np.bool_], responses: Sequence[str]) -> None:
        """Keep what was accepted, let go of what was refused, and perturb the rest once more.

        Parameters
        ----------
        accepted : ndarray of bool
            One verdict for each of `proposals`.
        responses : sequence of str
            What the oracle saw in them.

        Raises
        ------
        InvalidInput
            If there are not as many verdicts as proposals.
        """
        if not len(accepted) == len(responses) == len(self.active):
            raise InvalidInput(f"{len(self.active)} pictures wait for a verdict each, not {len(accepted)}.")
        for place, response in zip(self.active, responses, strict=True):
            self.traces[place].oracle_responses.append(str(response))
        going = np.flatnonzero(accepted)
        for place in self.active[~np.asarray(accepted, dtype=bool)]:
            self.traces[place].ending = "refused"
        self._keep(going)
        if self.step == self._budget:
            for place in self.active[going]:
                self.traces[place].ending = "budget"
            going = going[:0]
        self.active = self.active[going]
        self.step += 1
        if len(going):
            stayed, painting = select(self._state, going), self._painting.of(going)
            # What was painted before is let go of before anything is painted anew.
            self._painting = Painting(self.proposals[:0])
            self._state = self._generator.step(stayed, self._numbers[self.active], self._target, painting)
            del painting
            self._painting = self._generator.paint(self._state)
        else:
            self._state, self._painting = {}, Painting(self.proposals[:0])

    def _keep(self, going: NDArray[np.intp]) -> None:
        if not len(going):
            return
        places = self.active[going]
        seen = self._target.look(self.proposals[going], self._numbers[places])
        for number, place in enumerate(places):
            self.kept[int(place)] = self.proposals[going[number]]
            self.traces[place].losses.append(float(seen.losses[number]))
            self.traces[place].responses.append(str(seen.responses[number]))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Where the pictures under way stand; `traces` and `kept` are the caller's to store."""
        standing = {f"state.{name}": values for name, values in self._state.items()}
        return {**standing, "active": self.active, "proposals": self.proposals, "step": np.array(self.step)}

    @classmethod
    def from_arrays(
        cls,
        arrays: dict[str, NDArray[Any]],
        traces: list[Trace],
        *,
        target: Target,
        generator: Generator,
        budget: int,
    ) -> Self:
        """Go on where `to_arrays` left; ``kept`` then holds what is accepted from here on."""
        ascent = cls.__new__(cls)
        ascent._target, ascent._generator, ascent._budget = target, generator, budget
        ascent._numbers = target.numbers([trace.label for trace in traces])
        ascent.traces, ascent.kept = traces, {}
        ascent.step, ascent.active = int(arrays["step"]), arrays["active"]
        ascent._painting = Painting(arrays["proposals"])
        ascent._state = {
            name.removeprefix("state."): values for name, values in arrays.items() if name.startswith("state.")
        }
        return ascent


def check_budget(budget: int) -> None:
    """Refuse a budget that allows no perturbation.

    Raises
    ------
    SearchRefused
    """
    if isinstance(budget, bool) or budget != int(budget) or budget < 1:
        raise SearchRefused(f"The budget counts perturbations of a picture: 1 or more, not {budget}.")
