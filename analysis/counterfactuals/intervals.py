"""Oracle-oriented robustness with intervals: pooled and by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.counterfactuals.score import OrientedRobustness, score
from analysis.errors import InvalidInput

_SCORES = ("sa", "vr", "ca", "oor", "sa_validated", "oor_validated")


@dataclass(frozen=True, slots=True)
class ScoreWithIntervals:
    """Scores of one group of pictures.

    Attributes
    ----------
    score : OrientedRobustness
    intervals : dict of str to (float, float)
        For each fraction of `score`, its percentile interval over resampled pictures; NaN where it is no number in
        one of twenty resamples or more.
    level : float
        Coverage aimed at, in (0, 1).
    """

    score: OrientedRobustness
    intervals: dict[str, tuple[float, float]]
    level: float

    def to_dict(self) -> dict[str, object]:
        """Plain numbers; what is no number becomes None."""
        values = {name: _plain(getattr(self.score, name)) for name in _SCORES}
        intervals = {name: [_plain(low), _plain(high)] for name, (low, high) in self.intervals.items()}
        return {**values, "n": self.score.n, "n_valid": self.score.n_valid, "intervals": intervals, "level": self.level}


@dataclass(frozen=True, slots=True)
class ScoresByClass:
    """Pooled scores, those of every class, and the mean of the classes' OOR.

    Attributes
    ----------
    pooled : ScoreWithIntervals
        From pooled counts, as the paper's totals.
    classes : dict of str to ScoreWithIntervals
    mean_class_oor : float
        Mean over classes with an OOR; another number than the pooled OOR.
    """

    pooled: ScoreWithIntervals
    classes: dict[str, ScoreWithIntervals]
    mean_class_oor: float


def score_with_intervals(
    *,
    clean_correct: ArrayLike,
    valid: ArrayLike,
    counterfactual_correct: ArrayLike,
    n_bootstrap: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> ScoreWithIntervals:
    """Scores and their bootstrap intervals over pictures.

    Parameters
    ----------
    clean_correct, valid, counterfactual_correct : array-like of bool, shape (n,)
        As for `score`.
    n_bootstrap : int
        Resamples of the pictures.
    level : float
        Coverage of the percentile intervals.
    seed : int
        Of the resampling.

    Raises
    ------
    InvalidInput, TooFewResponses
        As `score`; or for a level outside (0, 1) or fewer than 100 resamples.

    Notes
    -----
    A picture is one of eight kinds (right or wrong, valid or not, right or wrong), so that a resample of n pictures is
    one draw from a multinomial distribution.
    """
    if not 0 < level < 1 or n_bootstrap < 100:
        raise InvalidInput("An interval needs a level between 0 and 1 and at least 100 resamples.")
    found = score(clean_correct=clean_correct, valid=valid, counterfactual_correct=counterfactual_correct)
    clean, accepted, kept = (
        np.asarray(column, dtype=bool) for column in (clean_correct, valid, counterfactual_correct)
    )
    counts = np.bincount(4 * clean + 2 * accepted + (accepted & kept), minlength=8)
    draws = np.random.default_rng(seed).multinomial(found.n, counts / found.n, size=n_bootstrap)
    resampled = _from_counts(draws.astype(np.float64))
    tail = (1 - level) / 2
    intervals = {}
    for name, values in resampled.items():
        numbers = values[np.isfinite(values)]
        enough = len(numbers) > 0.95 * n_bootstrap
        low, high = np.quantile(numbers, [tail, 1 - tail]) if enough else (np.nan, np.nan)
        intervals[name] = (float(low), float(high))
    return ScoreWithIntervals(found, intervals, level)


def scores_by_class(
    labels: Sequence[str],
    *,
    clean_correct: ArrayLike,
    valid: ArrayLike,
    counterfactual_correct: ArrayLike,
    n_bootstrap: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> ScoresByClass:
    """Scores with intervals, pooled and for every class; parameters as for `score_with_intervals`.

    Raises
    ------
    InvalidInput
        If there is not one label a picture.
    """
    columns = {
        "clean_correct": np.asarray(clean_correct),
        "valid": np.asarray(valid),
        "counterfactual_correct": np.asarray(counterfactual_correct),
    }
    named = np.asarray(labels, dtype=np.str_)
    if any(len(column) != len(named) for column in columns.values()):
        raise InvalidInput(f"One label a picture: there are {len(named)} labels.")
    settings = {"n_bootstrap": n_bootstrap, "level": level, "seed": seed}
    classes = {
        str(label): score_with_intervals(
            **{name: column[named == label] for name, column in columns.items()},
            **settings,  # type: ignore[arg-type]
        )
        for label in np.unique(named)
    }
    oors = np.array([one.score.oor for one in classes.values()])
    finite = oors[np.isfinite(oors)]
    return ScoresByClass(
        pooled=score_with_intervals(**columns, **settings),  # type: ignore[arg-type]
        classes=classes,
        mean_class_oor=float(finite.mean()) if len(finite) else float("nan"),
    )


def _from_counts(counts: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Scores of resamples, shape (b,), from counts of the eight kinds, shape (b, 8)."""
    total = counts.sum(axis=1)
    right = counts[:, 4:].sum(axis=1)
    accepted = counts[:, [2, 3, 6, 7]].sum(axis=1)
    kept = counts[:, [3, 7]].sum(axis=1)
    right_accepted = counts[:, 6:].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        sa, ca, sa_validated = right / total, kept / accepted, right_accepted / accepted
        return {
            "sa": sa,
            "vr": accepted / total,
            "ca": ca,
            "oor": ca / sa,
            "sa_validated": sa_validated,
            "oor_validated": ca / sa_validated,
        }


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
