"""From a sample of trials to counts in cells, and to the clusters that are resampled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import BoolArray, FloatArray, IntArray
from analysis.curves.anchoring import Sample
from analysis.curves.binning import Bin, Binning
from analysis.curves.bootstrap import Unit
from analysis.curves.bootstrap_refits import ClusteredTrials
from analysis.curves.config import CurveConfig
from analysis.curves.methods import Cells
from analysis.curves.trials import TrialColumns


def occupied_cells(sample: Sample, bins: tuple[Bin, ...], config: CurveConfig) -> tuple[Cells, IntArray]:
    """Cells of the bins and of the trials at both ends, and the cell of every trial.

    Parameters
    ----------
    sample : Sample
    bins : tuple of Bin
        The bins that count.
    config : CurveConfig

    Returns
    -------
    cells : Cells
    cell_of : ndarray of int, shape (n_trials,)
        For clean trials, trials of the curve and trials on noise, in this order; -1 where a trial counts nowhere.
    """
    rank = np.full(config.n_bins + 1, -1, dtype=np.int64)
    if config.bin_rule == "open":
        # The authors' program: every bin at its left edge, empty ones too.
        places = [number / config.n_bins for number in range(config.n_bins)]
        by_index = {one.index: one for one in bins}
        totals = [by_index[j].correct if j in by_index else 0.0 for j in range(config.n_bins)]
        counts = [float(by_index[j].n) if j in by_index else 0.0 for j in range(config.n_bins)]
        rank[: config.n_bins] = np.arange(config.n_bins)
    else:
        places, totals = [one.v for one in bins], [one.correct for one in bins]
        counts = [float(one.n) for one in bins]
        rank[[one.index for one in bins]] = np.arange(len(bins))
    # Index -1 (in no bin) reads the last entry of the ranks, which stays -1.
    cell = rank[Binning(config.n_bins, config.bin_rule).index(sample.main.visual_change)]
    parts = [cell]
    if sample.clean is not None:
        places, totals, counts = [0.0, *places], [sample.left.correct, *totals], [float(sample.left.n), *counts]
        parts = [np.zeros(sample.left.n, dtype=np.int64), np.where(cell >= 0, cell + 1, -1)]
    if sample.noise is not None:
        places, totals, counts = [*places, 1.0], [*totals, sample.right.correct], [*counts, float(sample.right.n)]
        parts.append(np.full(sample.right.n, len(places) - 1, dtype=np.int64))
    cell_of = np.concatenate(parts)
    correct, trials = np.array(totals), np.array(counts)
    weight = counted_weights(sample, cell_of)
    if weight is not None:
        known = cell_of >= 0
        worth = np.bincount(cell_of[known], weights=weight[known], minlength=len(trials))
        correct, trials = np.divide(correct * worth, trials, out=np.zeros_like(trials), where=trials > 0), worth
    cells = Cells(
        v=np.array(places),
        correct=correct,
        trials=trials,
        clean=sample.clean is not None,
        noise=sample.noise is not None,
        start_value=sample.left.value if sample.left.kind == "fixed" else None,
        end_value=sample.right.value if sample.right.kind == "fixed" else None,
        label_space=config.label_space,
    )
    return cells, cell_of


def counted_weights(sample: Sample, cell_of: IntArray) -> FloatArray | None:
    """Weights of all trials, scaled so that those of a cell sum to as many equal answers as they are worth.

    Parameters
    ----------
    sample : Sample
    cell_of : ndarray of int, shape (n_trials,)
        Cell of every trial, -1 where it counts nowhere.

    Returns
    -------
    ndarray, shape (n_trials,), or None
        None where trials have no weights.

    Notes
    -----
    Weights w are worth ``sum(w)^2 / sum(w^2)`` equal answers (Kish 1965, section 11.7); that is what smoothness is
    chosen by. The rate of a cell is not touched.
    """
    if sample.main.weights is None:
        return None
    weight = np.concatenate([part.weights for part in sample.parts if part.weights is not None])
    known = cell_of >= 0
    total, squares = (np.bincount(cell_of[known], weights=weight[known] ** power) for power in (1, 2))
    return np.asarray(np.where(known, weight * (total / np.maximum(squares, 1e-300))[cell_of], 0.0))


def counted_trials(sample: Sample, cell_of: IntArray) -> BoolArray:
    """Which trials of the curve itself (not those at its ends) stand in a bin that counts, shape (n,)."""
    first = 0 if sample.clean is None else len(sample.clean.correct)
    return np.asarray(cell_of[first : first + len(sample.main.correct)] >= 0)


def clustered_trials(sample: Sample, cell_of: IntArray) -> ClusteredTrials:
    """Put all trials that count under common cluster codes."""
    counted = cell_of >= 0
    clusters: dict[Unit, tuple[IntArray, list[str]]] = {}
    if sample.main.images is not None:
        clusters["image"] = _codes([part.images for part in sample.parts], counted)
    if sample.main.participants is not None:
        clusters["participant"] = _codes([part.participants for part in sample.parts], counted)
    order: list[TrialColumns | None] = [sample.clean, sample.main, sample.noise]
    strata = [
        np.full(len(part.correct), number, dtype=np.int64) for number, part in enumerate(order) if part is not None
    ]
    outcome = np.concatenate([part.correct for part in sample.parts])
    weight = counted_weights(sample, cell_of)
    return ClusteredTrials(
        cell_of[counted],
        outcome[counted],
        clusters,
        np.concatenate(strata)[counted],
        sample.digests,
        None if weight is None else weight[counted],
    )


def answered_cells(cells: Cells, trials: ClusteredTrials) -> tuple[Cells, ClusteredTrials]:
    """Both without the cells in which nobody answered (the authors' program counts such bins)."""
    answered = cells.trials > 0.0
    if answered.all():
        return cells, trials
    place = np.cumsum(answered) - 1
    kept = replace(cells, v=cells.v[answered], correct=cells.correct[answered], trials=cells.trials[answered])
    return kept, replace(trials, cell=place[trials.cell])


def _codes(columns: list[NDArray[np.str_] | None], counted: BoolArray) -> tuple[IntArray, list[str]]:
    """Codes of the ids of the trials that count, and the ids."""
    known = np.concatenate([column for column in columns if column is not None])
    names, codes = np.unique(known[counted], return_inverse=True)
    return codes.astype(np.int64), names.tolist()
