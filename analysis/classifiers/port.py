"""What the product knows of a classifier: it looks at pictures, or its predictions were recorded elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.decision import Decisions, Rule, decide, decide_labels
from analysis.errors import ClassifierUnavailable


@runtime_checkable
class Classifier(Protocol):
    """A network, or anything else that looks at pictures.

    Attributes
    ----------
    name : str
        Short name for figures.
    labels : tuple of str
        One a column of `predict`: categories or WordNet ids.
    label_space : int
        Number of labels, k. Decisions are 16-way whatever k is; see `Decisions.label_space`.
    digest : str
        SHA-256 of what determines the predictions (weights and preprocessing).
    preprocessing : str
        One line that says what is done to a picture; the whole picture is used, never a crop.
    """

    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def label_space(self) -> int: ...
    @property
    def digest(self) -> str: ...
    @property
    def preprocessing(self) -> str: ...

    def predict(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Probabilities, shape (n, k), of RGB pictures, shape (n, h, w, 3)."""
        ...


@runtime_checkable
class RecordedPredictions(Protocol):
    """Predictions made elsewhere, found by the stimulus's name. The other attributes are as for `Classifier`."""

    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def label_space(self) -> int: ...
    @property
    def digest(self) -> str: ...
    @property
    def preprocessing(self) -> str: ...

    def predictions(self, stimuli: Sequence[str], rule: Rule = "mean", *, own_labels: bool = False) -> Decisions:
        """Recorded decisions on these stimuli, in their order: 16-way, or among the recorded labels."""
        ...


def classify(
    classifier: Classifier | RecordedPredictions,
    stimuli: Sequence[str],
    load_pictures: Callable[[], NDArray[np.uint8]],
    rule: Rule = "mean",
    *,
    own_labels: bool = False,
) -> Decisions:
    """Decisions on a batch of stimuli, whichever kind of classifier it is.

    Parameters
    ----------
    classifier : Classifier or RecordedPredictions
        From `load_classifier`.
    stimuli : sequence of str
        Names of the stimuli, length n.
    load_pictures : callable
        Returns the stimuli's pictures, uint8 (n, h, w, 3); not called where predictions are on record.
    rule : {"mean", "sum", "max"}
        How a finer label space becomes 16 categories; see `decide`.
    own_labels : bool
        Decide among the classifier's own labels instead of the 16 categories.

    Raises
    ------
    ClassifierUnavailable
        If the classifier's answers are not one finite row of probabilities a picture.
    TableRefused
        If a stimulus has no recorded prediction.
    """
    answers = None if isinstance(classifier, RecordedPredictions) else np.asarray(classifier.predict(load_pictures()))
    return decided(classifier, stimuli, answers, rule, own_labels=own_labels)


def decided(
    classifier: Classifier | RecordedPredictions,
    stimuli: Sequence[str],
    probabilities: NDArray[Any] | None,
    rule: Rule = "mean",
    *,
    own_labels: bool = False,
) -> Decisions:
    """`classify` where the pictures have been looked at: ``probabilities`` are what `Classifier.predict` returned."""
    if isinstance(classifier, RecordedPredictions):
        return classifier.predictions(stimuli, rule, own_labels=own_labels)
    probabilities = np.asarray(probabilities)
    expected = (len(stimuli), len(classifier.labels))
    if probabilities.shape != expected:
        raise ClassifierUnavailable(
            f"{classifier.name} answers {len(stimuli)} pictures with an array of shape {probabilities.shape}, not "
            f"{expected}: one row a picture, one column for each of its {len(classifier.labels)} labels."
        )
    finite = np.isfinite(probabilities).all(axis=1)
    if not finite.all():
        raise ClassifierUnavailable(
            f"{classifier.name} answers the stimulus {stimuli[int(np.argmin(finite))]!r} with values that are no "
            "numbers (NaN or infinite). Check its weights and its mean and std."
        )
    if own_labels:
        return decide_labels(probabilities, classifier.labels)
    return decide(probabilities, classifier.labels, rule)


def rehearse(
    classifier: Classifier | RecordedPredictions, size_px: int, rule: Rule = "mean", *, own_labels: bool = False
) -> None:
    """Let a classifier answer one grey picture, so that what is wrong with it shows before anything is written.

    Raises
    ------
    ClassifierUnavailable, InvalidInput
        If it puts out another number of values than it has labels, no finite numbers, or lacks a category.
    """
    if isinstance(classifier, Classifier):
        grey = np.full((1, size_px, size_px, 3), 128, dtype=np.uint8)
        classify(classifier, ["a grey picture"], lambda: grey, rule, own_labels=own_labels)
