"""From a classifier's probabilities to one of the 16 categories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from analysis.categories import CATEGORIES, WNID_TO_CATEGORY
from analysis.errors import InvalidInput, UnknownName

#: How the probabilities of a category's classes become one score.
Rule = Literal["mean", "sum", "max"]
_REDUCE: Mapping[Rule, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "mean": lambda classes: np.asarray(classes.mean(axis=1)),
    "sum": lambda classes: np.asarray(classes.sum(axis=1)),
    "max": lambda classes: np.asarray(classes.max(axis=1)),
}


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a classifier answered.

    Attributes
    ----------
    responses : ndarray of str, shape (n,)
        Categories.
    confidence : ndarray of float64, shape (n,)
        Score of the response as a share of all 16 scores, in [0, 1]; NaN where it was not recorded.
    label_space : int
        Number of labels the response was chosen from: 16, also for a network with 1,000 outputs.
    """

    responses: NDArray[np.str_]
    confidence: NDArray[np.float64]
    label_space: int = len(CATEGORIES)

    def __len__(self) -> int:
        return len(self.responses)


def category_scores(probabilities: NDArray[Any], labels: Sequence[str], rule: Rule = "mean") -> NDArray[np.float64]:
    """One score a category.

    Parameters
    ----------
    probabilities : ndarray, shape (n, k)
        In [0, 1].
    labels : sequence of str, length k
        Categories, or WordNet ids; an id without a category (793 of ImageNet's 1,000) is left out.
    rule : {"mean", "sum", "max"}
        The published 16-way decision is the mean over a category's classes, which makes up for unequal numbers of
        classes (109 of dog, 1 of knife); the 2018 tables also hold sums.

    Returns
    -------
    ndarray of float64, shape (n, 16)
        Columns in the order of `CATEGORIES`.

    Raises
    ------
    InvalidInput
        If the shapes disagree, a value is no probability (NaN included), or a category has no label.
    UnknownName
        If the rule is none of the three.

    Notes
    -----
    Geirhos et al. (2018), and `ImageNetProbabilitiesTo16ClassesMapping` of the model-vs-human toolbox.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(labels):
        raise InvalidInput(f"{len(labels)} labels need probabilities of shape (n, {len(labels)}), not {values.shape}.")
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values).all(axis=1)))
        raise InvalidInput(f"The probabilities of picture {row + 1} are no numbers (NaN or infinite).")
    _check_range(values)
    if rule not in get_args(Rule):
        raise UnknownName(f"There is no decision rule {rule!r}; there are: {', '.join(get_args(Rule))}.")
    found = columns_of_categories(labels)
    return np.stack([_REDUCE[rule](values[:, columns]) for columns in found], axis=1)


def _check_range(values: NDArray[np.float64]) -> None:
    if not np.all((values >= -1e-6) & (values <= 1 + 1e-6)):
        raise InvalidInput("Probabilities lie in [0, 1]: turn a network's raw outputs into them by softmax first.")


def columns_of_categories(labels: Sequence[str]) -> list[list[int]]:
    """Columns that stand for each of the 16 categories, in the order of `CATEGORIES`.

    Raises
    ------
    InvalidInput
        If a category has no label.
    """
    columns: dict[str, list[int]] = {category: [] for category in CATEGORIES}
    for column, label in enumerate(labels):
        category = WNID_TO_CATEGORY.get(label, label)
        if category in columns:
            columns[category].append(column)
    missing = [category for category, found in columns.items() if not found]
    if missing:
        raise InvalidInput(
            f"No label stands for {', '.join(missing)}: a classifier's labels are the 16 categories, WordNet ids, or "
            "its own with a mapping file (columns label, category)."
        )
    return list(columns.values())


def decide(probabilities: NDArray[Any], labels: Sequence[str], rule: Rule = "mean") -> Decisions:
    """The category with the highest score; of equal ones the first in alphabetical order.

    Parameters, errors and source are those of `category_scores`.
    """
    scores = category_scores(probabilities, labels, rule)
    best = scores.argmax(axis=1)
    total = scores.sum(axis=1)
    confidence = np.divide(scores.max(axis=1), total, out=np.full(len(scores), 1 / len(CATEGORIES)), where=total > 0)
    return Decisions(np.array(CATEGORIES)[best], np.clip(confidence, 0, 1))


def decide_labels(probabilities: NDArray[Any], labels: Sequence[str]) -> Decisions:
    """The label with the highest probability, in the classifier's own label space (1,000-way for ImageNet).

    Parameters
    ----------
    probabilities : ndarray, shape (n, k)
        In [0, 1].
    labels : sequence of str, length k

    Returns
    -------
    Decisions
        Responses are labels, ``label_space`` is k: such a curve is never compared with a 16-way one.

    Raises
    ------
    InvalidInput
        If the shapes disagree, or a value is no probability.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(labels) or not np.isfinite(values).all():
        raise InvalidInput(f"{len(labels)} labels need finite probabilities of shape (n, {len(labels)}).")
    _check_range(values)
    best = values.argmax(axis=1)
    return Decisions(np.array(labels)[best], np.clip(values.max(axis=1, initial=0), 0, 1), len(labels))
