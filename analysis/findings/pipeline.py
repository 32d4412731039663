"""The tables of an analysis, and calls in an executor with their outcomes in the order of the calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from analysis.compute import SerialExecutor
from analysis.findings.observations import digest_of

if TYPE_CHECKING:
    import pandas as pd


T = TypeVar("T")
R = TypeVar("R")
Arguments = TypeVarTuple("Arguments")


def run_in_order(
    executor: Executor | None, function: Callable[[*Arguments], R], calls: Iterable[tuple[T, tuple[*Arguments]]]
) -> Iterator[tuple[T, R]]:
    """Yield each call's label with its result.

    Parameters
    ----------
    executor : Executor or None
        None runs here, one call after the other.
    function : callable
        At the top level of a module, so that other processes find it.
    calls : iterable of (label, arguments)
        No more than the executor's ``in_flight`` are taken ahead.
    """
    pool = SerialExecutor() if executor is None else executor
    waiting: deque[tuple[T, Future[R]]] = deque()
    for label, arguments in calls:
        waiting.append((label, pool.submit(function, *arguments)))
        if len(waiting) >= getattr(pool, "in_flight", 1):
            first, future = waiting.popleft()
            yield first, future.result()
    for label, future in waiting:
        yield label, future.result()


@dataclass(frozen=True, eq=False)
class AnalysedTables:
    """What is analysed, as `analyse` was given it."""

    trials: pd.DataFrame
    predictions: pd.DataFrame | None
    discrimination: pd.DataFrame | None
    sessions: pd.DataFrame | None
    stimuli: pd.DataFrame | None
    level_predictions: pd.DataFrame | None

    def digest(self) -> str:
        added = [] if self.level_predictions is None else [self.level_predictions]
        if self.sessions is not None and "recruiter" in self.sessions and self.sessions["recruiter"].nunique() > 1:
            added.append(self.sessions[["session", "recruiter"]])
        return digest_of(self.trials, self.predictions, self.discrimination, *added)
