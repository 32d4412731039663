"""Two models and the same person on the same pictures: is one model more consistent with the person?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from analysis.agreement.pairs import kappa_parts, right_or_wrong
from analysis.arrays import FloatArray
from analysis.clusters import clustered
from analysis.errors import InvalidInput, TooFewResponses
from analysis.study.analysis_plan import LEVEL

#: Of the eight kinds of pictures, who is wrong: person, first and second model.
_BITS = np.array(list(product((0.0, 1.0), repeat=3)))


@dataclass(frozen=True)
class KappaDifference:
    """The difference of two kappas that share a person and the pictures.

    Parameters
    ----------
    kappas : tuple of float
        Error consistency of the person with the first and with the second model; NaN where it is undefined.
    difference : float
        First minus second; NaN where a kappa is undefined.
    interval : tuple of float or None
        Of the difference, over pictures, or over originals where pictures share them. None where an observer is always
        right or always wrong: a kappa is then 0 or undefined whatever the others do.
    p : float
        Of the hypothesis that both kappas are equal; 1 without an interval.
    n, originals : int
        Pictures, and different originals behind them.
    """

    kappas: tuple[float, float]
    difference: float
    interval: tuple[float, float] | None
    p: float
    n: int
    originals: int


def kappa_difference(
    person: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    originals: ArrayLike | None = None,
    level: float = LEVEL,
) -> KappaDifference:
    """Compare the error consistency of a person with two models.

    Parameters
    ----------
    person, first, second : array-like of bool, shape (n,)
        Was the person, the one and the other model right on picture i? In the same order of pictures.
    originals : array-like, shape (n,), optional
        Original behind each picture; without them every picture is drawn by itself.
    level : float
        Level of the interval.

    Returns
    -------
    KappaDifference

    Raises
    ------
    InvalidInput
        If the columns differ in length or hold anything but right and wrong.
    TooFewResponses
        If there are fewer than two pictures.

    Notes
    -----
    t, from what every picture adds to both linearised kappas at once (`analysis.clusters`): models that are alike are
    compared as exactly as their answers differ. Klein et al. (2025) draw pictures again, and for the test exchange the
    answers of both models to half of the pictures.
    """
    columns = [right_or_wrong(one) for one in (person, first, second)]
    if len({len(one) for one in columns}) != 1:
        raise InvalidInput(
            f"The person and the models have {', '.join(str(len(one)) for one in columns)} answers: one each per "
            "common picture."
        )
    n = len(columns[0])
    if n < 2:
        raise TooFewResponses("Two kappas are compared on at least two pictures that the person and both models saw.")
    names, original = np.unique(np.arange(n) if originals is None else np.asarray(originals), return_inverse=True)
    if original.shape != (n,):
        raise InvalidInput("Originals have one entry per common picture.")
    theirs, *models = (one.astype(np.float64) for one in columns)
    found = [kappa_parts(theirs, own) for own in models]
    kappas = tuple(float("nan") if one is None else one[0] for one in found)
    difference = kappas[0] - kappas[1]
    interval, p = None, 1.0
    if found[0] is not None and found[1] is not None and all(one.any() and not one.all() for one in columns):
        parts = (found[0][1] - found[1][1]) / n
        spread = clustered([np.bincount(original, weights=parts)[:, None].astype(np.float64)], np.zeros(1))
        reach = float(spread.reach(level)[0])
        interval = max(difference - reach, -2.0), min(difference + reach, 2.0)
        p = float(spread.p_values(np.array([difference]))[0])
    return KappaDifference((kappas[0], kappas[1]), difference, interval, p, n, len(names))


def differences_of_tables(tables: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same for many tables of counts, where every picture has its own original.

    Parameters
    ----------
    tables : ndarray, shape (k, 8)
        Pictures by who is right: person, first and second model; the last changes fastest, right comes first.

    Returns
    -------
    difference, variance, p : ndarray, shape (k,)
        Variance is that of one picture: over the pictures it is that of the difference. Where an observer is always
        right or always wrong the difference is NaN, and p is 1.
    """
    from scipy.special import stdtr

    right = 1.0 - _BITS
    n = tables.sum(axis=1)
    means = tables @ right / n[:, None]
    values = np.zeros(len(tables))
    parts = np.zeros(tables.shape)
    known = ((means > 0.0) & (means < 1.0)).all(axis=1)
    p, with_each = means[known, 0], means[known, 1:]
    for number, sign in ((1, 1.0), (2, -1.0)):
        q = with_each[:, number - 1]
        agreeing = (right[:, 0] == right[:, number]).astype(np.float64)
        observed = tables[known] @ agreeing / n[known]
        beyond = p * (1.0 - q) + q * (1.0 - p)
        kappa = 1.0 - (1.0 - observed) / beyond
        shift = np.outer(2.0 * q - 1.0, right[:, 0]) + np.outer(2.0 * p - 1.0, right[:, number])
        own = (agreeing - (1.0 - kappa)[:, None] * shift) / beyond[:, None]
        own -= (tables[known] * own).sum(axis=1, keepdims=True) / n[known, None]
        values[known] += sign * kappa
        parts[known] += sign * own
    second, fourth = ((tables * parts**power).sum(axis=1) for power in (2, 4))
    counted = np.maximum(n - 1.0, 1.0)
    freedom = 3.0 * np.divide(second**2, fourth, out=n.copy(), where=fourth > 0.0) - 2.0
    error = np.sqrt(second / (n * counted))
    ratio = np.divide(np.abs(values), error, out=np.where(values == 0.0, 0.0, np.inf), where=error > 0.0)
    tail = 2.0 * stdtr(np.clip(freedom, 1.0, counted), -ratio)
    return np.where(known, values, np.nan), second / n, np.where(known, tail, 1.0)
