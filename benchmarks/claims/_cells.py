"""Cells of a claim's simulation: fixed seeds, runs that go on where they stopped, and a verdict on each limit."""

from __future__ import annotations

import importlib
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from benchmarks import _command
from benchmarks._pieces import Piece, run_pieces

#: Beyond its limit by so many Monte Carlo errors, a cell has failed.
ERRORS = 2.6
MEASURED = Path(__file__).with_name("measured")
#: What a run tells of one study: rates as 0 or 1, sizes as numbers, NaN where the study does not say.
Outcome = Mapping[str, float]


@dataclass(frozen=True)
class Limit:
    """What the mean of a quantity over runs must keep to."""

    at_most: float = math.inf
    at_least: float = -math.inf

    def keeps(self, mean: float, error: float) -> bool:
        return self.at_least - ERRORS * error <= mean <= self.at_most + ERRORS * error

    def __str__(self) -> str:
        parts = [f"<= {self.at_most:g}"] if math.isfinite(self.at_most) else []
        return " and ".join(parts + ([f">= {self.at_least:g}"] if math.isfinite(self.at_least) else []))


@dataclass(frozen=True)
class Cell:
    """Studies of one kind.

    Parameters
    ----------
    claim : str
        Name of the claim that is tried.
    name : str
        What kind of study; unique in its script, and the source of its seeds.
    study : callable
        ``study(rng) -> Outcome``: makes one study, analyses it, and says what came out.
    limits : mapping of quantity to Limit
        Quantities without a limit are told.
    runs : int
    """

    claim: str
    name: str
    study: Callable[[np.random.Generator], Outcome]
    limits: Mapping[str, Limit] = field(default_factory=dict)
    runs: int = 2000


def outcome_of(cells: Iterable[Cell], piece: Piece) -> dict[str, float]:
    """One run of the cell that the piece names."""
    name, seed = piece
    (cell,) = [one for one in cells if one.name == name]
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
    return {key: float(value) for key, value in cell.study(rng).items()}


def scripts() -> list[str]:
    """Names of the scripts of this folder."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def cells_of(script: str) -> tuple[Cell, ...]:
    cells: tuple[Cell, ...] = importlib.import_module(f"benchmarks.claims.{script}").CELLS
    return cells


def run(script: str) -> None:
    """The command line of a script that defines CELLS."""

    def main(
        *,
        runs: Annotated[int, "runs a cell, where it asks for more; 0: all that it asks for"] = 0,
        cell: Annotated[str, "only cells whose name contains this"] = "",
        processes: int = 2,
        kept: Annotated[Path | None, "file of finished runs: a later call goes on from it"] = None,
        write: Annotated[bool, "keep the figures for docs/claims.md"] = False,
        anew: Annotated[bool, "do not add to the figures kept: the method has changed since"] = False,
    ) -> bool:
        return measure(script, most=runs, only=cell, processes=processes, kept=kept, write=write, anew=anew)

    main.__module__ = "__main__"
    _command.run(main)


def measure(
    script: str,
    *,
    most: int = 0,
    only: str = "",
    processes: int = 2,
    kept: Path | None = None,
    write: bool = False,
    anew: bool = False,
) -> bool:
    """Run what the cells lack, print what came out of all runs, and say whether every limit was kept."""
    met = True
    file = MEASURED / f"{script}.json"
    figures = json.loads(file.read_text()) if file.exists() else {}
    known = {cell.name for cell in cells_of(script)}
    figures = {name: found for name, found in figures.items() if name in known}
    print(f"{'cell':58} {'quantity':26} {'mean':>8} {'MC error':>9}  limit")
    for cell in cells_of(script):
        if only not in cell.name:
            continue
        before = {"runs": 0, "quantities": {}} if anew else figures.get(cell.name, {"runs": 0, "quantities": {}})
        count = max(min(most or cell.runs, cell.runs), before["runs"])
        pieces = [(cell.name, seed) for seed in range(before["runs"], count)]
        results = run_pieces(Runs(script), pieces, file=kept, processes=processes)
        found = summary(cell, list(results.values()), before["quantities"])
        figures[cell.name] = {"claim": cell.claim, "runs": count, "quantities": found}
        for quantity, one in found.items():
            met &= bool(one["kept"])
            tail = f"{one['limit']}  {'' if one['kept'] else 'MISSED'}" if one["limit"] else ""
            print(f"{cell.name:58} {quantity:26} {one['mean']:8.4f} {one['error']:9.4f}  {tail}", flush=True)
        if write:
            file.write_text(json.dumps(figures, indent=1) + "\n")
    return met


@dataclass(frozen=True)
class Runs:
    """Runs of a script's cells, in whatever process."""

    script: str

    def __call__(self, piece: Piece) -> dict[str, float]:
        return outcome_of(cells_of(self.script), piece)


@dataclass(frozen=True)
class Told:
    """What runs said of one quantity: how many said it, their mean, and the sum of squares about it."""

    number: int = 0
    mean: float = math.nan
    squares: float = 0.0

    @classmethod
    def by(cls, outcomes: list[dict[str, float]], quantity: str) -> Told:
        """Of the runs that say it."""
        told = np.array([outcome[quantity] for outcome in outcomes if quantity in outcome])
        told = told[np.isfinite(told)]
        return cls(len(told), float(told.mean()), float(((told - told.mean()) ** 2).sum())) if len(told) else cls()

    def and_also(self, other: Told) -> Told:
        """Both together (Chan, Golub and LeVeque 1983, eq. 2.1)."""
        if not self.number or not other.number:
            return self if self.number else other
        number, apart = self.number + other.number, other.mean - self.mean
        squares = self.squares + other.squares + apart**2 * self.number * other.number / number
        return Told(number, self.mean + apart * other.number / number, squares)

    def error(self, limit: Limit | None) -> float:
        """Monte Carlo error of the mean; that of the limit where it is a rate, whose spread may happen to be 0."""
        if self.number < 2:
            return math.inf
        error = math.sqrt(self.squares / (self.number - 1) / self.number)
        # Of zeros and ones, and of nothing else within [0, 1], the squares sum to n m (1 - m).
        is_rate = math.isclose(self.squares, self.number * self.mean * (1.0 - self.mean), rel_tol=1e-6, abs_tol=1e-9)
        if limit is None or not is_rate:
            return error
        bound = limit.at_most if math.isfinite(limit.at_most) else limit.at_least
        return max(error, math.sqrt(bound * (1.0 - bound) / self.number))


def summary(
    cell: Cell, outcomes: list[dict[str, float]], before: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, dict[str, Any]]:
    """Mean and Monte Carlo error of each quantity, over the runs that say it, and whether its limit was kept.

    Parameters
    ----------
    cell : Cell
    outcomes : list of Outcome
    before : mapping of quantity to what this function gave, optional
        Of earlier runs, to which these are added.
    """
    before = before or {}
    found: dict[str, dict[str, Any]] = {}
    for quantity in dict.fromkeys([*before, *(key for outcome in outcomes for key in outcome)]):
        told = Told.by(outcomes, quantity)
        if quantity in before:
            earlier = before[quantity]
            told = Told(earlier["told"], earlier["mean"], earlier["squares"]).and_also(told)
        limit = cell.limits.get(quantity)
        error = told.error(limit)
        found[quantity] = {
            "mean": told.mean,
            "error": error,
            "squares": told.squares,
            "told": told.number,
            "limit": "" if limit is None else str(limit),
            "kept": limit is None or (told.number > 0 and limit.keeps(told.mean, error)),
        }
    return found
