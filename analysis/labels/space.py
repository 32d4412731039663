"""A set of labels as a value: its identity is what answers mean, its presentation is what people see."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import BoolArray, IntArray
from analysis.errors import InvalidInput

#: The response recorded when no answer came in time; wrong, and kept apart from a wrong choice.
NO_ANSWER = "na"
#: An answer that is no label: "none of these", where a study offers it.
NONE_OF_THESE = "none"
#: What a network answers whose best output stands for no label, where all outputs compete.
OUTSIDE = "outside"
#: What a label cannot be called, since answers are called so.
RESERVED = (NO_ANSWER, NONE_OF_THESE, OUTSIDE, "refusal", "unreadable", "error")

FEWEST, MOST = 2, 1000
#: With more labels than these, people do not choose among all of them, and words need not be unique.
MOST_FOR_PEOPLE = 30
#: Rows and columns of a grid, which digit keys choose.
MOST_ROWS = 9
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Label:
    """One label.

    Attributes
    ----------
    id : str
        Permanent; what trials, predictions and exports hold. Lower-case letters, digits, hyphens and underscores, at
        most 40; a WordNet id is one.
    words : mapping of str to str
        What people read, by language.
    synonyms : mapping of str to tuple of str
        What is read as this label in answers that observers write, besides its words; by language.
    definition, page : str
        A sentence that says what counts, and the address of a page that shows it; for validation.
    icon : str
        Name of its drawing, see `LabelSpace.drawings`; empty without one.
    classes : tuple of str
        Classes of ImageNet that stand for it: WordNet ids of classes, ranges of them in the order of the outputs
        (``"n01871265..n01877812"``), or ids of what they are kinds of.
    """

    id: str
    words: Mapping[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    definition: str = ""
    page: str = ""
    icon: str = ""
    classes: tuple[str, ...] = ()

    def word(self, language: str = "en") -> str:
        """What people read in this language; in a related one, in English, in any, or the id, where it has none."""
        main = language.split("-")[0]
        return next(
            (self.words[code] for code in (language, main, "en", *self.words) if self.words.get(code)),
            self.id,
        )

    @property
    def further_word(self) -> str:
        """The word in English, for display beside the id; empty where it says no more, as "Cat" beside "cat"."""
        word = self.word()
        return "" if word.casefold() == self.id else word

    def readings(self) -> set[str]:
        """Everything that an answer in words may say to mean this label, in lower case."""
        written = [*self.words.values(), *(word for words in self.synonyms.values() for word in words)]
        return {self.id, *(" ".join(word.split()).casefold() for word in written)}


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelSpace:
    """Labels of which an answer is one.

    Attributes
    ----------
    name : str
        For people and commands; not part of the identity.
    labels : tuple of Label
        2 to 1,000, in the order in which files number them.
    partitions : mapping of str to mapping of str to tuple of str
        Groups of labels by the name of the partition: ``{"kind": {"animal": ("cat", "dog"), "artefact": ("car",)}}``.
    negatives : str
        The partition whose other groups a negative sentinel looks for; empty: a study has no such sentinels.
    grid : tuple of tuple of str
        Ids as people see them, row by row; empty: see `rows`.
    drawings : mapping of str to str
        SVG by the name of an icon; an icon without one is a file that the product ships.

    Raises
    ------
    InvalidInput
        Naming the label or field at fault and what to write instead.
    """

    name: str
    labels: tuple[Label, ...]
    partitions: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    negatives: str = ""
    grid: tuple[tuple[str, ...], ...] = ()
    drawings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_ids()
        self._check_partitions()
        self._check_grid()
        if len(self.labels) <= MOST_FOR_PEOPLE:
            self._check_words()

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids in alphabetical order: the order of scores, counts and columns."""
        return tuple(sorted(label.id for label in self.labels))

    @cached_property
    def responses(self) -> tuple[str, ...]:
        """All answers of a person in a timed trial: the ids, and none in time."""
        return (*self.ids, NO_ANSWER)

    @cached_property
    def _by_id(self) -> Mapping[str, Label]:
        return {label.id: label for label in self.labels}

    def __len__(self) -> int:
        """Number of labels."""
        return len(self.labels)

    def __contains__(self, one: object) -> bool:
        """Whether this is the id of a label."""
        return one in self._by_id

    def __getitem__(self, one: str) -> Label:
        """The label with this id."""
        return self._by_id[one]

    def place(self, one: str) -> int:
        """Number of a label in `ids`."""
        return self.places[one]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Number in `ids` of every label."""
        return {one: number for number, one in enumerate(self.ids)}

    def holds(self, labels: ArrayLike) -> bool:
        """Whether all of these are ids of it."""
        return set(np.asarray(labels).tolist()) <= self._by_id.keys()

    def places_of(self, labels: ArrayLike) -> IntArray:
        """Numbers in `ids` of labels that are all known."""
        return np.asarray(np.searchsorted(self.ids, labels), dtype=np.int64)

    def known(self, labels: ArrayLike) -> BoolArray:
        """Which of these are ids of it."""
        return np.asarray(np.isin(labels, self.ids), dtype=np.bool_)

    @property
    def chance(self) -> float:
        """Share of right answers of whoever guesses among all labels. A trial with options of its own has its own."""
        return 1.0 / len(self)

    # --- groups

    def groups(self, partition: str = "") -> Mapping[str, tuple[str, ...]]:
        """Groups of a partition, by default of that for negative sentinels; empty where there is none."""
        return self.partitions.get(partition or self.negatives, {})

    def group(self, one: str, partition: str = "") -> str:
        """Group to which a label belongs; empty where there is no partition, or it lies outside."""
        return next((name for name, ids in self.groups(partition).items() if one in ids), "")

    def of_other_groups(self, one: str) -> tuple[str, ...]:
        """Labels of the other groups of the partition for negative sentinels, in the order of `ids`."""
        mine = self.group(one)
        return tuple(other for other in self.ids if self.group(other) not in ("", mine)) if mine else ()

    # --- identity and presentation

    @cached_property
    def identity(self) -> str:
        """SHA-256 of ids, partitions and the one for negative sentinels: the same for labels that mean the same."""
        return _digest(
            {
                "ids": self.ids,
                "partitions": {
                    name: {group: sorted(ids) for group, ids in groups.items()}
                    for name, groups in self.partitions.items()
                },
                "negatives": self.negatives,
            }
        )

    @cached_property
    def presentation(self) -> str:
        """SHA-256 of all that people see of it."""
        return _digest(
            {
                "labels": {
                    one: [dict(self[one].words), self[one].definition, self[one].page, self[one].icon]
                    for one in self.ids
                },
                "grid": self.rows,
                "drawings": dict(self.drawings),
            }
        )

    @cached_property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The grid that people see: the stated one, or rows as nearly square as can be, in the stated order."""
        if self.grid:
            return self.grid
        ids = [label.id for label in self.labels]
        wide = next(n for n in range(1, len(ids) + 1) if n * n >= len(ids))
        return tuple(tuple(ids[start : start + wide]) for start in range(0, len(ids), wide))

    @property
    def in_grid(self) -> tuple[str, ...]:
        """Ids in reading order of the grid."""
        return tuple(one for row in self.rows for one in row)

    def read(self, text: str) -> str:
        """Id of the label that a text names by id, word or synonym, whatever its capitals; empty without one."""
        return self._readings.get(" ".join(text.split()).casefold(), "")

    @cached_property
    def _readings(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for label in self.labels:
            for reading in label.readings():
                # Two classes of ImageNet are called crane: a word of two labels names neither.
                found[reading] = label.id if found.get(reading, label.id) == label.id else ""
        return {**found, **{label.id: label.id for label in self.labels}}

    # --- checks

    def _check_ids(self) -> None:
        if not FEWEST <= len(self.labels) <= MOST:
            raise self._refusal(f"has {len(self.labels)} labels; it takes {FEWEST} to {MOST:,}.")
        for label in self.labels:
            if not _ID.fullmatch(label.id):
                raise self._refusal(
                    f"the id {label.id!r} must be lower-case letters, digits, hyphens and underscores, at most 40 "
                    "characters, and begin with a letter or digit. Words for people stand in `words`."
                )
            if label.id in RESERVED:
                raise self._refusal(
                    f"no label can be called {label.id!r}: answers without a label are called so "
                    f"({', '.join(RESERVED)}). Give it another id; its words may stay."
                )
        double = _first_double(label.id for label in self.labels)
        if double:
            raise self._refusal(f"the id {double!r} is there twice. Each label needs an id of its own.")

    def _check_partitions(self) -> None:
        for name, groups in self.partitions.items():
            place = f"[partitions.{name}]"
            if len(groups) < 2:
                raise self._refusal(f"{place} needs at least two groups.")
            listed = [one for ids in groups.values() for one in ids]
            strange = next((one for one in listed if one not in self), None)
            if strange is not None:
                raise self._refusal(f"{place} names {strange!r}, which is none of its labels: {self._some()}.")
            double = _first_double(listed)
            if double:
                raise self._refusal(f"{place} puts {double!r} into two groups, or twice into one.")
            outside = [one for one in self.ids if one not in set(listed)]
            if outside and name == self.negatives:
                raise self._refusal(
                    f"{place} leaves out {', '.join(outside[:5])}: negative sentinels need every label in a group. Add "
                    "it to one, or take the line `negatives` away."
                )
        if self.negatives and self.negatives not in self.partitions:
            raise self._refusal(
                f"`negatives` names the partition {self.negatives!r}, and there is none of this name: "
                f"{', '.join(self.partitions) or 'there are none'}."
            )

    def _check_grid(self) -> None:
        if not self.grid:
            return
        if len(self) <= MOST_FOR_PEOPLE and max(len(self.grid), *map(len, self.grid)) > MOST_ROWS:
            raise self._refusal(
                f"`grid` has {len(self.grid)} rows of up to {max(map(len, self.grid))}: the keys 1 to {MOST_ROWS} "
                f"reach at most {MOST_ROWS} rows and {MOST_ROWS} columns. Make it squarer, or leave it out."
            )
        shown = [one for row in self.grid for one in row]
        for one in shown:
            if one not in self:
                raise self._refusal(f"`grid` names {one!r}, which is none of its labels: {self._some()}.")
        missing = [one for one in self.ids if one not in shown]
        double = _first_double(shown)
        if missing or double:
            raise self._refusal(
                f"`grid` must name every label once: {', '.join(missing[:5])} missing."
                if missing
                else f"`grid` names {double!r} twice."
            )

    def _check_words(self) -> None:
        """People and observers who write must be able to tell labels apart by their words."""
        for code in sorted({code for label in self.labels for code in {*label.words, *label.synonyms}}):
            meant: dict[str, str] = {}
            for label in self.labels:
                for word in {label.words.get(code, ""), *label.synonyms.get(code, ())} - {""}:
                    key = " ".join(word.split()).casefold()
                    other = meant.setdefault(key, label.id)
                    if other != label.id:
                        raise self._refusal(
                            f"{word!r} ({code}) is a word of both {other!r} and {label.id!r}. Nobody can tell them "
                            "apart: change one."
                        )

    def _some(self) -> str:
        return ", ".join(self.ids[:8]) + (" and so on" if len(self) > 8 else "")

    def _refusal(self, sentence: str) -> InvalidInput:
        return InvalidInput(f"Labels {self.name!r}: {sentence}")


def _first_double(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
