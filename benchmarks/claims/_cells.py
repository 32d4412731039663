"""Cells of a claim's simulation: fixed seeds, runs that go on where they stopped, and a verdict on each limit."""

from __future__ import annotations

import importlib
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

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
    ) -> bool:
        return measure(script, most=runs, only=cell, processes=processes, kept=kept, write=write)

    main.__module__ = "__main__"
    _command.run(main)


def measure(
    script: str, *, most: int = 0, only: str = "", processes: int = 2, kept: Path | None = None, write: bool = False
) -> bool:
    """Run the cells, print what came out, and say whether every limit was kept."""
    met = True
    file = MEASURED / f"{script}.json"
    figures = json.loads(file.read_text()) if file.exists() else {}
    known = {cell.name for cell in cells_of(script)}
    figures = {name: found for name, found in figures.items() if name in known}
    print(f"{'cell':58} {'quantity':26} {'mean':>8} {'MC error':>9}  limit")
    for cell in cells_of(script):
        if only not in cell.name:
            continue
        count = min(most or cell.runs, cell.runs)
        results = run_pieces(Runs(script), [(cell.name, seed) for seed in range(count)], file=kept, processes=processes)
        found = summary(cell, list(results.values()))
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


def summary(cell: Cell, outcomes: list[dict[str, float]]) -> dict[str, dict[str, object]]:
    """Mean and Monte Carlo error of each quantity, over the runs that say it, and whether its limit was kept.

    Rates of 0 or 1 have no spread of their own: their error is that of the limit.
    """
    found: dict[str, dict[str, object]] = {}
    for quantity in dict.fromkeys(key for outcome in outcomes for key in outcome):
        told = np.array([outcome[quantity] for outcome in outcomes if quantity in outcome])
        told = told[np.isfinite(told)]
        limit = cell.limits.get(quantity)
        mean = float(told.mean()) if len(told) else math.nan
        error = float(told.std(ddof=1) / np.sqrt(len(told))) if len(told) > 1 else math.inf
        if limit is not None and np.isin(told, (0.0, 1.0)).all() and len(told):
            bound = limit.at_most if math.isfinite(limit.at_most) else limit.at_least
            error = max(error, math.sqrt(bound * (1.0 - bound) / len(told)))
        found[quantity] = {
            "mean": round(mean, 5),
            "error": round(error, 5),
            "told": len(told),
            "limit": "" if limit is None else str(limit),
            "kept": limit is None or (bool(len(told)) and limit.keeps(mean, error)),
        }
    return found
