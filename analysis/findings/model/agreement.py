"""Do observers err on the same pictures, and do they go by shape?"""

from __future__ import annotations

from typing import Literal

from analysis.entry import Entry
from analysis.findings.model.entry import Interval, Pair


class ErrorConsistency(Entry):
    """Two observers on the pictures of one condition that both saw."""

    pair: Pair
    condition: str
    n: int
    #: None where it is undefined: both are always right, or both always wrong
    kappa: float | None
    observed: float
    expected: float
    accuracies: Interval | None = None
    #: Whether kappa is defined and rests on enough pictures
    shown: bool = True
    #: Of kappa, over pictures
    interval: Interval | None = None
    #: Share of pictures on which the less accurate observer would have to copy the other; None where that has no value
    copied: float | None = None
    #: Different originals behind the n pictures; None in findings that did not count them
    originals: int | None = None


class Pooled(Entry):
    """Error consistency where observers share few pictures.

    Attributes
    ----------
    kappa, observed, expected, pictures, accuracies
        See `analysis.agreement.PooledConsistency`.
    is_stratified : bool
        False where no condition holds enough common pictures: kappa then includes shared difficulty.
    left_out : int
        Common pictures in conditions that hold too few; to findings-5 nothing was left out.
    """

    kappa: float
    observed: float
    expected: float
    pictures: int
    accuracies: tuple[float, ...]
    is_stratified: bool = True
    left_out: int = 0


class Agreement(Entry):
    """An observer beside people over all conditions; people among themselves."""

    observer: str
    kind: Literal["humans", "classifier"]
    ood_accuracy: float | None
    accuracy_difference: float | None
    observed_consistency: float | None
    error_consistency: float | None
    pairs: int
    pooled: Pooled | None
    interval: Interval | None
    n: int
    conditions: tuple[str, ...]


class ShapeBias(Entry):
    """Answers of an observer to pictures with the shape of one category and the texture of another."""

    observer: str
    kind: Literal["humans", "human", "classifier"]
    shape: int
    texture: int
    other: int
    bias: float | None
    interval: Interval


class Difficulty(Entry):
    """A classifier beside people on the pictures that other people find about as hard."""

    classifier: str
    #: share of other people's right answers between which an answer is placed here
    placed: Interval
    #: accuracies of the people whose answers were placed, and of the classifier on the same pictures
    people: float
    accuracy: float
    #: classifier minus people
    difference: float
    interval: Interval
    n: int
    participants: int
    originals: int
    #: whether it rests on enough answers, people and originals
    shown: bool
