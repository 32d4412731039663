"""Refits of a curve to resampled trials: what its bands rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray, IntArray
from analysis.curves.basis import SplineBasis
from analysis.curves.bootstrap import Unit
from analysis.curves.methods import Cells, ChosenFit, CurveMethod
from analysis.curves.resampling import cluster_words, multiplicities, resampled_sums, resampled_trials
from analysis.errors import InvalidInput

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
