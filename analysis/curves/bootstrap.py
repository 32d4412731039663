"""Cluster bootstrap of a curve: its refits to resampled trials, and how their spreads combine into one variance."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray, IntArray
from analysis.curves.methods.base import Cells, ChosenFit, CurveMethod
from analysis.curves.resampling import cluster_words, multiplicities, resampled_sums, resampled_trials
from analysis.curves.spline import SplineBasis
from analysis.errors import InvalidInput

DrawArray = NDArray[np.float32]

#: What is drawn: originals, participants, or single trials.
Unit = Literal["image", "participant", "trial"]
#: Which units a band rests on.
Scheme = Literal["two-way", "image", "participant", "naive"]

UNITS: dict[Scheme, tuple[Unit, ...]] = {
    "two-way": ("image", "participant", "trial"),
    "image": ("image",),
    "participant": ("participant",),
    "naive": ("trial",),
}


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Refitted coefficients of one curve.

    Parameters
    ----------
    scheme : {"two-way", "image", "participant", "naive"}
    key : int
        64-bit key from which the multiplicities follow. Curves with equal keys are resampled jointly.
    draws : mapping of unit to ndarray of float32, shape (n_replicates, K)
        Spline coefficients of the refits, by what was drawn.
    """

    scheme: Scheme
    key: int
    draws: Mapping[Unit, DrawArray]

    @property
    def n_replicates(self) -> int:
        """Refits per unit."""
        return len(self.draws[self.leading])

    @property
    def leading(self) -> Unit:
        """The unit whose refits give the shape of the distribution (the others give only its spread)."""
        return UNITS[self.scheme][0]

    def to_dict(self) -> dict[str, Any]:
        """Plain values; refits as base64 of little-endian float32."""
        return {
            "scheme": self.scheme,
            "key": self.key,
            "replicates": self.n_replicates,
            "draws": {
                unit: base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode("ascii")
                for unit, array in self.draws.items()
            },
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Bootstrap:
        """Undo `to_dict`."""
        replicates = int(values["replicates"])
        draws: dict[Unit, DrawArray] = {
            unit: np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(replicates, -1).astype(np.float32)
            for unit, text in values["draws"].items()
        }
        return cls(values["scheme"], int(values["key"]), draws)


@dataclass(frozen=True, eq=False)
class Spread:
    """Bootstrap spread of a statistic (a number, or a function on a grid) around its estimate.

    Parameters
    ----------
    estimate : ndarray, shape (...)
    standard_error : ndarray, shape (...)
    deviations : ndarray, shape (n_replicates, ...)
        Replicates minus estimate, stretched to the combined standard error.
    """

    estimate: FloatArray
    standard_error: FloatArray
    deviations: FloatArray

    def percentile_interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Quantiles of estimate + deviation that enclose ``level``."""
        tail = (1.0 - level) / 2.0
        lower, upper = np.quantile(self.deviations, [tail, 1.0 - tail], axis=0)
        return self.estimate + lower, self.estimate + upper

    def critical_value(self, level: float, floor: float = 1e-3) -> float:
        """Quantile over replicates of the largest |deviation| / standard error along the grid (sup-t)."""
        scale = np.maximum(self.standard_error, floor)
        largest = np.max(np.abs(self.deviations) / scale, axis=-1)
        return float(np.quantile(largest, level))


def spread_of(estimate: FloatArray, replicates: Mapping[Unit, FloatArray]) -> Spread:
    """Combine the replicates of the drawn units into one spread.

    Parameters
    ----------
    estimate : ndarray, shape (...)
    replicates : mapping of unit to ndarray, shape (n_replicates, ...)
        The statistic in every refit. With all three units the variance is two-way.

    Notes
    -----
    ``V = max(V_p + V_i - V_n, V_p, V_i)`` at each point (Cameron, Gelbach and Miller 2011, eq. 2.11; the maximum keeps
    it positive); the deviations of the leading unit are multiplied by ``sqrt(V / V_leading)``.
    """
    leading: Unit = next(unit for unit in ("image", "participant", "trial") if unit in replicates)
    variance = {unit: np.asarray(values, dtype=np.float64).var(axis=0, ddof=1) for unit, values in replicates.items()}
    total = variance[leading]
    if "image" in variance and "participant" in variance:
        summed = variance["image"] + variance["participant"] - variance.get("trial", np.zeros_like(total))
        total = np.maximum(summed, np.maximum(variance["image"], variance["participant"]))
    stretch = np.sqrt(np.divide(total, variance[leading], out=np.ones_like(total), where=variance[leading] > 0.0))
    deviations = (np.asarray(replicates[leading], dtype=np.float64) - estimate) * stretch
    return Spread(np.asarray(estimate, dtype=np.float64), np.sqrt(total), deviations)


def pair_spread(
    first: Bootstrap,
    second: Bootstrap,
    first_estimate: FloatArray,
    second_estimate: FloatArray,
    statistic: Callable[[FloatArray, FloatArray], FloatArray],
) -> Spread:
    """Spread of a statistic of two curves, resampled jointly where they share a key.

    Parameters
    ----------
    first, second : Bootstrap
    first_estimate, second_estimate : ndarray, shape (K,)
        Coefficients of the fits.
    statistic : callable
        Maps two batches of coefficients, shape (n, K) each, to values, shape (n, ...).

    Notes
    -----
    In the leading draw both curves vary (replicate by replicate, so shared originals move together); in the draws that
    only correct the variance, a curve that is not resampled two ways stays at its estimate, since its whole spread is
    in the leading draw already.
    """
    estimate = statistic(first_estimate[None, :], second_estimate[None, :])[0]
    count = min(first.n_replicates, second.n_replicates)

    def replicate(curve: Bootstrap, fixed: FloatArray, unit: Unit, leading: bool) -> FloatArray:
        if leading:
            return curve.draws[unit if unit in curve.draws else curve.leading][:count].astype(np.float64)
        if curve.scheme == "two-way":
            return curve.draws[unit][:count].astype(np.float64)
        return np.broadcast_to(fixed, (count, len(fixed)))

    units: tuple[Unit, ...] = UNITS["two-way"] if "two-way" in (first.scheme, second.scheme) else (first.leading,)
    replicates: dict[Unit, FloatArray] = {}
    for position, unit in enumerate(units):
        left = replicate(first, first_estimate, unit, position == 0)
        right = replicate(second, second_estimate, unit, position == 0)
        replicates[unit] = statistic(left, right)
    return spread_of(estimate, replicates)


#: Left outside, on one side, by the bound up to which refits move where all answers were alike.
_TAIL = 0.025
#: Place of the curve's own trials among the strata.
_MAIN = 1


@dataclass(frozen=True, eq=False)
class ClusteredTrials:
    """Trials as the bootstrap reads them: cell, outcome and clusters of each.

    Parameters
    ----------
    cell : ndarray of int, shape (n_trials,)
        Column of the design to which the trial belongs.
    outcome : ndarray, shape (n_trials,)
        In [0, 1].
    clusters : mapping
        For "image" and "participant": codes, shape (n_trials,), and the names that the codes stand for.
    strata : ndarray of int, shape (n_trials,)
        Trials drawn together in the naive bootstrap: clean trials, trials of the curve, trials on noise.
    stratum_digests : sequence of str
        sha256 of the trials of each stratum.
    weight : ndarray, shape (n_trials,), optional
        How many answers each is worth; None where each is worth one.
    """

    cell: IntArray
    outcome: FloatArray
    clusters: Mapping[Unit, tuple[IntArray, list[str]]]
    strata: IntArray
    stratum_digests: Sequence[str]
    weight: FloatArray | None = None


def refit(
    method: CurveMethod,
    basis: SplineBasis,
    cells: Cells,
    chosen: ChosenFit,
    trials: ClusteredTrials,
    units: tuple[Unit, ...],
    *,
    key: int,
    n_replicates: int,
) -> dict[Unit, NDArray[np.float32]]:
    """Refit a curve to resampled trials, at the smoothness of its fit.

    Parameters
    ----------
    method : CurveMethod
    basis : SplineBasis
    cells : Cells
        The sample's own counts.
    chosen : ChosenFit
        The sample's fit.
    trials : ClusteredTrials
    units : tuple
        What to draw, one set of refits each.
    key : int
        64-bit key of the multiplicities.
    n_replicates : int
        Refits per unit.

    Returns
    -------
    dict of unit to ndarray of float32, shape (n_replicates, K)

    Raises
    ------
    InvalidInput
        If a unit is asked for whose ids are missing.
    """
    number = len(cells.v)
    draws: dict[Unit, NDArray[np.float32]] = {}
    alike = _alike(trials, units[0], key, n_replicates)
    for unit in units:
        if unit == "trial":
            correct, count = _naive_counts(trials, number, key, n_replicates)
        elif unit in trials.clusters:
            codes, names = trials.clusters[unit]
            weights = multiplicities(key, cluster_words(unit, names), n_replicates)
            correct, count = resampled_sums(weights, codes, trials.cell, trials.outcome, number, trials.weight)
        else:
            raise InvalidInput(f"A bootstrap over {unit}s needs their ids.")
        empty = count.sum(axis=1) == 0.0
        if empty.any():
            # Only with a handful of clusters: a replicate in which none was drawn tells nothing and stands still.
            count[empty], correct[empty] = cells.trials, cells.correct
        if alike is not None:
            correct[alike.where] = alike.rate * count[alike.where]
        draws[unit] = method.refit(basis, cells.resampled(correct, count), chosen).astype(np.float32)
    return draws


@dataclass(frozen=True, eq=False)
class _Alike:
    """Refits that move, with the cells in which they do, and the rate to which they move."""

    where: tuple[IntArray, ...]
    rate: float


def bound_of_alike(trials: ClusteredTrials, leading: Unit) -> float | None:
    """How near 1 (or, counted from 1, near 0) the truth of answers that were all right, or all wrong, surely lies.

    Returns
    -------
    float or None
        None where answers differ.

    Notes
    -----
    The exact bound after n clusters that were all right is ``0.025 ** (1 / n)`` (Clopper and Pearson 1934).
    """
    main = trials.strata == _MAIN
    outcome = trials.outcome[main]
    if not (np.all(outcome == 0.0) or np.all(outcome == 1.0)):
        return None
    n = len(np.unique(trials.clusters[leading][0][main])) if leading in trials.clusters else len(outcome)
    return float(_TAIL ** (1.0 / n))


def _alike(trials: ClusteredTrials, leading: Unit, key: int, n_replicates: int) -> _Alike | None:
    """Refits that move where answers were all right, or all wrong; None where they differ.

    Notes
    -----
    However such answers are drawn again, they give the same curve: five right ones would prove perfection. With every
    other refit at the exact bound, 1.96 standard deviations of the refits reach it, and so does their 97.5 % quantile.
    """
    bound = bound_of_alike(trials, leading)
    if bound is None:
        return None
    main = trials.strata == _MAIN
    # A stream of the curve's own: two curves that were all right are wrong on pictures of their own.
    generator = np.random.default_rng([key, int(trials.stratum_digests[_MAIN][:16], 16), _MAIN])
    moved = np.flatnonzero(generator.random(n_replicates) < 0.5)
    all_right = trials.outcome[main][0] == 1.0
    return _Alike(np.ix_(moved, np.unique(trials.cell[main])), bound if all_right else 1.0 - bound)


def _naive_counts(trials: ClusteredTrials, cells: int, key: int, n_replicates: int) -> tuple[FloatArray, FloatArray]:
    """Naive draws; equal strata of two curves (the same clean trials) get equal draws."""
    correct = np.zeros((n_replicates, cells))
    count = np.zeros((n_replicates, cells))
    for stratum, digest in enumerate(trials.stratum_digests):
        chosen = trials.strata == stratum
        if not chosen.any():
            continue
        generator = np.random.default_rng([key, int(digest[:16], 16)])
        more_correct, more = resampled_trials(
            generator,
            trials.cell[chosen],
            trials.outcome[chosen],
            cells,
            n_replicates,
            None if trials.weight is None else trials.weight[chosen],
        )
        correct += more_correct
        count += more
    return correct, count
