"""Oracles that answer at once: classifiers, and ensembles of them. The crowd answers in rounds; see `Ascent`."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.port import Classifier
from analysis.counterfactuals.port import Acceptance, Oracle
from analysis.errors import OracleUnavailable
from analysis.labels.files import default_labels
from analysis.labels.mapping import outputs_of_labels
from analysis.labels.space import LabelSpace


@dataclass(frozen=True, slots=True)
class ClassifierOracle:
    """A classifier whose answer decides; it need not know all labels.

    Parameters
    ----------
    classifier : Classifier
        Its decision is the category with the highest mean probability over the category's classes.
    kind : str
        Scheme of the specification: "classifier" or "clip".
    space : LabelSpace, optional
        Labels of the pictures; by default the product's.
    """

    classifier: Classifier
    kind: str = "classifier"
    space: LabelSpace | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.classifier, Classifier):
            raise OracleUnavailable(
                "An oracle looks at new pictures; recorded predictions cannot. Take a network that runs here."
            )
        if not self.classes:
            raise OracleUnavailable(f"{self.classifier.name} knows none of the labels of {self.labels.name}.")

    @property
    def labels(self) -> LabelSpace:
        """The labels, by default the product's."""
        return self.space or default_labels()

    @property
    def name(self) -> str:
        """Scheme and name."""
        return f"{self.kind}:{self.classifier.name}"

    @property
    def digest(self) -> str:
        """SHA-256 of what determines its predictions."""
        return self.classifier.digest

    @property
    def classes(self) -> frozenset[str]:
        """Categories that one of its labels stands for."""
        return frozenset(category for category, _columns in self._columns())

    def judge(self, pictures: NDArray[np.uint8], labels: Sequence[str]) -> Acceptance:
        """Its own answer, and whether that is the label."""
        if not len(pictures):
            return Acceptance(np.zeros(0, bool), np.zeros(0, "U1"))
        probabilities = self.classifier.predict(pictures)
        columns = self._columns()
        scores = np.stack([probabilities[:, found].mean(axis=1) for _category, found in columns], axis=1)
        responses = np.array([category for category, _found in columns])[scores.argmax(axis=1)]
        return Acceptance(responses == np.asarray(labels), responses)

    def _columns(self) -> list[tuple[str, list[int]]]:
        found = outputs_of_labels(tuple(self.classifier.labels), self.labels)
        return [(label, list(columns)) for label, columns in found.items() if columns]


@dataclass(frozen=True, slots=True)
class EnsembleOracle:
    """Several oracles; a picture is accepted when more than half of them accept it."""

    members: tuple[Oracle, ...]

    def __post_init__(self) -> None:
        if len(self.members) < 2:
            raise OracleUnavailable("An ensemble has two members or more: ensemble:A|B|C.")

    @property
    def name(self) -> str:
        """Names of the members."""
        return f"ensemble of {', '.join(member.name for member in self.members)}"

    @property
    def digest(self) -> str:
        """SHA-256 over the members' digests."""
        return hashlib.sha256("".join(member.digest for member in self.members).encode()).hexdigest()

    @property
    def classes(self) -> frozenset[str]:
        """Categories that every member knows."""
        return frozenset.intersection(*(member.classes for member in self.members))

    def judge(self, pictures: NDArray[np.uint8], labels: Sequence[str]) -> Acceptance:
        """Majority of acceptances; as the response the most frequent one, empty when two are equally frequent."""
        judged = [member.judge(pictures, labels) for member in self.members]
        accepted = np.mean([one.accepted for one in judged], axis=0) > 0.5
        responses = [_most_frequent(answers) for answers in zip(*(one.responses for one in judged), strict=True)]
        return Acceptance(np.asarray(accepted, dtype=bool), np.array(responses, dtype=np.str_))


def _most_frequent(answers: Sequence[str]) -> str:
    ranked = Counter(answers).most_common(2)
    return "" if len(ranked) == 2 and ranked[0][1] == ranked[1][1] else str(ranked[0][0])
