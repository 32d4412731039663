"""What verdicts on models rest on, and the same study with some of its sessions, pictures or categories left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.beside import attentive_shares

#: What can be left out of a study.
Unit = Literal["sessions", "pictures", "categories"]


@dataclass(frozen=True, eq=False)
class Sources:
    """Answers to one corruption function, or to clean pictures, with where they come from.

    Parameters
    ----------
    answers : AnswersToOne
    categories : Clusters
    sessions : Clusters or None
        None of a model.
    """

    answers: AnswersToOne
    categories: Clusters
    sessions: Clusters | None = None

    def units(self, unit: Unit) -> Clusters | None:
        """The unit of each answer."""
        if unit == "pictures":
            return self.answers.originals
        return self.sessions if unit == "sessions" else self.categories

    def without(self, unit: Unit, names: Collection[str]) -> Sources:
        """Leave out all answers of these units."""
        units = self.units(unit)
        if units is None:
            return self
        kept = ~np.isin(units.names, sorted(names))
        if kept.all():
            return self
        rows: NDArray[np.bool_] = kept[units.codes]
        sessions = None if self.sessions is None else self.sessions.select(rows)
        return Sources(self.answers.select(rows), self.categories.select(rows), sessions)


@dataclass(frozen=True, eq=False)
class Compared:
    """People's answers and those of models, by corruption.

    Parameters
    ----------
    people : mapping of corruption to Sources
    models : mapping of model to mapping of corruption to Sources
    clean : Sources or None
        People's answers to clean pictures.
    conditions : frozenset of str
        Corruptions that are published experiments with few conditions.
    choices : int, optional
        Labels between which people chose; by default the product's.
    """

    people: Mapping[str, Sources]
    models: Mapping[str, Mapping[str, Sources]]
    clean: Sources | None
    conditions: frozenset[str] = frozenset()
    choices: int | None = None

    def attentive(self) -> dict[str, float]:
        """Lower bound of the share of people's answers to each corruption that came from looking."""
        answers, _ = self.answers()
        clean = None if self.clean is None else self.clean.answers
        return attentive_shares(answers, clean, self.conditions, choices=self.choices)

    def without(self, unit: Unit, names: Collection[str]) -> Compared:
        """Leave these sessions, pictures or categories out; a corruption that nobody answered any more is gone."""
        people = {name: own.without(unit, names) for name, own in self.people.items()}
        models = {
            model: {name: one.without(unit, names) for name, one in own.items()} for model, own in self.models.items()
        }
        return Compared(
            {name: own for name, own in people.items() if len(own.answers)},
            {model: {name: one for name, one in own.items() if len(one.answers)} for model, own in models.items()},
            None if self.clean is None else self.clean.without(unit, names),
            self.conditions,
            self.choices,
        )

    @property
    def crowds(self) -> dict[str, int]:
        """How many people answered to each corruption."""
        return {name: own.answers.n_people for name, own in self.people.items()}

    def of_crowds(self, fewest: int) -> Compared:
        """Only corruptions to which so many people answered."""
        enough = {name for name, people in self.crowds.items() if people >= fewest}
        return Compared(
            {name: own for name, own in self.people.items() if name in enough},
            {model: {name: one for name, one in own.items() if name in enough} for model, own in self.models.items()},
            self.clean,
            self.conditions,
            self.choices,
        )

    def part(self, model: str, corruptions: Collection[str]) -> Compared:
        """One model on some corruptions."""
        return Compared(
            {name: own for name, own in self.people.items() if name in corruptions},
            {model: {name: own for name, own in self.models[model].items() if name in corruptions}},
            self.clean,
            self.conditions,
            self.choices,
        )

    def answers(self) -> tuple[dict[str, AnswersToOne], dict[str, dict[str, AnswersToOne]]]:
        """People's answers and those of models, as `beside_people` reads them."""
        return (
            {name: own.answers for name, own in self.people.items()},
            {model: {name: one.answers for name, one in own.items()} for model, own in self.models.items()},
        )

    def units(self, unit: Unit) -> tuple[str, ...]:
        """Names of all that can be left out, sorted."""
        found: set[str] = set()
        for one in (*self.people.values(), *(one for own in self.models.values() for one in own.values())):
            units = one.units(unit)
            if units is not None:
                found.update(units.names.tolist())
        return tuple(sorted(found))
