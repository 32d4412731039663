"""From the outputs of a network to labels: which outputs stand for which label, and how one of them is answered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray
from analysis.errors import InvalidInput, UnknownName
from analysis.labels.files import default_labels
from analysis.labels.imagenet import classes_in
from analysis.labels.space import MOST_FOR_PEOPLE, OUTSIDE, LabelSpace

#: How the probabilities of a label's outputs become one score.
Rule = Literal["mean", "sum", "max"]
#: Which outputs compete: those that stand for labels, or all.
Decide = Literal["among", "open"]
_REDUCE: Mapping[Rule, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "mean": lambda outputs: np.asarray(outputs.mean(axis=1)),
    "sum": lambda outputs: np.asarray(outputs.sum(axis=1)),
    "max": lambda outputs: np.asarray(outputs.max(axis=1)),
}
#: Of larger sets of labels so many best ones of a picture are kept.
BEST = 5


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a classifier answered.

    Attributes
    ----------
    responses : ndarray of str, shape (n,)
        Ids of labels; `OUTSIDE` where all outputs competed and the best stands for none.
    confidence : ndarray of float64, shape (n,)
        Score of the response as a share of all that competed, in [0, 1]; NaN where it was not recorded.
    label_space : int
        Number of labels the response was chosen from: 16, also for a network with 1,000 outputs.
    best, scores : ndarray of str and of float64, shape (n, 5)
        Of more than 30 labels the five best and their scores, best first; empty of fewer.
    """

    responses: NDArray[np.str_]
    confidence: NDArray[np.float64]
    label_space: int
    best: NDArray[np.str_] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.str_))
    scores: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        """Number of answers."""
        return len(self.responses)


@dataclass(frozen=True, kw_only=True)
class LabelMapping:
    """Which outputs of a network stand for which label.

    Attributes
    ----------
    space : LabelSpace
    outputs : tuple of str, length k
        Names of the network's outputs, in their order; two may have one name.
    columns : tuple of tuple of int
        Outputs of each label in the order of ``space.ids``; an output may belong to several labels.
    rule : {"mean", "sum", "max"}
        The published 16-way decision is the mean over a label's classes, which makes up for unequal numbers of classes
        (109 of dog, 1 of knife); the 2018 tables also hold sums.
    decide : {"among", "open"}
        "among": the label with the highest score. "open": outputs that stand for no label compete as well, each with
        its own probability; where one of them wins, the answer is `OUTSIDE`, which is wrong. A mean over a hundred
        classes would lose to any one output: by the rule "mean", outputs compete singly, and the label with the highest
        mean is answered where one that stands for a label wins.

    Raises
    ------
    InvalidInput
        If a label has no output, or an output does not exist.
    UnknownName
        If rule or decision is none of those above.

    Notes
    -----
    "mean" among: Geirhos et al. (2018), and `ImageNetProbabilitiesTo16ClassesMapping` of the model-vs-human toolbox.
    """

    space: LabelSpace
    outputs: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]
    rule: Rule = "mean"
    decide: Decide = "among"

    def __post_init__(self) -> None:
        if self.rule not in get_args(Rule):
            raise UnknownName(f"There is no decision rule {self.rule!r}; there are: {', '.join(get_args(Rule))}.")
        if self.decide not in get_args(Decide):
            raise UnknownName(f"Outputs are decided {' or '.join(get_args(Decide))}, not {self.decide!r}.")
        missing = [one for one, found in zip(self.space.ids, self.columns, strict=True) if not found]
        if missing:
            raise InvalidInput(
                f"No output stands for {_some(missing)}: a classifier's labels are the {len(self.space)} labels of "
                f"{self.space.name}, WordNet ids, or its own with a mapping file (columns label, category)."
            )

    @classmethod
    def of(
        cls,
        outputs: Sequence[str],
        space: LabelSpace,
        *,
        table: Mapping[str, Sequence[str]] | None = None,
        rule: Rule = "mean",
        decide: Decide = "among",
    ) -> LabelMapping:
        """Map outputs by a table; else by name, where they are called as labels, and by the classes of the labels.

        Parameters
        ----------
        outputs : sequence of str
            Names, in the order of the network's outputs.
        space : LabelSpace
        table : mapping of str to sequence of str, optional
            Labels by the name of an output; outputs that it does not name stand for none.
        rule, decide
            See the attributes.
        """
        columns = tuple(outputs_of_labels(outputs, space, table).values())
        return cls(space=space, outputs=tuple(outputs), columns=columns, rule=rule, decide=decide)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of identity, outputs, columns, rule and decision: what answers depend on beside probabilities."""
        told = [self.space.identity, self.outputs, self.columns, self.rule, self.decide]
        return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()

    @property
    def label_space(self) -> int:
        """Number of labels that an answer is one of."""
        return len(self.space)

    @cached_property
    def _mapped(self) -> list[int]:
        return sorted({column for found in self.columns for column in found})

    @cached_property
    def _unmapped(self) -> list[int]:
        return sorted(set(range(len(self.outputs))) - set(self._mapped))

    def scores(self, probabilities: NDArray[Any]) -> NDArray[np.float64]:
        """One score a label.

        Parameters
        ----------
        probabilities : ndarray, shape (n, k)
            In [0, 1].

        Returns
        -------
        ndarray of float64, shape (n, number of labels)
            Columns in the order of ``space.ids``.

        Raises
        ------
        InvalidInput
            If the shapes disagree, or a value is no probability (NaN included).
        """
        values = checked_probabilities(probabilities, len(self.outputs))
        if all(len(found) == 1 for found in self.columns):
            return values[:, [found[0] for found in self.columns]]
        return np.stack([_REDUCE[self.rule](values[:, list(found)]) for found in self.columns], axis=1)

    def answer(self, probabilities: NDArray[Any]) -> Decisions:
        """The label with the highest score; of equal ones the first in alphabetical order.

        Parameters and errors are those of `scores`.
        """
        scores = self.scores(probabilities)
        best = scores.argmax(axis=1)
        highest, total = scores.max(axis=1), scores.sum(axis=1)
        responses = np.array(self.space.ids)[best]
        if self.decide == "open" and self._unmapped:
            values = np.asarray(probabilities, dtype=np.float64)
            others = values[:, self._unmapped]
            rivals = values[:, self._mapped].max(axis=1) if self.rule == "mean" else highest
            is_outside = others.max(axis=1) > rivals
            responses = np.where(is_outside, OUTSIDE, responses)
            highest, total = np.where(is_outside, others.max(axis=1), highest), total + others.sum(axis=1)
        confidence = np.divide(highest, total, out=np.full(len(scores), self.space.chance), where=total > 0)
        found = Decisions(responses, np.clip(confidence, 0, 1), len(self.space))
        if len(self.space) <= MOST_FOR_PEOPLE:
            return found
        order = np.argsort(-scores, axis=1, kind="stable")[:, :BEST]
        return replace(found, best=np.array(self.space.ids)[order], scores=np.take_along_axis(scores, order, axis=1))


def outputs_of_labels(
    outputs: Sequence[str], space: LabelSpace, table: Mapping[str, Sequence[str]] | None = None
) -> dict[str, tuple[int, ...]]:
    """Numbers of the outputs that stand for each label, in the order of ids; none for a label without an output."""
    columns: dict[str, list[int]] = {one: [] for one in space.ids}
    told = labels_of_classes(space) if table is None else table
    for column, output in enumerate(outputs):
        by_name = (output,) if table is None and output in space else ()
        for label in by_name or told.get(output, ()):
            if label not in columns:
                raise InvalidInput(f"The mapping names {label!r}, which is none of the labels of {space.name}.")
            columns[label].append(column)
    return {label: tuple(found) for label, found in columns.items()}


@dataclass(frozen=True, slots=True)
class Answering:
    """How the outputs of a classifier become answers, whatever its outputs are.

    Attributes
    ----------
    space : LabelSpace or None
        Labels that an answer is one of; None: the product's default.
    rule, decide
        As of `LabelMapping`.
    own_labels : bool
        Answers are the classifier's own labels instead: the output with the highest probability.
    """

    space: LabelSpace | None = None
    rule: Rule = "mean"
    decide: Decide = "among"
    own_labels: bool = False

    @property
    def labels(self) -> LabelSpace:
        """The labels, by default the product's."""
        return self.space or default_labels()

    def answer(self, probabilities: NDArray[Any], outputs: Sequence[str]) -> Decisions:
        """Answers from probabilities, shape (n, k), of k outputs; errors as of `LabelMapping`."""
        if not self.own_labels:
            return mapping_of(tuple(outputs), self.labels, self.rule, self.decide).answer(probabilities)
        values = checked_probabilities(probabilities, len(outputs))
        best = values.argmax(axis=1)
        return Decisions(np.array(outputs)[best], np.clip(values.max(axis=1, initial=0), 0, 1), len(outputs))


@lru_cache(maxsize=32)
def mapping_of(
    outputs: tuple[str, ...], space: LabelSpace, rule: Rule = "mean", decide: Decide = "among"
) -> LabelMapping:
    """`LabelMapping.of` without a table, made once for all batches of a network."""
    return LabelMapping.of(outputs, space, rule=rule, decide=decide)


def checked_probabilities(probabilities: NDArray[Any], k: int) -> NDArray[np.float64]:
    """Probabilities of k outputs, or a refusal that names the picture."""
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != k:
        raise InvalidInput(f"{k} labels need probabilities of shape (n, {k}), not {values.shape}.")
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise InvalidInput(f"The probabilities of picture {row + 1} are no numbers (NaN or infinite).")
    if not np.all((values >= -1e-6) & (values <= 1 + 1e-6)):
        raise InvalidInput("Probabilities lie in [0, 1]: turn a network's raw outputs into them by softmax first.")
    return values


def measured_chance(responses: NDArray[np.str_], truth: NDArray[np.str_]) -> float:
    """Share of right answers of a network whose answers were dealt to pictures at random.

    Mappings make chance unequal: a network with 109 outputs for dogs and one for knives answers *dog* too often.

    Parameters
    ----------
    responses, truth : ndarray of str, shape (n,)

    Returns
    -------
    float
        Mean over all permutations of the answers over the pictures: ``sum over labels of n_answered * n_true / n^2``.
    """
    if not len(responses):
        return float("nan")
    labels, counts = np.unique(truth, return_counts=True)
    answered = np.array([np.count_nonzero(responses == label) for label in labels])
    return float((counts * answered).sum() / len(responses) ** 2)


@lru_cache(maxsize=32)
def labels_of_classes(space: LabelSpace) -> dict[str, tuple[str, ...]]:
    """Labels that every class of ImageNet stands for, by WordNet id; classes that stand for none are left out."""
    found: dict[str, list[str]] = {}
    for label in space.labels:
        for written in label.classes:
            for wnid in classes_in(written):
                found.setdefault(wnid, []).append(label.id)
    return {wnid: tuple(labels) for wnid, labels in found.items()}


def label_of_class(wnid: str, space: LabelSpace) -> str | None:
    """The label that a class of ImageNet stands for; None where it stands for none, or for several."""
    labels = labels_of_classes(space).get(wnid, ())
    return labels[0] if len(labels) == 1 else None


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:16]) + (f" and {len(names) - 16} more" if len(names) > 16 else "")
