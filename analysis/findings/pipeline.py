"""The tables of an analysis, and calls in an executor with their outcomes in the order of the calls."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from analysis.compute import SerialExecutor
from analysis.labels.lists import LISTS
from analysis.tables.sessions import coarse_trials

if TYPE_CHECKING:
    import pandas as pd


T = TypeVar("T")
R = TypeVar("R")
Arguments = TypeVarTuple("Arguments")

#: Dates enter no number: a study that is simulated again has other ones, and the same findings.
_DATES = frozenset({"server_received_at", "client_epoch_ms"})
#: Columns that came later: where they say nothing, a table has the digest that it had without them.
_LATER = frozenset({"set_aside", "input_kind", "focus_lost_ms", "last_input_ms", "input_watched_ms", *LISTS})


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


def digest_of(*tables: pd.DataFrame | None) -> str:
    """sha256 of the tables' contents, independent of the order of rows and columns, and of when answers were given.

    What is known of screens counts as coarsely as an export states it: a table and its export have one digest.
    """
    running = hashlib.sha256()
    for table in tables:
        if table is None:
            running.update(b"absent\x00")
            continue
        table = coarse_trials(table)
        silent = {name for name in _LATER & set(map(str, table.columns)) if table[name].isna().all()}
        names = sorted(set(map(str, table.columns)) - _DATES - silent)
        columns = [table[name].astype("string").fillna("\x01").tolist() for name in names]
        rows = sorted("\x1f".join(row) for row in zip(*columns, strict=True)) if columns else []
        running.update("\x1f".join(names).encode() + b"\x00")
        running.update("\x1e".join(rows).encode() + b"\x00")
    return running.hexdigest()
