"""What asking has cost, over restarts, and where it must stop."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from analysis.errors import ObserverUnavailable

#: Tokens of a question whose price is not known yet: a picture and the options.
USUAL_TOKENS_IN = 1500


class CapReached(ObserverUnavailable):
    """The next call could go over the cap."""


@dataclass(frozen=True, slots=True)
class Caps:
    """How far asking may go.

    Attributes
    ----------
    most_calls : int
        Calls over the whole evaluation, attempts that failed included; 0 for no limit.
    most_cost : float
        In the currency of the prices; 0 for no limit.
    price_in, price_out : float
        Of a million tokens of questions and of replies.
    """

    most_calls: int = 0
    most_cost: float = 0.0
    price_in: float = 0.0
    price_out: float = 0.0

    def cost_of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


@dataclass
class Budget:
    """A file with a line a call: written before it is sent, so that a killed process forgets none.

    A call of which nothing more is known counts with the most that it can have cost.
    """

    file: Path
    caps: Caps
    #: tokens that a reply can have at most
    most_tokens_out: int
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    _open: int = 0
    _largest_in: int = 0
    _largest_out: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        for line in lines:
            self._take(line)

    def _take(self, line: str) -> None:
        try:
            told = json.loads(line)
        except ValueError:  # cut off by a kill
            return
        if told == "sent":
            self.calls += 1
            self._open += 1
            return
        self._open -= 1
        self.tokens_in += told[0]
        self.tokens_out += told[1]
        self._largest_in = max(self._largest_in, told[0])
        self._largest_out = max(self._largest_out, told[1])

    @property
    def cost(self) -> float:
        """Of all calls, with the most for those that are open."""
        open_in = self._open * (self._largest_in or USUAL_TOKENS_IN)
        return self.caps.cost_of(self.tokens_in + open_in, self.tokens_out + self._open * self._most_out)

    @property
    def _most_out(self) -> int:
        """Of a reply: a server that gave more than it was allowed to may do so again."""
        return max(self.most_tokens_out, self._largest_out)

    @contextmanager
    def call(self) -> Iterator[list[int]]:
        """One attempt: yields a list that takes the tokens in and out, if the reply tells them. Raises CapReached."""
        with self._lock:
            self._check()
            self._write("sent")
        tokens: list[int] = []
        try:
            yield tokens
        finally:
            if len(tokens) == 2:
                with self._lock:
                    self._write(tokens)

    def _check(self) -> None:
        caps = self.caps
        if caps.most_calls and self.calls >= caps.most_calls:
            raise CapReached(
                f"The cap of {caps.most_calls} calls is reached. Answers so far are kept: raise --most-calls and start "
                "the evaluation again, and it goes on."
            )
        next_one = caps.cost_of(self._largest_in or USUAL_TOKENS_IN, self._most_out)
        if caps.most_cost and self.cost + next_one > caps.most_cost:
            raise CapReached(
                f"The next call could go over the cap of {caps.most_cost:.2f}: {self.cost:.2f} is spent. Answers so "
                "far are kept: raise --most-cost and start the evaluation again, and it goes on."
            )

    def _write(self, told: str | list[int]) -> None:
        line = json.dumps(told)
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")
            stream.flush()
            os.fsync(stream.fileno())
        self._take(line)
