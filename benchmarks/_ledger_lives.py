"""The platform's processes in a round of the ledger under fire: they live for a moment, and time passes in between.

The process that holds this never touches the database itself: whatever does is a forked process, which may be killed.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from benchmarks._ledger_platform import PlatformSide
from benchmarks._ledger_processes import Shifted, end_after, fork, in_a_process
from humanexp.core import clock

LEASE_RUNS_OUT_S, GAP_S = 95, 25 * 3600
#: After so many lives without an end something is wrong.
MOST_LIVES = 5_000
#: A life in which nothing was achieved makes the next ones longer, so that a busy machine gets on.
PATIENCE = 1.5


@dataclass
class LivesSpent:
    """What a seed took."""

    seed: int
    seconds: float = 0.0
    lives: int = 0
    kills: int = 0
    gaps: int = 0
    #: empty when everything is as it should be
    faults: list[str] = field(default_factory=list)


class Lives(PlatformSide, ABC):
    """A seed's round. `advance` moves both clocks."""

    outcome: LivesSpent

    def __init__(self, *, seed: int, people: int, shift_s: float, kill_after_s: float) -> None:
        super().__init__(seed=seed, people=people)
        self.shift_s, self.kill_after_s = shift_s, kill_after_s
        self.random = random.Random(seed)  # noqa: S311  (a simulation)

    @abstractmethod
    def advance(self, seconds: float) -> None:
        """On both sides; never given up half-way: the two clocks have to stay together."""

    def _live(self, kinds: list[Callable[[], Any]], *, left: Callable[[], int]) -> None:
        """Processes that do one of these works, two at once, each killed at a random moment; until nothing is left."""
        before, mean = self._process(left), self.kill_after_s
        for _ in range(MOST_LIVES):
            lives = [fork(self._prepared(self.random.choice(kinds))) for _ in range(2)]
            self.outcome.lives += len(lives)
            self.outcome.kills += end_after(0.02 + self.random.expovariate(1 / mean), lives)
            is_gap = self.random.random() < 0.1
            self.outcome.gaps += is_gap
            self.advance(GAP_S if is_gap else LEASE_RUNS_OUT_S)
            self._process(self._leases_run_out)  # they go by the machine's uptime, which is not moved
            after = self._process(left)
            if not after:
                return
            mean = self.kill_after_s if after < before else min(60.0, mean * PATIENCE)
            before = after
        raise RuntimeError(f"seed {self.seed}: {before} left after {MOST_LIVES} lives")

    def _process(self, work: Callable[[], Any]) -> Any:
        return in_a_process(self._prepared(work))

    def _prepared(self, work: Callable[[], Any]) -> Callable[[], Any]:
        shift = self.shift_s

        def prepared() -> Any:
            clock.system_clock = Shifted(shift)
            try:
                return work()
            finally:
                connection.close()

        return prepared
