"""From a sample of trials to counts in cells and the clusters that are resampled, by a scheme with its reason."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import BoolArray, FloatArray, IntArray
from analysis.curves.binning import Bin, Binning
from analysis.curves.bootstrap import UNITS, ClusteredTrials, Scheme, Unit
from analysis.curves.config import CurveConfig, Sample
from analysis.curves.methods.base import Cells
from analysis.curves.trials import TrialColumns
from analysis.errors import InvalidInput


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
        choices=config.label_space if config.own_chance is None else 1.0 / config.own_chance,
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


@dataclass(frozen=True)
class SchemeChoice:
    """A resampling scheme and why it was taken."""

    scheme: Scheme
    reason: str


def choose_scheme(trials: TrialColumns) -> SchemeChoice:
    """Resample whatever ids are known: people and originals, one of them, or single trials.

    Of whom or what there is only one, nothing is known that another study would change: it is not resampled.

    Parameters
    ----------
    trials : TrialColumns

    Notes
    -----
    Of all schemes only the two-way one has the right spread whether people gave many answers or few and originals were
    answered often or once (Cameron, Gelbach and Miller 2011); where an observer is a classifier, or nothing is known of
    people, originals alone are what another study would change.
    """
    n = len(trials.correct)
    people, originals = _several(trials.participants), _several(trials.images)
    if people is not None and originals is not None:
        return SchemeChoice(
            "two-way",
            f"Both people and originals are resampled: {people} people gave {n / people:.1f} answers each, and each of "
            f"{originals} originals got {n / originals:.1f}; answers that share either resemble each other.",
        )
    if originals is not None:
        return SchemeChoice(
            "image",
            f"The {originals} originals are resampled: one observer answered, so pictures are all that another study "
            "would change.",
        )
    if people is not None:
        return SchemeChoice(
            "participant",
            f"The {people} people are resampled, because no two originals are known; where originals repeat, the band "
            "is too narrow.",
        )
    return SchemeChoice(
        "naive",
        "Single answers are resampled, because neither several people nor several originals are known; where answers "
        "share either, the band is too narrow.",
    )


def _several(ids: NDArray[np.str_] | None) -> int | None:
    """Different ids; None where there are none, or one."""
    found = 0 if ids is None else len(np.unique(ids))
    return found if found > 1 else None


def scheme_by_hand(scheme: Scheme, trials: TrialColumns) -> SchemeChoice:
    """A scheme that the caller asked for, and what it leaves out.

    Raises
    ------
    InvalidInput
        If there is only one of what it would resample.
    """
    for unit, ids in (("participant", trials.participants), ("image", trials.images)):
        if unit in UNITS[scheme] and ids is not None and _several(ids) is None:
            raise InvalidInput(
                f"The scheme {scheme} resamples {unit}s, but there is only one ({ids[0]}), of which no spread follows. "
                "Leave the scheme out: one that these answers allow is taken."
            )
    default = choose_scheme(trials)
    if default.scheme == scheme:
        return default
    return SchemeChoice(scheme, f"The scheme {scheme} was asked for; these answers call for {default.scheme}.")
