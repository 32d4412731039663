"""Oracle-oriented robustness from counts of pictures, pooled and by class, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.claims.robustness import NO_VALIDATED, NONE_RIGHT
from analysis.clusters import exact_bound
from analysis.errors import InvalidInput, TooFewResponses
from analysis.study.analysis_plan import LEVEL


@dataclass(frozen=True)
class OrientedRobustness:
    """Scores of one classifier on its counterfactual pictures; fractions.

    Parameters
    ----------
    sa : float
        Standard accuracy: right on the clean picture, over all pictures.
    vr : float
        Validation rate: pictures whose counterfactual the oracle accepted.
    ca : float
        Counterfactual accuracy: right on the counterfactual, over the validated ones; NaN when none is.
    oor : float
        Oracle-oriented robustness CA / SA; may exceed 1; NaN when CA is, or SA is 0.
    sa_validated : float
        Standard accuracy over the validated pictures alone.
    oor_validated : float
        CA over that accuracy: without the selection by the oracle.
    n, n_valid : int
        Pictures, and validated ones.
    """

    sa: float
    vr: float
    ca: float
    oor: float
    sa_validated: float
    oor_validated: float
    n: int
    n_valid: int


def score(*, clean_correct: ArrayLike, valid: ArrayLike, counterfactual_correct: ArrayLike) -> OrientedRobustness:
    """Oracle-oriented robustness of a classifier.

    Parameters
    ----------
    clean_correct : array-like of bool, shape (n,)
        Was the classifier right on the clean picture?
    valid : array-like of bool, shape (n,)
        Did the oracle accept the counterfactual (at the first step)?
    counterfactual_correct : array-like of bool, shape (n,)
        Was the classifier right on the counterfactual? Read only where ``valid``.

    Returns
    -------
    OrientedRobustness

    Raises
    ------
    InvalidInput
        If the columns differ in length or hold anything but true and false.
    TooFewResponses
        If there is no picture.

    Notes
    -----
    OOR paper, section 3.3 and Table 11 (reproduced exactly): SA runs over all pictures, CA over the validated ones.
    """
    clean, accepted, kept = (
        _statements(column, name)
        for column, name in (
            (clean_correct, "clean_correct"),
            (valid, "valid"),
            (counterfactual_correct, "counterfactual_correct"),
        )
    )
    if not len(clean) == len(accepted) == len(kept):
        raise InvalidInput(f"One entry a picture: the columns have {len(clean)}, {len(accepted)} and {len(kept)}.")
    if not len(clean):
        raise TooFewResponses("There is no picture to score.")
    n, n_valid = len(clean), int(accepted.sum())
    right = int(clean.sum())
    sa = right / n
    ca = int((kept & accepted).sum()) / n_valid if n_valid else float("nan")
    sa_validated = int((clean & accepted).sum()) / n_valid if n_valid else float("nan")
    return OrientedRobustness(
        sa=sa,
        vr=n_valid / n,
        ca=ca,
        oor=ca / sa if sa else float("nan"),
        sa_validated=sa_validated,
        oor_validated=ca / sa_validated if sa_validated else float("nan"),
        n=n,
        n_valid=n_valid,
    )


def _statements(column: ArrayLike, name: str) -> NDArray[np.bool_]:
    values = np.asarray(column)
    if values.ndim != 1 or not np.isin(values, (0, 1)).all():
        raise InvalidInput(f"{name} is one column of true and false.")
    return values.astype(bool)


Interval = tuple[float, float]

_SCORES = ("sa", "vr", "ca", "oor", "sa_validated", "oor_validated")
#: Added to each of the counts that a correlation is taken from: without it, empty cells make it 0 / 0, or exactly 1.
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class ScoreWithIntervals:
    """Scores of one group of pictures.

    Attributes
    ----------
    score : OrientedRobustness
    intervals : dict of str to (float, float)
        For each fraction of `score`, its interval. A ratio reaches up to infinity where no clean picture was named
        right; both ends are NaN where nothing is known.
    level : float
        Coverage aimed at, in (0, 1).
    reasons : dict of str to str
        Why an end is missing, by fraction.
    """

    score: OrientedRobustness
    intervals: dict[str, Interval]
    level: float
    reasons: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Plain numbers; what is no number, or has no end, becomes None."""
        values = {name: _plain(getattr(self.score, name)) for name in _SCORES}
        intervals = {name: [_plain(low), _plain(high)] for name, (low, high) in self.intervals.items()}
        return {
            **values,
            "n": self.score.n,
            "n_valid": self.score.n_valid,
            "intervals": intervals,
            "level": self.level,
            "reasons": self.reasons,
        }


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
    *, clean_correct: ArrayLike, valid: ArrayLike, counterfactual_correct: ArrayLike, level: float = LEVEL
) -> ScoreWithIntervals:
    """Scores, and the intervals that the number of pictures leaves.

    Parameters
    ----------
    clean_correct, valid, counterfactual_correct : array-like of bool, shape (n,)
        As for `score`.
    level : float
        Coverage of the intervals.

    Raises
    ------
    InvalidInput, TooFewResponses
        As `score`; or for a level outside (0, 1).

    Notes
    -----
    Shares have exact binomial bounds (Clopper and Pearson 1934), which are never without width; that of a share of the
    validated pictures is exact whatever their number. A ratio of two shares of the same pictures has the bounds that
    follow from theirs (MOVER: Donner and Zou 2012, Stat. Methods Med. Res. 21, 347-359, eqs. 11 and 12; with their
    correlation as Tang, Li and Tang 2012 for matched pairs).
    """
    if not 0 < level < 1:
        raise InvalidInput("An interval needs a level between 0 and 1.")
    found = score(clean_correct=clean_correct, valid=valid, counterfactual_correct=counterfactual_correct)
    clean, accepted, kept = (
        np.asarray(column, dtype=bool) for column in (clean_correct, valid, counterfactual_correct)
    )
    tail = (1.0 - level) / 2.0
    n, n_valid, right = found.n, found.n_valid, int(clean.sum())
    right_accepted = int((clean & accepted).sum())
    intervals = {
        "sa": exact_bound(right, n, tail),
        "vr": exact_bound(n_valid, n, tail),
        "ca": (nan, nan),
        "oor": (nan, nan),
        "sa_validated": (nan, nan),
        "oor_validated": (nan, nan),
    }
    if not n_valid:
        return ScoreWithIntervals(
            found, intervals, level, {name: NO_VALIDATED for name in intervals if name not in ("sa", "vr")}
        )
    intervals["ca"] = exact_bound(int((kept & accepted).sum()), n_valid, tail)
    intervals["sa_validated"] = exact_bound(right_accepted, n_valid, tail)
    # Right or wrong, by not validated, validated and wrong, validated and right.
    counts = np.bincount(3 * clean + accepted + (accepted & kept), minlength=6).reshape(2, 3).astype(np.float64)
    for name, clean_share, table in (
        ("oor", "sa", counts + _HALF),
        ("oor_validated", "sa_validated", np.column_stack([np.zeros(2), counts[:, 1:] + _HALF])),
    ):
        intervals[name] = _ratio_interval(
            found.ca, intervals["ca"], getattr(found, clean_share), intervals[clean_share], _correlation(table)
        )
    reasons = {name: NONE_RIGHT for name, (_, high) in intervals.items() if high == inf}
    return ScoreWithIntervals(found, intervals, level, reasons)


def scores_by_class(
    labels: Sequence[str],
    *,
    clean_correct: ArrayLike,
    valid: ArrayLike,
    counterfactual_correct: ArrayLike,
    level: float = LEVEL,
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
    classes = {
        str(label): score_with_intervals(
            **{name: column[named == label] for name, column in columns.items()}, level=level
        )
        for label in np.unique(named)
    }
    oors = np.array([one.score.oor for one in classes.values()])
    finite = oors[np.isfinite(oors)]
    return ScoresByClass(
        pooled=score_with_intervals(**columns, level=level),
        classes=classes,
        mean_class_oor=float(finite.mean()) if len(finite) else float("nan"),
    )


def _correlation(counts: NDArray[np.float64]) -> float:
    """Correlation of CA with the share of clean pictures named right, from counts of pictures.

    Parameters
    ----------
    counts : ndarray, shape (2, 3)
        Clean wrong or right, by not validated, validated and wrong, validated and right.

    Notes
    -----
    Delta method: a picture moves CA by (right - CA) / VR if it is validated, and the other by (right - share).
    """
    validated = counts[:, 1:].sum()
    kept, right = counts[:, 2].sum() / validated, counts[1].sum() / counts.sum()
    moved = counts[:, 2] * (1.0 - kept) - counts[:, 1] * kept
    together = moved[1] * (1.0 - right) - moved[0] * right
    return float(together / sqrt(validated * kept * (1.0 - kept) * counts.sum() * right * (1.0 - right)))


def _ratio_interval(top: float, of_top: Interval, bottom: float, of_bottom: Interval, correlation: float) -> Interval:
    """Interval of a ratio from those of its two estimates."""

    def parts(top_end: float, bottom_end: float) -> tuple[float, float, float]:
        tops, bottoms = top_end * (2.0 * top - top_end), bottom_end * (2.0 * bottom - bottom_end)
        middle = top * bottom - correlation * (top_end - top) * (bottom - bottom_end)
        return tops, bottoms, middle + sqrt(max(middle * middle - tops * bottoms, 0.0))

    low, high = 0.0, inf
    if top:
        tops, _, reach = parts(of_top[0], of_bottom[1])
        low = tops / reach
    if bottom:
        _, bottoms, reach = parts(of_top[1], of_bottom[0])
        high = reach / bottoms
    return low, high


def _plain(value: float) -> float | None:
    return float(value) if isfinite(value) else None
