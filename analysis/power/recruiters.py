"""How many people of each recruiter it takes to tell their crowds apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from math import ceil, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from analysis.claims.recruiters import POWER, TRUE_GAP
from analysis.compute import SerialExecutor, run_in_order_of_completion
from analysis.differences.recruiters import compare_recruiters
from analysis.errors import InvalidInput
from analysis.power.crowd import simulate_study
from analysis.power.study import PlannedStudy

#: People of each recruiter with whom the search for a size begins, and between which it stays.
_FIRST, _FEWEST, _MOST = 100, 10, 20_000
#: Simulated studies at each of two sizes, and together.
RUNS = 20
STUDIES = 2 * RUNS


@dataclass(frozen=True)
class RecruitersReport:
    """What a planned study could say of the crowds of its recruiters.

    Parameters
    ----------
    difference, power : float
    people : int
        Of each of two recruiters, with whom the difference of area is found with this power.
    error : float
        Standard error of the difference of area with so many people.
    runs : int
        Simulated studies from which it is known.
    planned : tuple of int
        People of the two planned recruiters whose crowds are told apart worst.
    reached : float
        Power with these.
    """

    difference: float
    power: float
    people: int
    error: float
    runs: int
    planned: tuple[int, int]
    reached: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, floats unrounded."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RecruitersReport:
        """From plain values, as JSON brings them back."""
        first, second = values["planned"]
        return cls(**{**values, "planned": (first, second)})


def plan_recruiters(
    study: PlannedStudy,
    *,
    difference: float = TRUE_GAP,
    power: float = POWER,
    runs: int = RUNS,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RecruitersReport:
    """Find the people of each recruiter with whom a difference of their crowds is found.

    Parameters
    ----------
    study : PlannedStudy
        What one person does, what is believed of people and pictures, and the people that are planned with each of at
        least two recruiters.
    difference, power : float
    runs, seed : int
        Studies at each of two sizes, of which the standard error is taken.
    executor, progress
        As in `estimate_power`.

    Returns
    -------
    RecruitersReport

    Raises
    ------
    InvalidInput
        If fewer than two recruiters are planned.

    Notes
    -----
    The crowds answer stimuli of the same originals, which are as hard for either. The standard error of the difference
    falls with the root of the number of people; it is simulated at a first size and again at the size that follows from
    it. The first step of the step-down over all pairs of recruiters is the hardest, and is planned for.
    """
    places = study.recruiters
    if len(places) < 2 or min(places) < 1:
        raise InvalidInput("Crowds are told apart where at least two recruiters are planned, with people of each.")
    pairs = len(places) * (len(places) - 1) // 2
    critical = -float(ndtri(study.alpha / (2.0 * pairs)))
    people, error = _FIRST, 0.0
    for attempt in range(2):
        done = attempt * runs
        tell = None if progress is None else lambda now, _runs, done=done: progress(done + now, 2 * runs)
        error = _error(study, people, runs, seed + attempt, executor, tell)
        needed = ceil(people * ((critical + float(ndtri(power))) * error / difference) ** 2)
        error *= sqrt(people / min(max(needed, _FEWEST), _MOST))
        people = min(max(needed, _FEWEST), _MOST)
    per_person = error**2 * people / 2.0
    first, second, *_ = sorted(places)  # the two smallest crowds are told apart worst
    spread = sqrt(per_person * (1.0 / first + 1.0 / second))
    reached = float(ndtr(difference / spread - critical))
    return RecruitersReport(difference, power, people, error, runs, (first, second), reached)


def _error(
    study: PlannedStudy,
    people: int,
    runs: int,
    seed: int,
    executor: Executor | None,
    progress: Callable[[int, int], None] | None,
) -> float:
    """Standard error of the difference of two equal crowds of this size."""
    pool = SerialExecutor() if executor is None else executor
    variances = []
    for _, variance in run_in_order_of_completion(pool, _variance, ((study, people, seed, k) for k in range(runs))):
        variances.append(variance)
        if progress is not None:
            progress(len(variances), runs)
    return sqrt(float(np.mean(sorted(variances))))


def _variance(arguments: tuple[PlannedStudy, int, int, int]) -> tuple[int, float]:
    """Variance of the difference in one study of two crowds without any, by the estimate that a real one would have."""
    study, people, seed, number = arguments
    both = replace(study.crowd, people=2 * people)
    collected = simulate_study(
        [study.curve] * study.functions,
        both,
        np.random.default_rng([seed, number]),
        shared_people=study.shared_people,
        shared_originals=study.shared_originals,
    )
    is_first = np.arange(both.answers) < people * both.trials_each
    crowds: dict[str, dict[str, Any]] = {"first": {}, "second": {}}
    for function, (answers, _) in enumerate(collected):
        every = answers.to_one()
        crowds["first"][str(function)], crowds["second"][str(function)] = (
            every.select(is_first),
            every.select(~is_first),
        )
    found = compare_recruiters(crowds, attentive={}, margin=study.margin, draws=1)
    return number, float(found["first", "second"].standard_error ** 2) if found else 1.0
