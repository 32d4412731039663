"""Latent dimensions that tell pictures after a search from those before it, chosen by a sparse regression."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SearchRefused

#: Of the OOR paper, which leaves open what it multiplies. Here, as in scikit-learn's example of sparse logistic
#: regression: C = strength / number of training latents, latents being standardised. So the *mean* log loss is weighed
#: `strength` times as much as the sum of the absolute coefficients, whatever the number of pictures.
PUBLISHED_STRENGTH = 36.36
TEST_SHARE = 0.2
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
    before: NDArray[np.float32], after: NDArray[np.float32], *, strength: float = PUBLISHED_STRENGTH, seed: int = 0
) -> SparseSubmodel:
    """Label latents before and after perturbation, and keep the dimensions that a sparse regression uses.

    Parameters
    ----------
    before, after : ndarray of float32, shape (n, c, h, w)
        Latents of the same pictures; as many of either class.
    strength : float
        See `PUBLISHED_STRENGTH`; the smaller, the sparser.
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
    if strength <= 0:
        raise SearchRefused(f"The strength is above 0, not {strength}.")
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    order = np.random.default_rng(seed).permutation(len(before))
    n_test = max(1, round(TEST_SHARE * len(before)))
    test, train = order[:n_test], order[n_test:]
    flat = [latents.reshape(len(latents), -1).astype(np.float64) for latents in (before, after)]
    both = np.concatenate([side[train] for side in flat])
    mean, spread = both.mean(axis=0), both.std(axis=0)
    spread[spread == 0] = 1.0
    labels = np.repeat([0, 1], len(train))
    regression = LogisticRegression(
        l1_ratio=1.0, C=strength / len(labels), solver="saga", max_iter=300, tol=1e-3, random_state=seed
    )
    started = time.perf_counter()
    with warnings.catch_warnings():
        # The set of selected dimensions settles long before the last digits of their coefficients.
        warnings.simplefilter("ignore", ConvergenceWarning)
        regression.fit((both - mean) / spread, labels)
    seconds = time.perf_counter() - started
    selected = regression.coef_[0] != 0
    if not selected.any():
        raise SearchRefused(
            f"A strength of {strength:g} leaves no dimension for {len(train)} pictures. Take more pictures, or a "
            "larger strength."
        )
    held_out = (np.concatenate([side[test] for side in flat]) - mean) / spread
    return SparseSubmodel(
        dimensions=selected.reshape(before.shape[1:]),
        share=float(selected.mean()),
        test_score=float(regression.score(held_out, np.repeat([0, 1], len(test)))),
        strength=strength,
        n_train=2 * len(train),
        n_test=2 * len(test),
        seconds=seconds,
    )
