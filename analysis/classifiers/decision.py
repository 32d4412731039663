"""From a network's outputs and their labels to one of the 16 categories.

A mapping file is a CSV table of one row an output, in the order of the outputs: ``label`` (the network's own name for
it; two outputs may have one name, as the cranes and the maillots of ImageNet) and ``category`` (one of the 16, or empty
where the output stands for none of them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from analysis.categories import CATEGORIES, IMAGENET_WNIDS, WNID_TO_CATEGORY
from analysis.errors import InvalidInput, TableRefused, UnknownName

#: Appended to the name of an output that stands for no category, so that no name can be taken for one.
_NO_CATEGORY = " (no category)"
_OUTPUT = "row of the file"


def read_labels(path: Path) -> tuple[str, ...]:
    """Labels from a mapping file: the category of each output, or its own name marked as standing for none.

    Raises
    ------
    TableRefused
        Naming file, row (1 = first after the header), column and remedy.
    """
    from analysis.tables.reading import read_table
    from analysis.tables.schema import Column, TableSchema

    schema = TableSchema(
        name="labels",
        description="One row an output, in order.",
        columns=(
            Column(name="label", kind="text", description="the network's own name of the output"),
            Column(name="category", kind="text", description="category", nullable=True, levels=CATEGORIES),
            Column(name=_OUTPUT, kind="integer", description="rows are outputs, whatever their names"),
        ),
        key=(_OUTPUT,),
    )
    rows = read_table(path)
    table = schema.validate(rows.assign(**{_OUTPUT: range(len(rows))}), source=path.name)
    named = table["category"].fillna("").tolist()
    missing = [category for category in CATEGORIES if category not in named]
    if missing:
        raise TableRefused(
            f"{path.name}, column 'category': no output stands for {', '.join(missing)}. Each of the 16 categories "
            "needs at least one row."
        )
    return tuple(
        category or f"{label}{_NO_CATEGORY}" for label, category in zip(table["label"].tolist(), named, strict=True)
    )


def imagenet_labels(names: Sequence[str]) -> tuple[str, ...]:
    """WordNet ids for the names of ImageNet's 1,000 classes in their usual order; other names as they are.

    A 1,001st output in front, as some networks have for the background, stays without a category.
    """
    shown = list(names)
    background = () if len(shown) != len(IMAGENET_WNIDS) + 1 else (f"{shown.pop(0)}{_NO_CATEGORY}",)
    if (
        len(shown) == len(IMAGENET_WNIDS)
        and shown[0].lower().startswith("tench")
        and shown[-1].lower().startswith("toilet")
    ):
        return (*background, *IMAGENET_WNIDS)
    return tuple(names)


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
