"""Fitting a readout: the strength of its penalty is chosen within what it learns from, its accuracy measured outside.

Pictures are divided by content. Of each part, a readout that was fitted on the others, with a strength that was chosen
by cross-validation among these others, names every picture; the share named right is the held-out accuracy. What is
kept is fitted in the same way on all pictures, so it has learned from a little more than those that were measured.
Labels weigh alike, however many pictures they have: people are shown them equally often, and know no other frequency.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from analysis.arrays import FloatArray, IntArray
from analysis.classifiers.readout import HeldOut
from analysis.errors import InvalidInput
from analysis.labels.space import LabelSpace

#: Contents that every label needs: one to learn from, one to choose the strength by, one to be held out.
FEWEST = 3
#: Parts of the cross-validation, where every label has as many contents; and of that within, which chooses.
PARTS, INNER_PARTS = 5, 3
#: Inverse weights of the penalty (C of scikit-learn) that are tried, features being standardised.
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
_MOST_STEPS = 500
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Example:
    """A picture to learn from: the digest of its content, its label, and what else is a right answer."""

    content: str
    label: str
    accepted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A logistic regression on features as they are.

    Attributes
    ----------
    weights : ndarray of float32, shape (k, d)
    bias : ndarray of float32, shape (k,)
    strength : float
        The one of `STRENGTHS` with the lowest log loss of held-out pictures.
    held_out : HeldOut
    """

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    strength: float
    held_out: HeldOut


def check_examples(examples: Sequence[Example], space: LabelSpace) -> None:
    """Refuse what no readout can be fitted on, before any picture is looked at.

    Raises
    ------
    InvalidInput
        If a picture has two labels, or a label too few pictures.
    """
    label_of: dict[str, str] = {}
    for one in examples:
        if label_of.setdefault(one.content, one.label) != one.label:
            raise InvalidInput(
                f"One picture is there twice, as {label_of[one.content]} and as {one.label} ({one.content[:12]}...): "
                "take one of the two away."
            )
    counts = Counter(label_of.values())
    none = [one for one in space.ids if not counts[one]]
    if none:
        raise InvalidInput(
            f"There are no pictures of {_some(none)}: a readout can only answer what it has seen. Add at least "
            f"{FEWEST} pictures of each of the {len(space)} labels of {space.name}."
        )
    few = [f"{one} ({counts[one]})" for one in space.ids if counts[one] < FEWEST]
    if few:
        raise InvalidInput(
            f"There are too few pictures of {_some(few)}: each label needs {FEWEST} of different content, to learn "
            "from, to choose the penalty by and to be held out."
        )


def fit(
    features: NDArray[np.float32],
    examples: Sequence[Example],
    space: LabelSpace,
    *,
    seed: int = 0,
    tell: Callable[[int, int], object] = lambda done, total: None,
) -> Fitted:
    """Fit a readout, and measure its held-out accuracy.

    Parameters
    ----------
    features : ndarray, shape (n, d)
    examples : sequence of Example, length n
    space : LabelSpace
        Rows of the regression are in the order of its ids.
    seed : int
        Divides the pictures; the same for the same contents, whatever their order.
    tell : callable
        Called with the parts that are done, and all of them.

    Raises
    ------
    InvalidInput
        As of `check_examples`.
    """
    check_examples(examples, space)
    numbers = np.array([space.place(one.label) for one in examples])
    fewest = min(Counter(label for _, label in {(one.content, one.label) for one in examples}).values())
    n_parts = min(PARTS, fewest)
    parts = parts_of(examples, n_parts, f"{seed}")
    right = np.zeros(len(examples), dtype=bool)
    values = np.asarray(features, np.float64)
    # One thread: with several, sums are rounded in another order.
    with threadpool_limits(1, user_api="blas"):
        for part in range(n_parts):
            tell(part, n_parts + 1)
            inside = parts != part
            learned = [examples[number] for number in np.flatnonzero(inside).tolist()]
            regression = _chosen(values[inside], numbers[inside], learned, len(space), f"{seed} {part}")
            for number in np.flatnonzero(~inside).tolist():
                said = space.ids[int(regression.scores(values[number : number + 1]).argmax())]
                right[number] = said in (examples[number].accepted or (examples[number].label,))
        tell(n_parts, n_parts + 1)
        kept = _chosen(values, numbers, examples, len(space), f"{seed}")
    tell(n_parts + 1, n_parts + 1)
    n_right = int(right.sum())
    low, high = interval(n_right, len(right))
    weights, bias = kept.folded()
    return Fitted(weights, bias, kept.strength, HeldOut(len(right), n_right, low, high, n_parts, seed))


def interval(n_right: int, n: int) -> tuple[float, float]:
    """95 % interval of a share, by Wilson (1927)."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(n_right, n, alpha=0.05, method="wilson")
    return float(low), float(high)


def parts_of(examples: Sequence[Example], n_parts: int, salt: str) -> IntArray:
    """Number of the part that each picture is in: pictures of one content in one, every label spread over all.

    Each label's contents are dealt in an order that only their digests and the salt decide.
    """
    part: dict[str, int] = {}
    labels = sorted({one.label for one in examples})
    for offset, label in enumerate(labels):
        contents = {one.content for one in examples if one.label == label}
        ordered = sorted(contents, key=lambda content: hashlib.sha256(f"{salt} {content}".encode()).digest())
        part.update({content: (place + offset) % n_parts for place, content in enumerate(ordered)})
    return np.array([part[one.content] for one in examples], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Regression:
    """Coefficients of standardised features."""

    mean: FloatArray
    spread: FloatArray
    coefficients: FloatArray
    intercepts: FloatArray
    strength: float

    def scores(self, features: FloatArray) -> FloatArray:
        """Logits, shape (n, k)."""
        return np.asarray(((features - self.mean) / self.spread) @ self.coefficients.T + self.intercepts)

    def folded(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Weights and bias of features as they are."""
        weights = self.coefficients / self.spread
        return weights.astype(np.float32), (self.intercepts - weights @ self.mean).astype(np.float32)


def _chosen(
    features: FloatArray, numbers: IntArray, examples: Sequence[Example], n_labels: int, salt: str
) -> _Regression:
    """Fitted with the strength that has the lowest log loss in a cross-validation among these pictures alone."""
    fewest = min(Counter(label for _, label in {(one.content, one.label) for one in examples}).values())
    n_parts = min(INNER_PARTS, fewest)
    parts = parts_of(examples, n_parts, f"{salt} strength")
    losses = np.zeros(len(STRENGTHS))
    weights = 1 / np.bincount(numbers, minlength=n_labels)[numbers]
    for part in range(n_parts):
        inside = parts != part
        outside = np.flatnonzero(~inside)
        for place, regression in enumerate(_path(features[inside], numbers[inside], n_labels, STRENGTHS)):
            scores = regression.scores(features[outside])
            scores = scores - scores.max(axis=1, keepdims=True)
            likelihood = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
            losses[place] -= weights[outside] @ likelihood[np.arange(len(outside)), numbers[outside]]
    best = int(losses.argmin())
    return list(_path(features, numbers, n_labels, STRENGTHS[: best + 1]))[-1]


def _path(features: FloatArray, numbers: IntArray, n_labels: int, strengths: Sequence[float]) -> list[_Regression]:
    """Regressions by strength, each begun where the last one ended."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread[spread < _LEAST] = 1.0
    standardised = (features - mean) / spread
    model: Any = LogisticRegression(max_iter=_MOST_STEPS, warm_start=True, class_weight="balanced")
    found = []
    for strength in strengths:
        model.set_params(C=strength)
        with warnings.catch_warnings():
            # Answers settle long before the last digits of the coefficients.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(standardised, numbers)
        coefficients, intercepts = model.coef_.copy(), model.intercept_.copy()
        if n_labels == 2:
            # Of two labels, scikit-learn fits the difference alone.
            coefficients, intercepts = (np.concatenate([-half, half]) / 2 for half in (coefficients, intercepts))
        found.append(_Regression(mean, spread, coefficients, intercepts, strength))
    return found


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
