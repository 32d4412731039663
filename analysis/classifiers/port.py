"""What the product knows of a classifier: it looks at pictures, or its predictions were recorded elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from analysis.errors import ClassifierUnavailable
from analysis.labels.mapping import Answering, Decisions
from analysis.native_size import native_pixels


@runtime_checkable
class Classifier(Protocol):
    """A network, or anything else that looks at pictures.

    Attributes
    ----------
    name : str
        Short name for figures.
    labels : tuple of str
        One a column of `predict`: ids of labels or WordNet ids.
    label_space : int
        Number of outputs, k. Decisions are among the labels asked for whatever k is; see `Decisions.label_space`.
    digest : str
        SHA-256 of what determines the predictions (weights and preprocessing).
    preprocessing : str
        One line that says what is done to a picture; the whole picture is used, never a crop.

    Notes
    -----
    One that has `inputs`, an `analysis.classifiers.preprocessing.Preprocessing`, says by it how large its input is; see
    `seen_by`.
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

    def predictions(self, stimuli: Sequence[str], how: Answering) -> Decisions:
        """Recorded decisions on these stimuli, in their order: among the labels asked for, or the recorded ones."""
        ...


def seen_by(classifier: Classifier | RecordedPredictions, shown: NDArray[np.uint8], enlarged: int) -> NDArray[np.uint8]:
    """The pictures that a classifier gets of those that people were shown, enlarged so many times.

    Parameters
    ----------
    classifier : Classifier or RecordedPredictions
    shown : ndarray of uint8, shape (n, h, w, 3)
    enlarged : int

    Returns
    -------
    ndarray of uint8
        The native pixels, bit for bit, for a network whose input has the native size; else what is shown.
    """
    input_px = getattr(getattr(classifier, "inputs", None), "input_px", 0)
    is_native = shown.shape[1:3] == (input_px * enlarged, input_px * enlarged)
    return native_pixels(shown, enlarged) if is_native else shown


def classify(
    classifier: Classifier | RecordedPredictions,
    stimuli: Sequence[str],
    load_pictures: Callable[[], NDArray[np.uint8]],
    how: Answering | None = None,
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
    how : Answering, optional
        Labels, rule and decision; by default the mean among the product's default labels.

    Raises
    ------
    ClassifierUnavailable
        If the classifier's answers are not one finite row of probabilities a picture.
    TableRefused
        If a stimulus has no recorded prediction.
    """
    answers = None if isinstance(classifier, RecordedPredictions) else np.asarray(classifier.predict(load_pictures()))
    return decided(classifier, stimuli, answers, how)


def decided(
    classifier: Classifier | RecordedPredictions,
    stimuli: Sequence[str],
    probabilities: NDArray[Any] | None,
    how: Answering | None = None,
) -> Decisions:
    """`classify` where the pictures have been looked at: ``probabilities`` are what `Classifier.predict` returned."""
    how = how or Answering()
    if isinstance(classifier, RecordedPredictions):
        return classifier.predictions(stimuli, how)
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
    return how.answer(probabilities, classifier.labels)


def rehearse(classifier: Classifier | RecordedPredictions, size_px: int, how: Answering | None = None) -> None:
    """Let a classifier answer one grey picture, so that what is wrong with it shows before anything is written.

    Raises
    ------
    ClassifierUnavailable, InvalidInput
        If it puts out another number of values than it has labels, no finite numbers, or lacks a category.
    """
    if isinstance(classifier, Classifier):
        grey = np.full((1, size_px, size_px, 3), 128, dtype=np.uint8)
        classify(classifier, ["a grey picture"], lambda: grey, how)
