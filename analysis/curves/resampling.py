"""Bootstrap multiplicities that belong to a name: the same original is drawn equally often in every curve.

Each cluster (an original, a participant) gets a Poisson(1) multiplicity per replicate, computed from a key and the
cluster's name alone. Curves that are fitted with one key are therefore resampled jointly, whatever else they contain
and in whatever order their rows stand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray, IntArray

UInt64Array = NDArray[np.uint64]

_LANES = 4


def _poisson_table() -> NDArray[np.uint8]:
    """Poisson(1) quantiles at the midpoints of 65,536 equal cells (mean 1 within 2e-5)."""
    term, cumulative, value = float(np.exp(-1.0)), 0.0, 0
    table = np.empty(1 << 16, dtype=np.uint8)
    filled = 0
    while filled < len(table):
        cumulative += term
        end = min(round(cumulative * len(table)), len(table))
        if value > 12:
            end = len(table)
        table[filled:end] = value
        filled = end
        value += 1
        term /= value
    return table


_POISSON = _poisson_table()


def cluster_words(kind: str, names: Sequence[str]) -> UInt64Array:
    """One 64-bit word per cluster from its kind ("image", "participant") and name, shape (n,)."""
    prefix = kind.encode() + b"\x00"
    joined = b"".join(hashlib.blake2b(prefix + name.encode(), digest_size=8).digest() for name in names)
    return np.frombuffer(joined, dtype="<u8").astype(np.uint64)


def multiplicities(key: int, words: UInt64Array, n_replicates: int) -> NDArray[np.uint8]:
    """Poisson(1) multiplicities, shape (n_clusters, n_replicates).

    Parameters
    ----------
    key : int
        64-bit key of the bootstrap.
    words : ndarray of uint64, shape (n_clusters,)
        From `cluster_words`.
    n_replicates : int

    Notes
    -----
    The Poisson bootstrap (Chamandy et al. 2012, "Estimating uncertainty for massive data streams"); its bits are the
    counter-based SplitMix64 mix (Steele, Lea and Flood 2014, fig. 13) of key, word and replicate.
    """
    calls = -(-n_replicates // _LANES)
    start = _mix(words ^ np.uint64(key & 0xFFFFFFFFFFFFFFFF))
    steps = np.arange(1, calls + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = _mix(start[:, None] + steps[None, :])
    lanes = np.ascontiguousarray(bits).astype("<u8", copy=False).view("<u2")
    drawn: NDArray[np.uint8] = _POISSON[lanes[:, :n_replicates]]
    return drawn


def _mix(state: UInt64Array) -> UInt64Array:
    """Avalanche 64-bit words (finaliser of SplitMix64)."""
    mixed = state.copy()
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def resampled_sums(
    weights: NDArray[np.uint8],
    cluster: IntArray,
    cell: IntArray,
    outcome: FloatArray,
    n_cells: int,
    worth: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Correct answers and trials per cell and replicate, each trial counted as often as its cluster was drawn.

    Parameters
    ----------
    weights : ndarray of uint8, shape (n_clusters, n_replicates)
    cluster, cell : ndarray of int, shape (n_trials,)
        Cluster and cell of every trial.
    outcome : ndarray, shape (n_trials,)
    n_cells : int
    worth : ndarray, shape (n_trials,), optional
        How many answers each trial counts for; one, without it.

    Returns
    -------
    correct, trials : ndarray, shape (n_replicates, n_cells)
    """
    from scipy.sparse import csr_array

    n_clusters, n_replicates = weights.shape
    numbers = weights.astype(np.float64)
    shape = (n_cells, n_clusters)
    each = np.ones(len(cell)) if worth is None else worth
    trials = csr_array((each, (cell, cluster)), shape=shape)
    correct = csr_array((each * outcome, (cell, cluster)), shape=shape)
    # Duplicates (several trials of a cluster in a cell) are summed by the conversion.
    trials.sum_duplicates()
    correct.sum_duplicates()
    return (
        np.ascontiguousarray((correct @ numbers).T),
        np.ascontiguousarray((trials @ numbers).T),
    )


def resampled_trials(
    generator: np.random.Generator,
    cell: IntArray,
    outcome: FloatArray,
    n_cells: int,
    n_replicates: int,
    worth: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Correct answers and trials per cell and replicate when every trial is drawn on its own (the naive bootstrap).

    Notes
    -----
    A sum of independent Poisson(1) multiplicities over c equal outcomes is Poisson(c), so whole groups of equal
    outcomes are drawn at once.
    """
    each = np.ones(len(cell)) if worth is None else worth
    pairs = np.stack([cell.astype(np.float64), outcome, each], axis=1)
    groups, counts = np.unique(pairs, axis=0, return_counts=True) if len(pairs) else (pairs, np.empty(0, dtype=int))
    drawn = generator.poisson(counts.astype(np.float64), size=(n_replicates, len(counts))).astype(np.float64)
    member = np.zeros((len(counts), n_cells))
    member[np.arange(len(counts)), groups[:, 0].astype(np.int64)] = groups[:, 2]
    return drawn @ (member * groups[:, 1:2]), drawn @ member
