"""Adapter ``table:PATH``: predictions made elsewhere (R, TensorFlow, another machine), one row a stimulus.

Columns: ``stimulus``, then either ``response`` (a category) and, if known, ``confidence``; or one column of
probabilities for each of the 16 categories, or for each of the 1,000 WordNet ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.categories import CATEGORIES
from analysis.classifiers.decision import Decisions, Rule, decide, decide_labels
from analysis.classifiers.table_check import check_table, examine_table, numbers_of
from analysis.errors import ClassifierUnavailable, TableRefused


@dataclass(frozen=True, slots=True)
class PredictionTable:
    """A table of predictions as `RecordedPredictions`; either responses or probabilities are on record."""

    name: str
    labels: tuple[str, ...]
    digest: str
    row_of: dict[str, int]
    responses: NDArray[np.str_] | None = None
    confidence: NDArray[np.float64] | None = None
    probabilities: NDArray[np.float64] | None = None

    @property
    def label_space(self) -> int:
        """Number of labels on record."""
        return len(self.labels)

    @property
    def preprocessing(self) -> str:
        """Where the predictions come from."""
        return "predictions recorded elsewhere"

    def predictions(self, stimuli: Sequence[str], rule: Rule = "mean", *, own_labels: bool = False) -> Decisions:
        """Decisions on these stimuli, in their order; 16-way, or among the labels on record.

        Raises
        ------
        TableRefused
            If a stimulus is not in the table.
        """
        missing = [stimulus for stimulus in stimuli if stimulus not in self.row_of]
        if missing:
            raise TableRefused(
                f"{self.name}, column 'stimulus': {len(missing)} of {len(stimuli)} stimuli have no row, the first is "
                f"{missing[0]!r}. Add them, named as in the stimulus table."
            )
        rows = np.array([self.row_of[stimulus] for stimulus in stimuli], dtype=np.int64)
        if self.probabilities is not None and own_labels:
            return decide_labels(self.probabilities[rows], self.labels)
        if self.probabilities is not None:
            return decide(self.probabilities[rows], self.labels, rule)
        if self.responses is None or self.confidence is None:
            raise TableRefused(f"{self.name}: the table holds neither responses nor probabilities.")
        return Decisions(self.responses[rows], self.confidence[rows])


def load(reference: str) -> PredictionTable:
    """Read and check a table of predictions.

    Raises
    ------
    ClassifierUnavailable
        If there is no such file.
    TableRefused
        Naming file, row (1 = first after the header), column and remedy.
    """
    path = Path(reference)
    if not path.is_file():
        raise ClassifierUnavailable(f"{path}: there is no such table of predictions.")
    report = examine_table(path, ())
    check_table(report)
    frame, labels = report.frame, report.labels or CATEGORIES
    name, digest = path.name, hashlib.sha256(path.read_bytes()).hexdigest()
    row_of = {stimulus: row for row, stimulus in enumerate(frame["stimulus"].str.strip().tolist())}
    if report.kind == "responses":
        confidence = numbers_of(frame["confidence"]) if report.has_confidence else np.full(len(frame), np.nan)
        responses = frame["response"].str.strip().to_numpy(dtype=np.str_)
        return PredictionTable(name, labels, digest, row_of, responses=responses, confidence=confidence)
    probabilities = np.column_stack([numbers_of(frame[label]) for label in labels])
    return PredictionTable(name, labels, digest, row_of, probabilities=probabilities)
