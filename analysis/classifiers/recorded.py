"""Adapter ``table:PATH``: predictions made elsewhere (R, TensorFlow, another machine), one row a stimulus.

Columns: ``stimulus``, then either ``response`` (a category) and, if known, ``confidence``; or one column of
probabilities for each of the 16 categories, or for each of the 1,000 WordNet ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.categories import CATEGORIES, IMAGENET_WNIDS
from analysis.classifiers.decision import Decisions, Rule, decide, decide_labels
from analysis.errors import ClassifierUnavailable, TableRefused

if TYPE_CHECKING:
    from analysis.tables import Column, TableSchema


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
    from analysis.tables import read_table

    path = Path(reference)
    if not path.is_file():
        raise ClassifierUnavailable(f"{path}: there is no such table of predictions.")
    frame = read_table(path)
    present = {str(column).strip().lower() for column in frame.columns}
    labels, schema = _schema(present, path, has_response="response" in present)
    table = schema.validate(frame, source=path.name)
    stimuli = [str(stimulus) for stimulus in table["stimulus"]]
    name, digest = path.name, hashlib.sha256(path.read_bytes()).hexdigest()
    row_of = {stimulus: row for row, stimulus in enumerate(stimuli)}
    if "response" in present:
        return PredictionTable(
            name,
            labels,
            digest,
            row_of,
            responses=table["response"].to_numpy(dtype=np.str_),
            confidence=table["confidence"].to_numpy(dtype=np.float64, na_value=np.nan),
        )
    probabilities = table[list(labels)].to_numpy(dtype=np.float64)
    totals = probabilities.sum(axis=1)
    wrong = np.abs(totals - 1) > 0.01
    if wrong.any():
        row = int(wrong.argmax())
        raise TableRefused(
            f"{path.name}, row {row + 1}: the {len(labels)} probabilities sum to {totals[row]:.3f}, not 1. "
            "Write softmax outputs."
        )
    return PredictionTable(name, labels, digest, row_of, probabilities=probabilities)


def _schema(present: set[str], path: Path, *, has_response: bool) -> tuple[tuple[str, ...], TableSchema]:
    from analysis.tables import Column, TableSchema

    stimulus = Column(name="stimulus", kind="text", description="name of the stimulus, as in the stimulus table")
    if has_response:
        columns: tuple[Column, ...] = (
            stimulus,
            Column(name="response", kind="text", description="predicted category", levels=CATEGORIES),
            Column(
                name="confidence",
                kind="number",
                description="probability of the prediction",
                nullable=True,
                optional=True,
                minimum=0,
                maximum=1,
            ),
        )
        labels: tuple[str, ...] = CATEGORIES
    else:
        labels = IMAGENET_WNIDS if IMAGENET_WNIDS[0] in present else CATEGORIES
        if not present & set(labels):
            raise TableRefused(
                f"{path.name}: column 'response' is missing. Add it (one of the 16 categories), or one column of "
                "probabilities for each of the 16 categories or of the 1,000 WordNet ids."
            )
        columns = (
            stimulus,
            *(
                Column(name=label, kind="number", description=f"probability of {label}", minimum=0, maximum=1)
                for label in labels
            ),
        )
    return labels, TableSchema(
        name="recorded predictions", description="One row a stimulus.", columns=columns, key=("stimulus",)
    )
