"""Oracle-oriented robustness from counts of pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import InvalidInput, TooFewResponses


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
