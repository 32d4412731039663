"""Cue conflict: do answers follow the shape of a picture or its texture?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.clusters import clustered, exact_bound, summed
from analysis.errors import InvalidInput
from analysis.study.analysis_plan import LEVEL


@dataclass(frozen=True)
class ShapeBias:
    """Answers to pictures of one category's shape and another's texture.

    Parameters
    ----------
    shape, texture, other : int
        Answers that name the shape, the texture, or neither.
    bias : float
        shape / (shape + texture); NaN without either.
    interval : tuple of float
        Exact binomial (Clopper-Pearson) interval of the bias at the number of independent answers that those of
        several people, or several answers to a picture, are worth; (0, 1) without either.
    """

    shape: int
    texture: int
    other: int
    bias: float
    interval: tuple[float, float]


def shape_bias(
    responses: ArrayLike,
    shapes: ArrayLike,
    textures: ArrayLike,
    *,
    people: ArrayLike | None = None,
    pictures: ArrayLike | None = None,
    level: float = LEVEL,
) -> ShapeBias:
    """Decide whether answers follow the shape or the texture.

    Parameters
    ----------
    responses, shapes, textures : array-like of str, shape (n,)
        Pictures whose shape and texture are of one category are left out.
    people, pictures : array-like, shape (n,), optional
        Who answered, and what was shown: with several people, or several answers to a picture, answers that share
        either resemble each other, and the interval is for new people and new pictures. Without them every answer
        stands for itself.
    level : float
        Level of the interval.

    Returns
    -------
    ShapeBias

    Raises
    ------
    InvalidInput
        If the columns differ in length.

    Notes
    -----
    Geirhos et al. (2019), section 2: the share of shape among answers that name shape or texture. The interval of
    several people is Korn and Graubard's (1998): Clopper-Pearson at ``n* = p (1 - p) / V * (z / t)^2`` answers, at most
    as many as there are, with the variance V over people and pictures and its degrees of freedom from
    `analysis.clusters`.
    """
    given, form, surface = (np.asarray(column, dtype=np.str_) for column in (responses, shapes, textures))
    if not given.shape == form.shape == surface.shape or given.ndim != 1:
        raise InvalidInput("Responses, shapes and textures have one entry an answer.")
    conflict = form != surface
    named_shape = conflict & (given == form)
    decided = named_shape | (conflict & (given == surface))
    by_shape, total = int(named_shape.sum()), int(decided.sum())
    who, what = (None if column is None else _of_answers(column, decided) for column in (people, pictures))
    bias, interval = share_of(named_shape[decided], people=who, pictures=what, level=level)
    return ShapeBias(by_shape, total - by_shape, int(conflict.sum()) - total, bias, interval)


def share_of(
    hits: NDArray[np.bool_],
    *,
    people: ArrayLike | None = None,
    pictures: ArrayLike | None = None,
    level: float = LEVEL,
) -> tuple[float, tuple[float, float]]:
    """The share of answers of a kind, and its interval for new people and new pictures, as `shape_bias` has it.

    Parameters
    ----------
    hits : ndarray of bool, shape (n,)
    people, pictures : array-like, shape (n,), optional
    level : float

    Returns
    -------
    share : float
        In [0, 1]; NaN without an answer.
    interval : tuple of float
        Within [0, 1]; (0, 1) without an answer.
    """
    total = len(hits)
    ways = [np.unique(np.asarray(one), return_inverse=True)[1] for one in (people, pictures) if one is not None]
    worth = _worth(hits, [codes for codes in ways if 1 < codes.max(initial=0) + 1 < total], level)
    share = int(hits.sum()) / total if total else float("nan")
    return share, exact_bound(share * worth if total else 0.0, worth, (1.0 - level) / 2.0)


def _of_answers(column: ArrayLike, decided: NDArray[np.bool_]) -> NDArray[np.generic]:
    ids: NDArray[np.generic] = np.asarray(column)
    if ids.shape != decided.shape:
        raise InvalidInput("People and pictures have one entry an answer.")
    return ids[decided]


def _worth(named_shape: NDArray[np.bool_], ways: Sequence[NDArray[np.int64]], level: float) -> float:
    """How many independent answers these are worth."""
    n = len(named_shape)
    if not ways:
        return float(n)
    counts = [int(codes.max()) + 1 for codes in ways]
    share = float(named_shape.mean())
    if share in (0.0, 1.0):
        # Nothing tells how much answers of one person resemble each other: as much as they can.
        return float(min(counts))
    parts = ((named_shape - share) / n)[:, np.newaxis]
    sums = [summed(parts, codes, count) for codes, count in zip(ways, counts, strict=True)]
    # People and pictures together, and each alone: few of one must not borrow degrees of freedom from the other.
    spreads = [clustered(sums, (parts**2).sum(axis=0)), *(clustered([own], np.zeros(1)) for own in sums)]
    reach = max(float(one.reach(level)[0]) for one in spreads)
    normal = NormalDist().inv_cdf((1.0 + level) / 2.0)
    return min(share * (1.0 - share) * (normal / reach) ** 2, float(n))
