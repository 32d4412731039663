"""Classifiers behind one port, loaded by a string such as ``export:model.pt2`` or ``timm:resnet50``.

A new kind of classifier is one function in a file of its own and one line in `loading.SCHEMES`.
"""

from __future__ import annotations

from analysis.classifiers.decision import Decisions, category_scores, decide, decide_labels
from analysis.classifiers.labels import read_labels
from analysis.classifiers.loading import SCHEMES, load_classifier
from analysis.classifiers.networks import require_gradients
from analysis.classifiers.port import Classifier, RecordedPredictions, classify, rehearse
from analysis.classifiers.preprocessing import Preprocessing

__all__ = [
    "SCHEMES",
    "Classifier",
    "Decisions",
    "Preprocessing",
    "RecordedPredictions",
    "category_scores",
    "classify",
    "decide",
    "decide_labels",
    "load_classifier",
    "read_labels",
    "rehearse",
    "require_gradients",
]
