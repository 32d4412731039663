"""Share of right answers of networks over visual change, as they are: no fit, no people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.corruptions.registry import NO_CORRUPTION
from analysis.observers.methods import methods_text
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.selectors import read_predictions

#: Of visual change, from 0 to 1: fifths.
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Shares:
    """How many stimuli of a function a network named right, for each stretch of visual change."""

    network: str
    corruption: str
    n: tuple[int, ...]
    n_right: tuple[int, ...]

    @property
    def cells(self) -> tuple[tuple[float | None, int], ...]:
        """Share right in each stretch, None where there is no stimulus, with the number of stimuli."""
        pairs = zip(self.n_right, self.n, strict=True)
        return tuple((right / n if n else None, n) for right, n in pairs)

    @property
    def overall(self) -> float:
        """Share right over all stretches."""
        return sum(self.n_right) / sum(self.n)

    @property
    def words(self) -> str:
        """Share right in each stretch, – where there is no stimulus, and over all."""
        each = ("   –" if share is None else f"{share:.2f}" for share, _ in self.cells)
        return f"{' '.join(each)}  all {self.overall:.3f}"


def shares_of(runs: Sequence[EvaluationRun]) -> list[Shares]:
    """By function, and within it by network; none of clean pictures."""
    found = [one for run in runs for one in _shares(run)]
    return sorted(found, key=lambda one: one.corruption)


def _shares(run: EvaluationRun) -> Iterator[Shares]:
    predictions = read_predictions(run)
    damaged = predictions[predictions["corruption"] != NO_CORRUPTION]
    for corruption, rows in damaged.groupby("corruption", observed=True):
        places = np.clip(np.digitize(rows["visual_change"], EDGES) - 1, 0, len(EDGES) - 2)
        count, right = (
            np.bincount(places, weights=weights, minlength=len(EDGES) - 1).astype(int).tolist()
            for weights in (None, rows["correct"].to_numpy(dtype=float))
        )
        yield Shares(run.name, str(corruption), tuple(count), tuple(right))


def document(runs: Sequence[EvaluationRun], shares: Sequence[Shares]) -> dict[str, Any]:
    """For a file: clean pictures of each network, the counts that the shares are made of, and how models were asked."""
    clean = {run.name: run.accuracy_clean for run in runs}
    found = {"right_on_clean_pictures": clean, "edges": EDGES, "shares": [asdict(one) for one in shares]}
    asked = {run.name: {**run.asking, "methods": methods_text(run.name, run.asking)} for run in runs if run.asking}
    return {**found, "asked": asked} if asked else found
