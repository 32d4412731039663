"""The sparse submodel: which latent dimensions a search moves, found by logistic regression with an L1 penalty."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SearchRefused

#: Of the OOR paper, which leaves open what it multiplies. Here, as in scikit-learn's example of sparse logistic
#: regression: C = strength / number of training latents, latents being standardised. So the *mean* log loss is weighed
#: `strength` times as much as the sum of the absolute coefficients, whatever the number of pictures.
PUBLISHED_STRENGTH = 36.36
TEST_SHARE = 0.2
#: What may be chosen by cross-validation, from sparse to dense, in this many folds, and the largest share of dimensions
#: that it may select.
STRENGTHS = (10.0, 15.0, 20.0, 25.0, 30.0, PUBLISHED_STRENGTH, 45.0, 55.0, 70.0, 90.0)
FOLDS = 5
MOST_SHARE = 0.05
_FEWEST = 10


@dataclass(frozen=True, slots=True, eq=False)
class SparseSubmodel:
    """Latent dimensions that tell perturbed pictures from unperturbed ones.

    Attributes
    ----------
    dimensions : ndarray of bool, shape (c, h, w)
        Selected dimensions: those with a coefficient other than 0.
    share : float
        Selected dimensions among all, in [0, 1].
    test_score : float
        Share of held-out latents that the regression labels correctly; 0.5 is chance.
    strength : float
        See `PUBLISHED_STRENGTH`; the smaller, the sparser.
    n_train, n_test : int
        Latents, half of each class.
    seconds : float
        Time to fit.
    """

    dimensions: NDArray[np.bool_]
    share: float
    test_score: float
    strength: float
    n_train: int
    n_test: int
    seconds: float


def fit_sparse_submodel(
    before: NDArray[np.float32],
    after: NDArray[np.float32],
    *,
    strength: float | None = PUBLISHED_STRENGTH,
    most_share: float = MOST_SHARE,
    seed: int = 0,
) -> SparseSubmodel:
    """Label latents before and after perturbation, and keep the dimensions that a sparse regression uses.

    Parameters
    ----------
    before, after : ndarray of float32, shape (n, c, h, w)
        Latents of the same pictures; as many of either class.
    strength : float, optional
        See `PUBLISHED_STRENGTH`; the smaller, the sparser. None chooses one of `STRENGTHS` by cross-validation over the
        training pictures alone, among those that select at most ``most_share``.
    most_share : float
        Largest share of selected dimensions where the strength is chosen.
    seed : int
        Splits pictures 0.8 / 0.2: both latents of a picture fall on the same side.

    Returns
    -------
    SparseSubmodel

    Raises
    ------
    SearchRefused
        If the shapes differ, there are under ten pictures, or no dimension is selected.

    Notes
    -----
    OOR paper, appendix on the sparse submodel, Tables 9 and 10: saga solver, L1 penalty.
    """
    if before.shape != after.shape or before.ndim != 4:
        raise SearchRefused(
            f"Latents before and after have one shape (n, c, h, w), not {before.shape} and {after.shape}."
        )
    if len(before) < _FEWEST:
        raise SearchRefused(f"A sparse submodel needs the latents of {_FEWEST} pictures or more, not {len(before)}.")
    if strength is not None and strength <= 0:
        raise SearchRefused(f"The strength is above 0, not {strength}.")
    order = np.random.default_rng(seed).permutation(len(before))
    n_test = max(1, round(TEST_SHARE * len(before)))
    test, train = order[:n_test], order[n_test:]
    pair = _Pair(*(latents.reshape(len(latents), -1).astype(np.float64) for latents in (before, after)))
    started = time.perf_counter()
    if strength is None:
        strength = _chosen_strength(pair, train, most_share, seed)
    fit = pair.fit(train, strength, seed)
    seconds = time.perf_counter() - started
    if not fit.selected.any():
        raise SearchRefused(
            f"A strength of {strength:g} leaves no dimension for {len(train)} pictures. Take more pictures, or a "
            "larger strength."
        )
    return SparseSubmodel(
        dimensions=fit.selected.reshape(before.shape[1:]),
        share=float(fit.selected.mean()),
        test_score=pair.score(fit, test),
        strength=strength,
        n_train=2 * len(train),
        n_test=2 * len(test),
        seconds=seconds,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """A regression on standardised latents."""

    regression: Any
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    @property
    def selected(self) -> NDArray[np.bool_]:
        return np.asarray(self.regression.coef_[0] != 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """Latents of the same pictures before and after, shape (n, dimensions) each."""

    before: NDArray[np.float64]
    after: NDArray[np.float64]

    def fit(self, chosen: NDArray[np.intp], strength: float, seed: int) -> _Fit:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        both = self._of(chosen)
        mean, spread = both.mean(axis=0), both.std(axis=0)
        spread[spread == 0] = 1.0
        regression = LogisticRegression(
            l1_ratio=1.0, C=strength / len(both), solver="saga", max_iter=300, tol=1e-3, random_state=seed
        )
        with warnings.catch_warnings():
            # The set of selected dimensions settles long before the last digits of their coefficients.
            warnings.simplefilter("ignore", ConvergenceWarning)
            regression.fit((both - mean) / spread, np.repeat([0, 1], len(chosen)))
        return _Fit(regression, mean, spread)

    def score(self, fit: _Fit, chosen: NDArray[np.intp]) -> float:
        standardised = (self._of(chosen) - fit.mean) / fit.spread
        return float(fit.regression.score(standardised, np.repeat([0, 1], len(chosen))))

    def _of(self, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.concatenate([self.before[chosen], self.after[chosen]])


def _chosen_strength(pair: _Pair, train: NDArray[np.intp], most_share: float, seed: int) -> float:
    """The strength with the best mean score over held-out folds of the training pictures; of equal ones the first."""
    folds = np.array_split(train, FOLDS)
    scores = {}
    for strength in STRENGTHS:
        selected = pair.fit(train, strength, seed).selected
        if not selected.any():
            continue
        if selected.mean() > most_share:
            break
        scores[strength] = float(
            np.mean([pair.score(pair.fit(np.setdiff1d(train, fold), strength, seed), fold) for fold in folds])
        )
    if not scores:
        raise SearchRefused(
            f"No strength selects a dimension and at most {most_share:.0%} of them. Take more pictures, or allow more."
        )
    return max(scores, key=lambda strength: scores[strength])
