"""One experiment: the measures of an observer next to people, and what every person and picture adds to their error."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.agreement.pairs import kappa_parts
from analysis.arrays import FloatArray
from analysis.claims.agreement import ENOUGH_PICTURES
from analysis.errors import InvalidInput
from analysis.findings.agreement import conditions_of, included_conditions, pictures_of
from analysis.findings.observations import Observations
from analysis.findings.outcomes import condition_scale

Measure = Literal["ood_accuracy", "accuracy_difference", "observed_consistency", "error_consistency", "accuracy_lead"]
#: Measures of likeness, by which models are ranked.
OF_PAIRS: tuple[Measure, ...] = ("accuracy_difference", "observed_consistency", "error_consistency")
#: The same, and the lead, which has a direction: from an observer to a person. Rows of a `_Pair`.
_WITH_DIRECTION: tuple[Measure, ...] = (*OF_PAIRS, "accuracy_lead")


@dataclass(frozen=True, eq=False)
class Part:
    """A measure of one observer in one experiment.

    Attributes
    ----------
    value : float
    originals, people : mapping of name to float
        What the pictures of each original, and each person, add to the error of the value.
    singles : float
        Sum of the squares of the single contributions, which both count (`analysis.clusters.clustered`).
    noise : float
        Of a squared difference: by how much the choice of pictures lifts it on average; NaN where one original cannot
        tell.
    each : mapping of person to mapping of name to float
        ``originals`` of the value of each person of whom this is the mean.
    """

    value: float
    originals: Mapping[str, float]
    people: Mapping[str, float] = field(default_factory=dict)
    singles: float = 0.0
    noise: float = 0.0
    each: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Seen:
    """First answers of one observer in one condition: pictures in order, and whether each was right."""

    pictures: NDArray[np.str_]
    right: FloatArray
    originals: NDArray[np.str_]


class Experiment:
    """Answers to the pictures of one published experiment, in the conditions that count.

    Parameters
    ----------
    name : str
    people, classifiers : Observations
    left_out : collection of str, optional
        Conditions that do not count, as the authors of the experiment say; without it those do not that the published
        rule leaves out.
    """

    def __init__(
        self, name: str, people: Observations, classifiers: Observations, left_out: Collection[str] | None = None
    ) -> None:
        self.name = name
        self.included = _included(people, classifiers) if left_out is None else _all_but(people, left_out)
        self.people = sorted(set(people.observer.tolist()))
        self.classifiers = sorted(set(classifiers.observer.tolist()))
        self._answers = {
            name: rows.select((rows.observer == name) & np.isin(conditions_of(rows), self.included))
            for rows, names in ((people, self.people), (classifiers, self.classifiers))
            for name in names
        }
        self._seen = {name: _by_condition(rows) for name, rows in self._answers.items()}

    def parts_of(self, observer: str) -> dict[Measure, Part]:
        """The measures of a model next to all people, or of a person next to the others."""
        others = [name for name in self.people if name != observer]
        found: dict[Measure, Part] = {}
        if len(self._answers[observer]):
            found["ood_accuracy"] = self._accuracy(observer)
        pairs = {other: pair for other in others if (pair := self._pair(observer, other)) is not None}
        return found | _mean_of_pairs(pairs)

    def parts_of_people(self) -> dict[Measure, Part]:
        """The measures of people among themselves."""
        own = {name: self._accuracy(name) for name in self.people if len(self._answers[name])}
        found: dict[Measure, Part] = {"ood_accuracy": _averaged(own)} if own else {}
        pairs = {
            (first, second): pair
            for number, first in enumerate(self.people)
            for second in self.people[number + 1 :]
            if (pair := self._pair(first, second)) is not None
        }
        return found | _mean_among(pairs)

    def _accuracy(self, observer: str) -> Part:
        rows = self._answers[observer]
        conditions, condition = np.unique(conditions_of(rows), return_inverse=True)
        sizes = np.bincount(condition)
        means = np.bincount(condition, weights=rows.correct) / sizes
        parts = (rows.correct - means[condition]) / sizes[condition] / len(conditions)
        return Part(float(means.mean()), _summed(rows.original, parts), singles=float((parts**2).sum()))

    def _pair(self, first: str, second: str) -> _Pair | None:
        """Means over the conditions in which two observers share enough pictures."""
        cells = []
        for condition, own in self._seen[first].items():
            other = self._seen[second].get(condition)
            if other is None:
                continue
            _, mine, theirs = np.intersect1d(own.pictures, other.pictures, assume_unique=True, return_indices=True)
            if len(mine) >= ENOUGH_PICTURES:
                names = own.originals[mine]
                values, parts = _measures(own.right[mine], other.right[theirs])
                cells.append((names, values, parts, _noise(names, parts[-1])))
        if not cells:
            return None
        return _Pair(
            np.mean([values for _, values, _, _ in cells], axis=0),
            np.concatenate([names for names, _, _, _ in cells]),
            np.concatenate([parts for _, _, parts, _ in cells], axis=1) / len(cells),
            float(np.mean([noise for *_, noise in cells])),
        )


@dataclass(frozen=True, eq=False)
class _Pair:
    """Measures of two observers, and what each shared picture adds; shapes (4,), (n,), (4, n)."""

    values: FloatArray
    originals: NDArray[np.str_]
    parts: FloatArray
    #: what the choice of pictures adds to the squared difference on average
    noise: float

    def part(self, row: int) -> Part:
        """One measure of the two."""
        return Part(
            float(self.values[row]),
            _summed(self.originals, self.parts[row]),
            singles=float((self.parts[row] ** 2).sum()),
            noise=self.noise if row == 0 else 0.0,
        )


def _included(people: Observations, classifiers: Observations) -> list[str]:
    """By the published rule."""
    corruptions = np.unique(people.corruption).tolist()
    scales = {one: condition_scale(one, people.of(one), classifiers.of(one)) for one in corruptions}
    return included_conditions(people, {name: one for name, one in scales.items() if one is not None})[0]


def _all_but(people: Observations, left_out: Collection[str]) -> list[str]:
    """Refuses names of conditions that there are not."""
    there = np.unique(conditions_of(people)).tolist()
    unknown = sorted(set(left_out) - set(there))
    if unknown:
        raise InvalidInput(f"There is no condition {unknown[0]!r} to leave out; there are: {', '.join(there)}.")
    return [name for name in there if name not in left_out]


def _by_condition(rows: Observations) -> dict[str, _Seen]:
    conditions, pictures = conditions_of(rows), pictures_of(rows)
    found = {}
    for condition in np.unique(conditions).tolist():
        chosen = np.flatnonzero(conditions == condition)
        names, first = np.unique(pictures[chosen], return_index=True)
        found[condition] = _Seen(names, rows.correct[chosen][first], rows.original[chosen][first])
    return found


def _measures(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Squared difference of accuracies, observed consistency, kappa and lead of the second, and each picture's part."""
    p, q = float(a.mean()), float(b.mean())
    agreeing = (a == b).astype(np.float64)
    observed = float(agreeing.mean())
    # As the papers: 1 where both are always right, or both always wrong.
    kappa, parts = kappa_parts(a, b) or (1.0, np.zeros(len(a)))
    lead = (b - q) - (a - p)
    added = np.stack([2.0 * (q - p) * lead, agreeing - observed, parts, lead]) / len(a)
    return np.array([(p - q) ** 2, observed, kappa, q - p]), added


def _noise(originals: NDArray[np.str_], lead: FloatArray) -> float:
    """Variance of the lead in one condition over new pictures: the mean of its square is larger by this."""
    sums = np.array(list(_summed(originals, lead).values()))
    count = len(sums)
    return float((sums**2).sum() * count / (count - 1)) if count > 1 else float("nan")


def _mean_of_pairs(pairs: Mapping[str, _Pair]) -> dict[Measure, Part]:
    """Means over people, each of whom may differ from the next."""
    if not pairs:
        return {}
    return {
        measure: _averaged({name: pair.part(row) for name, pair in pairs.items()})
        for row, measure in enumerate(_WITH_DIRECTION)
    }


def _averaged(of_people: Mapping[str, Part]) -> Part:
    """The mean of a value of each person."""
    count = len(of_people)
    value = float(np.mean([one.value for one in of_people.values()]))
    return Part(
        value,
        _added([one.originals for one in of_people.values()], 1.0 / count),
        {name: (one.value - value) / count for name, one in of_people.items()} if count > 1 else {},
        sum(one.singles for one in of_people.values()) / count**2,
        float(np.mean([one.noise for one in of_people.values()])),
        {name: one.originals for name, one in of_people.items()},
    )


def _mean_among(pairs: Mapping[tuple[str, str], _Pair]) -> dict[Measure, Part]:
    """Means over all pairs of people: a U-statistic, whose error from people is that of its jackknife."""
    if not pairs:
        return {}
    people = sorted({name for pair in pairs for name in pair})
    count = len(people)
    found: dict[Measure, Part] = {}
    for row, measure in enumerate(OF_PAIRS):
        values = {pair: float(one.values[row]) for pair, one in pairs.items()}
        mean = float(np.mean(list(values.values())))
        by_person = {}
        if count > 2:
            own = {name: np.mean([one for pair, one in values.items() if name in pair]) for name in people}
            grown = 2.0 * (count - 1) / (count * (count - 2))
            by_person = {name: float(grown * (one - mean)) for name, one in own.items()}
        sums = [_summed(one.originals, one.parts[row]) for one in pairs.values()]
        noise = float(np.mean([one.noise for one in pairs.values()])) if row == 0 else 0.0
        found[measure] = Part(mean, _added(sums, 1.0 / len(pairs)), by_person, noise=noise)
    return found


def _summed(originals: NDArray[np.str_], parts: FloatArray) -> dict[str, float]:
    names, code = np.unique(originals, return_inverse=True)
    sums = np.bincount(code, weights=parts, minlength=len(names))
    return dict(zip(names.tolist(), sums.tolist(), strict=True))


def _added(parts: Sequence[Mapping[str, float]], share: float) -> dict[str, float]:
    total: dict[str, float] = {}
    for one in parts:
        for name, value in one.items():
            total[name] = total.get(name, 0.0) + share * value
    return total
