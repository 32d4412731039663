"""Refits of a curve to resampled trials: what its bands rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.curves.basis import SplineBasis
from analysis.curves.bootstrap import Unit
from analysis.curves.methods import Cells, ChosenFit, CurveMethod
from analysis.curves.resampling import cluster_words, multiplicities, resampled_sums, resampled_trials
from analysis.errors import InvalidInput

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


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
    """

    cell: IntArray
    outcome: FloatArray
    clusters: Mapping[Unit, tuple[IntArray, list[str]]]
    strata: IntArray
    stratum_digests: Sequence[str]


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
    for unit in units:
        if unit == "trial":
            correct, count = _naive_counts(trials, number, key, n_replicates)
        elif unit in trials.clusters:
            codes, names = trials.clusters[unit]
            weights = multiplicities(key, cluster_words(unit, names), n_replicates)
            correct, count = resampled_sums(weights, codes, trials.cell, trials.outcome, number)
        else:
            raise InvalidInput(f"A bootstrap over {unit}s needs their ids.")
        empty = count.sum(axis=1) == 0.0
        if empty.any():
            # Only with a handful of clusters: a replicate in which none was drawn tells nothing and stands still.
            count[empty], correct[empty] = cells.trials, cells.correct
        draws[unit] = method.refit(basis, cells.resampled(correct, count), chosen).astype(np.float32)
    return draws


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
            generator, trials.cell[chosen], trials.outcome[chosen], cells, n_replicates
        )
        correct += more_correct
        count += more
    return correct, count
