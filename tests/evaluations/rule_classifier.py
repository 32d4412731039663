"""A classifier whose answers are known beforehand: the brighter the picture, the later its label."""

from __future__ import annotations

import numpy as np

from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids


class BrightnessClassifier:
    name = "brightness"
    labels = default_labels().ids
    label_space = len(default_labels().ids)
    digest = "0" * 64
    preprocessing = "mean of all pixels"
    #: batches that were predicted, for the test of resuming
    batches = 0

    def predict(self, images: np.ndarray) -> np.ndarray:
        type(self).batches += 1
        labels = (images.mean(axis=(1, 2, 3)) / 256 * 16).astype(int)
        return np.eye(16, dtype=np.float32)[labels]


def make(device: str) -> BrightnessClassifier:
    return BrightnessClassifier()


class Lost(BrightnessClassifier):
    def predict(self, images: np.ndarray) -> np.ndarray:
        return super().predict(images) * np.nan


def make_lost(device: str) -> Lost:
    return Lost()


class Narrow(BrightnessClassifier):
    def predict(self, images: np.ndarray) -> np.ndarray:
        return super().predict(images)[:, :15]


def make_narrow(device: str) -> Narrow:
    return Narrow()


class Thousand(BrightnessClassifier):
    labels = class_ids()
    label_space = 1000

    def predict(self, images: np.ndarray) -> np.ndarray:
        return np.eye(1000, dtype=np.float32)[images.mean(axis=(1, 2, 3)).astype(int)]


def make_thousand(device: str) -> Thousand:
    return Thousand()
