"""What the product knows of a classifier: it looks at pictures, or its predictions were recorded elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.decision import Decisions, Rule, decide
from analysis.errors import InvalidInput, PictureRefused


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

    def predictions(self, stimuli: Sequence[str], rule: Rule = "mean") -> Decisions:
        """Recorded 16-way decisions on these stimuli, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """How a picture becomes a network's input.

    Attributes
    ----------
    input_px : int
        Height and width of the input; the whole picture is resized to it.
    mean, std : tuple of three floats
        Subtracted from, and divided into, RGB in [0, 1].
    """

    input_px: int
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.input_px < 1:
            raise InvalidInput(f"A network's input is at least 1 pixel wide, not {self.input_px}.")
        if len(self.mean) != 3 or len(self.std) != 3 or not all(value > 0 for value in self.std):
            raise InvalidInput(f"mean and std are three numbers each, std positive, not {self.mean} and {self.std}.")

    def __str__(self) -> str:
        mean, std = (", ".join(f"{value:g}" for value in three) for three in (self.mean, self.std))
        return (
            f"whole picture resized to {self.input_px} x {self.input_px} px (area averaging when it shrinks, "
            f"else bicubic), RGB / 255, minus ({mean}), divided by ({std})"
        )

    def apply(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Network input, shape (n, 3, input_px, input_px), of pictures, shape (n, h, w, 3)."""
        import cv2

        size = (self.input_px, self.input_px)
        shrinks = min(images.shape[1:3]) >= self.input_px
        how = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
        same = images.shape[1:3] == size
        batch = np.stack(
            [image.astype(np.float32) if same else cv2.resize(image.astype(np.float32), size, interpolation=how)
             for image in images]
        )  # fmt: skip
        mean, std = np.array(self.mean, np.float32), np.array(self.std, np.float32)
        scaled = (np.clip(batch, 0, 255) / np.float32(255) - mean) / std
        return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2), dtype=np.float32)


def check_images(images: NDArray[Any]) -> NDArray[np.uint8]:
    """Refuse anything but a batch of RGB pictures.

    Raises
    ------
    PictureRefused
        Unless the array is uint8 of shape (n, h, w, 3).
    """
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] != 3:
        raise PictureRefused(
            f"A classifier takes uint8 pictures of shape (n, h, w, 3), not {images.dtype} of shape {images.shape}. "
            "Give a batch, channels last, RGB."
        )
    return images


def classify(
    classifier: Classifier | RecordedPredictions,
    stimuli: Sequence[str],
    load_pictures: Callable[[], NDArray[np.uint8]],
    rule: Rule = "mean",
) -> Decisions:
    """16-way decisions on a batch of stimuli, whichever kind of classifier it is.

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
    """
    if isinstance(classifier, RecordedPredictions):
        return classifier.predictions(stimuli, rule)
    return decide(classifier.predict(load_pictures()), classifier.labels, rule)
