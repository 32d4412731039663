"""The pictures a plan may use, read once and indexed, and the order of the answer grid."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from analysis.corruptions.registry import NO_CORRUPTION
from analysis.errors import DesignRefused
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace


def shuffled_grid(family: str, participant: str, space: LabelSpace | None = None) -> tuple[str, ...]:
    """An order of one participant's own, row by row: the same in all their sessions of a study family.

    Parameters
    ----------
    family : str
        Name of the study family.
    participant : str
        Code of the participant.
    space : LabelSpace, optional
        By default the product's.

    Returns
    -------
    tuple of str
        The labels of the grid in an order that follows from both names alone.
    """
    digest = hashlib.sha256(f"grid order\n{family}\n{participant}".encode()).digest()
    grid = (space or default_labels()).in_grid
    order = np.random.default_rng(int.from_bytes(digest[:16], "big")).permutation(len(grid))
    return tuple(grid[int(place)] for place in order)


class StimulusRow(NamedTuple):
    """The columns of a stimulus that a plan depends on."""

    stimulus: str
    original: str
    category: str
    corruption: str
    visual_change: float


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """Originals with their clean picture, and the corrupted stimuli.

    Parameters
    ----------
    category_of : mapping
        Category of every original, sorted by original.
    clean : mapping
        Clean stimulus of every original.
    corrupted : tuple of StimulusRow
        Sorted by name.
    held_plain : tuple of StimulusRow
        Stimuli that practice and plain comparisons alone may show (`analysis.design.pairs`), sorted by name.
    person_sentinels : tuple of StimulusRow
        Pictures of sentinels of persons, sorted by name; cue conflicts are originals of their own, in no other map.
    space : LabelSpace
        Labels of the pictures.
    accepted_of : mapping
        Labels that are right by original, where there are several; without an entry its category alone.
    competing_of : mapping
        What else an original could be taken for, where that is known.
    """

    category_of: Mapping[str, str]
    clean: Mapping[str, StimulusRow]
    corrupted: tuple[StimulusRow, ...]
    held_plain: tuple[StimulusRow, ...] = ()
    person_sentinels: tuple[StimulusRow, ...] = ()
    space: LabelSpace = field(default_factory=default_labels)
    accepted_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    competing_of: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_rows(
        cls,
        originals: Mapping[str, str],
        stimuli: Iterable[Mapping[str, Any]],
        *,
        plain: Collection[str] = (),
        person_families: Collection[str] = (),
        space: LabelSpace | None = None,
    ) -> Catalogue:
        """Index stimuli by what they were made from.

        Parameters
        ----------
        originals : mapping
            Category by original.
        stimuli : iterable of mappings
            With the columns stimulus, original, category, corruption, visual_change (``tables.stimuli.STIMULI``), and
            maybe accepted and competing: labels that are right, and one that competes.
        plain : collection of str
            Functions whose stimuli are held for practice and plain comparisons.
        person_families : collection of str
            Families of sentinels of persons.
        space : LabelSpace, optional
            Labels of the pictures; by default the product's.

        Raises
        ------
        DesignRefused
            If there is nothing to plan with, a stimulus has no original, or an original has no clean stimulus.
        """
        clean: dict[str, StimulusRow] = {}
        corrupted, held_plain, sentinels = [], [], []
        accepted: dict[str, tuple[str, ...]] = {}
        competing: dict[str, str] = {}
        for columns in stimuli:
            row = StimulusRow(
                str(columns["stimulus"]),
                str(columns["original"]),
                str(columns["category"]),
                str(columns["corruption"]),
                float(columns["visual_change"]),
            )
            if columns.get("accepted"):
                accepted[row.original] = tuple(map(str, columns["accepted"]))
            if columns.get("competing"):
                competing[row.original] = str(columns["competing"])
            if row.corruption in person_families:
                sentinels.append(row)
                continue
            if originals.get(row.original) != row.category:
                raise DesignRefused(
                    f"Stimulus {row.stimulus} says original {row.original} of category {row.category}, but the picture "
                    "set does not: generate the stimuli again from this set."
                )
            if row.corruption == NO_CORRUPTION:
                clean[row.original] = row
            elif row.corruption in plain:
                held_plain.append(row)
            else:
                corrupted.append(row)
        if not originals:
            raise DesignRefused("The picture set is empty: import pictures first.")
        without = sorted(set(originals) - set(clean))
        if without:
            raise DesignRefused(
                f"{len(without)} of {len(originals)} originals have no clean stimulus (first: {without[0]}): "
                "complete the stimulus set."
            )
        return cls(
            category_of=dict(sorted(originals.items())),
            clean=dict(sorted(clean.items())),
            corrupted=tuple(sorted(corrupted)),
            held_plain=tuple(sorted(held_plain)),
            person_sentinels=tuple(sorted(sentinels)),
            space=space or default_labels(),
            accepted_of=accepted,
            competing_of=competing,
        )

    def target_of(self, original: str) -> str:
        """The right label that a trial of this original offers: its category, where that is right."""
        category, accepted = self.category_of[original], self.accepted_of.get(original, ())
        return category if category in accepted or not accepted else accepted[0]

    def right_for(self, original: str) -> frozenset[str]:
        """Every label that is right for this original."""
        return frozenset(self.accepted_of.get(original, ())) or frozenset({self.category_of[original]})

    def group_of(self, original: str) -> str:
        """Group of an original's label in the partition for negative sentinels; empty without one."""
        return self.space.group(self.category_of[original])

    @property
    def corruptions(self) -> tuple[str, ...]:
        return tuple(sorted({row.corruption for row in self.corrupted}))

    @property
    def plain(self) -> tuple[str, ...]:
        """Functions that practice and plain comparisons alone may show."""
        return tuple(sorted({row.corruption for row in self.held_plain}))

    @property
    def categories(self) -> tuple[str, ...]:
        return tuple(sorted(set(self.category_of.values())))

    def by_stimulus(self) -> dict[str, StimulusRow]:
        """Every stimulus by its name."""
        rows = (*self.clean.values(), *self.corrupted, *self.held_plain, *self.person_sentinels)
        return {row.stimulus: row for row in rows}

    def categories_of_all(self) -> dict[str, str]:
        """Category of every original, those of cue conflicts among them."""
        return {**{row.original: row.category for row in self.person_sentinels}, **self.category_of}
