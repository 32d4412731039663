"""Long simulations in pieces: every run is a line of a file, and what is there is not computed again."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

Piece = tuple[str, int]


def run_pieces(
    function: Callable[[Piece], dict[str, Any]], pieces: Iterable[Piece], *, file: Path | None, processes: int
) -> dict[Piece, dict[str, Any]]:
    """Results of a function over (name, seed), from the file where they stand there already.

    Parameters
    ----------
    function : callable
        At the top of its module, so that it travels to another process.
    pieces : iterable of (str, int)
    file : Path or None
        JSON lines, read at the start and appended to.
    processes : int
    """
    wanted = list(pieces)
    done: dict[Piece, dict[str, Any]] = {}
    if file is not None and file.exists():
        for line in file.read_text().splitlines():
            row = json.loads(line)
            done[row["name"], row["seed"]] = row["result"]
    missing = [piece for piece in wanted if piece not in done]
    started = time.perf_counter()
    # A process of its own takes seconds to start: one alone is not worth it.
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn")) if processes > 1 else nullcontext()
    with pool as begun:
        results = map(function, missing) if begun is None else begun.map(function, missing)
        for number, (piece, result) in enumerate(zip(missing, results, strict=True), start=1):
            done[piece] = result
            if file is not None:
                with file.open("a") as lines:
                    lines.write(json.dumps({"name": piece[0], "seed": piece[1], "result": result}) + "\n")
            if number % 50 == 0:
                seconds = time.perf_counter() - started
                print(f"{number} of {len(missing)} runs, {seconds:.0f} s", file=sys.stderr, flush=True)
    return {piece: done[piece] for piece in wanted}
