"""Classifiers behind one port, loaded by a string such as ``export:model.pt2`` or ``timm:resnet50``.

A new kind of classifier is one function in a file of its own and one line in `loading.SCHEMES`.
"""

from __future__ import annotations

from analysis.classifiers.decision import Decisions, category_scores, decide
from analysis.classifiers.loading import SCHEMES, load_classifier
from analysis.classifiers.port import Classifier, Preprocessing, RecordedPredictions, classify

__all__ = [
    "SCHEMES",
    "Classifier",
    "Decisions",
    "Preprocessing",
    "RecordedPredictions",
    "category_scores",
    "classify",
    "decide",
    "load_classifier",
]
