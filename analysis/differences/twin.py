"""A simulated twin of people: what a model that answers by their own curve would score in a study of this size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ndtri

from analysis.arrays import BoolArray, FloatArray, IntArray
from analysis.curves.binning import bin_index
from analysis.curves.curve import CurveFit
from analysis.curves.spline import VARIANCE_FLOOR, BinnedFits, fit_binned
from analysis.differences.answers import Clusters

#: Studies that are drawn: a 5 % quantile lies between those of 2 and 8 %.
TWINS = 200
#: Pairs of answers to one picture from which on it is estimated how much of what is hard is hard for everybody.
FEWEST_PAIRS = 200
#: Terms of the tetrachoric series, and the largest correlation that is looked for.
_TERMS, _MOST = 14, 0.9
#: Cells of the sums over visual change: exact to about 1e-5.
_CELLS = 200
#: Latent numbers that are held at once.
_AT_ONCE = 4_000_000
_SURE = 1e-4
#: Smoothness that is tried in drawn studies, times that of people's curve; steps of the fits; steps that are none.
_SMOOTHNESS, _REWEIGHTINGS, _FALLING = (0.1, 1.0, 10.0), 3, 1e-9

SharedBy = Literal["stimuli", "originals", "nothing"]


@dataclass(frozen=True, eq=False)
class CurveAnswers:
    """People's answers behind one curve.

    Parameters
    ----------
    fit : CurveFit
        Of the default method.
    place, correct : ndarray, shape (n,)
        Visual change, 0 of clean pictures, and outcome in [0, 1].
    people, stimuli, originals : Clusters
        Who answered, and to what; equal names are the same over all curves.
    is_clean : ndarray of bool, shape (n,)
        Answers to clean pictures, which hold the left end.
    weights : ndarray, shape (n,), optional
        How much each counts in the curve.
    """

    fit: CurveFit
    place: FloatArray
    correct: FloatArray
    people: Clusters
    stimuli: Clusters
    originals: Clusters
    is_clean: BoolArray
    weights: FloatArray | None = None

    @property
    def chance(self) -> FloatArray:
        """Of a right answer by the curve, shape (n,), never quite 0 or 1."""
        return np.clip(self.fit.predict(self.place), _SURE, 1.0 - _SURE)

    def cells(self) -> tuple[FloatArray, IntArray]:
        """Visual change of each cell of the curve, and the cell of each answer."""
        rank = np.full(self.fit.config.n_bins, 0, dtype=np.int64)
        rank[[one.index for one in self.fit.bins]] = np.arange(len(self.fit.bins))
        places = np.array([one.v for one in self.fit.bins])
        cell = rank[bin_index(self.place, self.fit.config.n_bins)]
        if not self.is_clean.any():
            return places, cell
        return np.concatenate([[0.0], places]), np.where(self.is_clean, 0, cell + 1)


class Shared(NamedTuple):
    """Correlation of what lies behind two answers to one picture, and behind two answers of one person."""

    by: SharedBy
    pictures: float
    people: float


@dataclass(frozen=True, eq=False)
class Twins:
    """HMRI and MRSI of twins in drawn studies.

    Parameters
    ----------
    indices : mapping of curve to ndarray, shape (draws, 2)
        Entries of the same row belong to one drawn study.
    shared : Shared
    """

    indices: Mapping[str, FloatArray]
    shared: Shared

    def mean(self, names: list[str]) -> FloatArray:
        """Means over these curves, shape (draws, 2)."""
        return np.asarray(np.mean([self.indices[name] for name in names], axis=0))


def simulated_twins(curves: Mapping[str, CurveAnswers], *, seed: int, draws: int = TWINS) -> Twins:
    """Draw studies in which people and a model both answer by people's curves, and score the model.

    Parameters
    ----------
    curves : mapping of name to CurveAnswers
    seed, draws : int
        Of the drawn studies, and how many.

    Returns
    -------
    Twins

    Notes
    -----
    A study is drawn with the people, pictures and numbers of answers that there were; the twin answers each picture
    once. An answer is right where a normal latent number lies below the quantile of the curve's rate; it has a part of
    the picture, which people and twin share, a part of the person, and a part of its own. Both are drawn anew, because
    people's curve errs as well: beside the one curve that was found a twin would come too close. The curves of drawn
    studies are fitted with the smoothness that AIC prefers: that of people's curve, a tenth or ten times of it.
    """
    shared = _shared(list(curves.values()))
    names = np.unique(np.concatenate([one.people.names for one in curves.values()]))
    persons = np.random.default_rng([seed, 0]).standard_normal((len(names), draws), dtype=np.float32)
    indices = {}
    for number, (name, one) in enumerate(curves.items(), 1):
        own = persons[np.searchsorted(names, one.people.names)]
        indices[name] = _indices(one, shared, own, np.random.default_rng([seed, number]))
    return Twins(indices, shared)


def _indices(one: CurveAnswers, shared: Shared, persons: NDArray[np.float32], rng: np.random.Generator) -> FloatArray:
    """HMRI and MRSI of the drawn studies, shape (draws, 2)."""
    places, cell = one.cells()
    threshold = ndtri(one.chance).astype(np.float32)
    first = np.unique(one.stimuli.codes, return_index=True)[1]
    pictures = one.originals if shared.by == "originals" else one.stimuli
    weights = np.ones(len(cell)) if one.weights is None else one.weights
    if one.weights is not None:
        # as many equal answers as a cell's weights are worth (Kish 1965)
        weights = weights * (np.bincount(cell, weights) / np.bincount(cell, weights**2))[cell]
    sums = csr_array((weights.astype(np.float32), (cell, np.arange(len(cell)))), shape=(len(places), len(cell)))
    of_twin = csr_array(
        (np.ones(len(first), dtype=np.float32), (cell[first], np.arange(len(first)))), shape=(len(places), len(first))
    )
    by_picture, by_person = np.sqrt(shared.pictures), np.sqrt(shared.people)
    own, twins_own = np.sqrt(1.0 - shared.pictures - shared.people), np.sqrt(1.0 - shared.pictures)
    right, twin_right = [], []
    count = persons.shape[1]
    for drawn in np.array_split(np.arange(count), max(count * len(cell) // _AT_ONCE, 1)):
        common = np.float32(by_picture) * _normal(rng, len(pictures.names), len(drawn))
        latent = common[pictures.codes] + np.float32(own) * _normal(rng, len(cell), len(drawn))
        latent += np.float32(by_person) * persons[:, drawn][one.people.codes]
        right.append((sums @ (latent < threshold[:, None]).astype(np.float32)).T)
        latent = common[pictures.codes[first]] + np.float32(twins_own) * _normal(rng, len(first), len(drawn))
        twin_right.append((of_twin @ (latent < threshold[first, None]).astype(np.float32)).T)
    heights = _heights(one.fit, places, np.concatenate(right), sums.sum(axis=1))
    others = _heights(one.fit, places, np.concatenate(twin_right), of_twin.sum(axis=1))
    area, other = heights.mean(axis=1), others.mean(axis=1)
    lower = np.minimum(heights, others).mean(axis=1)
    return np.stack(
        [
            np.divide(lower, area, out=np.ones_like(area), where=area > 0.0),
            1.0 - np.divide(lower, other, out=np.ones_like(area), where=other > 0.0),
        ],
        axis=1,
    )


def _normal(rng: np.random.Generator, rows: int, columns: int) -> NDArray[np.float32]:
    return rng.standard_normal((rows, columns), dtype=np.float32)


def _heights(fit: CurveFit, places: FloatArray, right: NDArray[np.float32], count: FloatArray) -> FloatArray:
    """Curves of drawn studies at the middles of cells, shape (draws, cells); smoothness by AIC near that of people."""
    trials = np.array(np.broadcast_to(np.asarray(count, dtype=np.float64), right.shape))
    correct = np.minimum(right.astype(np.float64), trials)
    basis, design = fit.basis, fit.basis.step_design(places)
    best, chosen = np.full(len(right), np.inf), np.zeros((len(right), basis.size))
    for factor in _SMOOTHNESS:
        smoothness = factor * fit.smoothness
        start = np.clip(fit.predict(places), 0.0, 1.0)
        fits = fit_binned(basis, design, correct, trials, smoothness, start=start, reweightings=_REWEIGHTINGS)
        criterion = _parameters(basis.step_penalty, design, trials, fits, smoothness) - fits.log_likelihood
        better = criterion < best
        best[better], chosen[better] = criterion[better], fits.coefficients[better]
    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    middles = fit.basis.design((edges[1:] + edges[:-1]) / 2.0)
    return np.asarray(np.clip(chosen, 0.0, 1.0) @ middles.T)


def _parameters(
    penalty: FloatArray, design: FloatArray, trials: FloatArray, fits: BinnedFits, smoothness: float
) -> FloatArray:
    """Effective parameters of each fit: the trace of its smoother on the steps that are not held at 0."""
    weights = trials / np.maximum(fits.fitted * (1.0 - fits.fitted), VARIANCE_FLOOR)
    size = design.shape[1]
    information = (weights @ (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)).reshape(-1, size, size)
    free = (fits.free & (fits.steps > _FALLING)).astype(np.float64)
    face = free[:, :, None] * free[:, None, :]
    held = np.eye(size) * (1.0 - free)[:, None, :]
    return np.asarray(
        np.einsum("nkk->n", np.linalg.solve((information + smoothness * penalty) * face + held, information * face))
    )


def _shared(curves: list[CurveAnswers]) -> Shared:
    """Estimate what answers share, from pairs of answers to one stimulus; of too few, to one original."""
    chance = np.concatenate([one.chance for one in curves])
    residual = np.concatenate([one.correct for one in curves]) - chance
    people = _joint([one.people for one in curves])
    of_people = correlation(residual, chance, people)
    for by, groups in (
        ("stimuli", _joint([one.stimuli for one in curves])),
        ("originals", _joint([one.originals for one in curves])),
    ):
        count = np.bincount(groups)
        if int((count * (count - 1) // 2).sum()) >= FEWEST_PAIRS:
            found = correlation(residual, chance, groups)
            return Shared("stimuli" if by == "stimuli" else "originals", found, min(of_people, 1.0 - found - 0.05))
    return Shared("nothing", 0.0, of_people)


def _joint(clusters: list[Clusters]) -> IntArray:
    """Codes over all curves."""
    return np.unique(np.concatenate([one.names[one.codes] for one in clusters]), return_inverse=True)[1]


def correlation(residual: FloatArray, chance: FloatArray, groups: IntArray) -> float:
    """Correlation of the normal latent numbers behind right and wrong answers of one group.

    Parameters
    ----------
    residual : ndarray, shape (n,)
        Outcome minus chance.
    chance : ndarray, shape (n,)
        Of a right answer, in (0, 1).
    groups : ndarray of int, shape (n,)

    Returns
    -------
    float
        In [0, .9]; 0 without pairs.

    Notes
    -----
    The moment estimate that equals the products of residuals of all pairs to their expectation. That of a pair with
    thresholds h and k is ``phi(h) phi(k) sum_j r^j He_{j-1}(h) He_{j-1}(k) / j!`` (Pearson 1900, the tetrachoric
    series), so that sums over groups suffice.
    """
    threshold = ndtri(chance)
    size = int(groups.max()) + 1

    def pairs(values: FloatArray) -> float:
        return float((np.bincount(groups, values, size) ** 2).sum() - (values**2).sum())

    density = np.exp(-0.5 * threshold**2) / np.sqrt(2.0 * np.pi)
    # Hermite polynomials over the root of their factorial
    previous, current = np.zeros_like(threshold), np.ones_like(threshold)
    coefficients = []
    for order in range(1, _TERMS + 1):
        coefficients.append(pairs(density * current) / order)
        previous, current = current, (threshold * current - np.sqrt(order - 1.0) * previous) / np.sqrt(order)
    tried = np.linspace(0.0, _MOST, 181)
    expected = sum(one * tried**order for order, one in enumerate(coefficients, 1))
    if not coefficients[0] > 0.0:
        return 0.0
    return float(np.interp(pairs(residual), np.maximum.accumulate(expected), tried))
