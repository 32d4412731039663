"""Performance that rises with visual change: what no falling curve fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from analysis.arrays import FloatArray, IntArray
from analysis.differences.answers import AnswersToOne, CellMeans
from analysis.differences.family import DRAWS, Estimates, null_draws, stepdown
from analysis.differences.windows import Contrasts, Range, contrasts_of

Key = TypeVar("Key")

#: 1 minus the level of the test: at .05 flat curves of few hundred pictures are said to rise in up to .06 of studies.
LEVEL = 0.96


@dataclass(frozen=True)
class Rise:
    """A later window of the axis in which performance is surely higher than in an earlier one.

    Parameters
    ----------
    earlier, later : (float, float)
        Windows that do not overlap; of a published experiment, a condition each.
    rise : float
        Mean of the later minus that of the earlier, above 0.
    p : float
        Corrected over all windows and curves that were asked together.
    """

    earlier: Range
    later: Range
    rise: float
    p: float


def rises(
    curves: Mapping[Key, AnswersToOne],
    *,
    conditions: frozenset[Key] = frozenset(),
    level: float = LEVEL,
    seed: int = 0,
    draws: int = DRAWS,
) -> dict[Key, Rise]:
    """Curves whose answers rise along the axis by more than a falling curve could show.

    Parameters
    ----------
    curves : mapping of name to AnswersToOne
        One family: all curves of a study.
    conditions : frozenset of names
        Those of published experiments with few conditions.
    level : float
        1 minus the chance that any falling curve is said to rise.
    seed, draws : int
        Of the multiplier bootstrap.

    Returns
    -------
    dict of name to Rise
        Of each that rises, the pair of windows that shows it best; the others are left out.

    Notes
    -----
    Every window of 0.15 against every later one that it does not touch: raw means (as in `beside_people`) with errors
    clustered by person and original. Of a falling truth all these differences are at most 0, so that the largest
    studentised one is least favourable where all are 0 (Chetverikov 2019, Econom. Theory 35, 729); its distribution is
    that of normal multipliers of people and originals (Chernozhukov, Chetverikov and Kato 2013, Ann. Statist. 41,
    2786). Curves are stepped down by their largest; they are drawn independently, which is conservative where they
    share people and pictures. A variance is never below that of two shares of independent answers that are equal
    (score test), without which shares near 0 and 1 would look too sure.
    """
    asked = {name: found for name, own in curves.items() if (found := _pairs(own, name in conditions)) is not None}
    if not asked:
        return {}
    largest = np.empty((draws, len(asked)), dtype=np.float32)
    best: list[tuple[float, int]] = []
    for number, pairs in enumerate(asked.values()):
        (drawn,) = null_draws([pairs.differences], seed=seed + number, n_draws=draws)
        largest[:, number] = drawn.max(axis=1)
        scores = np.copysign(pairs.differences.normal_scores, pairs.differences.values)
        best.append((float(scores.max()), int(scores.argmax())))
    p, _ = stepdown(np.array([score for score, _ in best]), largest, 1.0 - level)
    return {
        name: Rise(*pairs.windows[place], float(pairs.differences.values[place]), float(corrected))
        for (name, pairs), (_, place), corrected in zip(asked.items(), best, p, strict=True)
        if corrected < 1.0 - level
    }


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of an earlier and a later window, and the later minus the earlier."""

    windows: list[tuple[Range, Range]]
    differences: Estimates


def _pairs(answers: AnswersToOne, has_conditions: bool) -> _Pairs | None:
    """All pairs of windows that do not touch; None where there are none."""
    contrasts = contrasts_of(answers, answers, has_conditions=has_conditions)
    if contrasts is None:
        return None
    first, second = _apart(contrasts)
    if not len(first):
        return None
    cells = contrasts.cells_of(answers)
    ranges, rows = contrasts.ranges, contrasts.matrix
    windows = [(ranges[one], ranges[two]) for one, two in zip(first.tolist(), second.tolist(), strict=True)]
    return _Pairs(windows, _rise(cells, rows[first], rows[second]))


def _apart(contrasts: Contrasts) -> tuple[IntArray, IntArray]:
    """Numbers of the rows of an earlier and of a later window, pair by pair."""
    start, end = np.array(contrasts.ranges).T
    is_later = start[None, :] >= end[:, None] - 1e-9
    # A condition is one place: it is not behind itself.
    is_later &= start[None, :] > start[:, None]
    is_later[0] = is_later[:, 0] = False
    first, second = np.nonzero(is_later)
    return first.astype(np.int64), second.astype(np.int64)


def _rise(cells: CellMeans, earlier: FloatArray, later: FloatArray) -> Estimates:
    """Later minus earlier means of cells, with their errors."""
    matrix = later - earlier
    sums = {"original": cells.originals}
    if cells.people is not None:
        sums["person"] = cells.people
    singles = matrix**2 @ cells.singles if cells.people is not None else np.zeros(len(matrix))
    counts = [(side > 0.0) @ cells.counts for side in (earlier, later)]
    right = sum((side > 0.0) @ cells.right for side in (earlier, later))
    total = counts[0] + counts[1]
    rate = (right + 0.5) / (total + 1.0)
    least = rate * (1.0 - rate) * (1.0 / np.maximum(counts[0], 1) + 1.0 / np.maximum(counts[1], 1))
    return Estimates.of(matrix @ np.nan_to_num(cells.means), matrix, sums, singles, least)
