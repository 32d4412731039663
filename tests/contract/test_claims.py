"""What is published was tried: no claim without a simulation, no simulation without a claim, and no limit missed."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
from collections.abc import Iterator

import pytest

from analysis.claims import CLAIMS
from benchmarks.claims import __main__ as told, bands
from benchmarks.claims._cells import ERRORS, Cell, Limit, cells_of, scripts, summary

EVERY = [(script, cell) for script in scripts() for cell in cells_of(script)]


def test_every_claim_has_a_simulation_and_every_simulation_a_claim() -> None:
    assert {cell.claim for _, cell in EVERY} == {claim.name for claim in CLAIMS}
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)


def test_every_cell_was_run_and_kept_its_limits() -> None:
    assert [f"{script}: {cell.name}: {fault}" for script, cell in EVERY for fault in faults(script, cell)] == []


def faults(script: str, cell: Cell) -> Iterator[str]:
    found = told.stored(script).get(cell.name)
    if found is None:
        yield f"never measured: python -m benchmarks.claims.{script} --write"
        return
    if found["claim"] != cell.claim or found["runs"] < cell.runs:
        yield f"measured for {found['claim']} in {found['runs']} runs; {cell.runs} are asked for"
    for quantity, limit in cell.limits.items():
        one = found["quantities"].get(quantity)
        if one is None or not limit.keeps(one["mean"], one["error"]):
            yield f"{quantity} is {one}"


def test_the_band_of_a_whole_curve_is_no_wider_than_was_accepted() -> None:
    cells = told.stored("bands")
    widths = {name: cells[name]["quantities"]["width / former"] for name in bands.FORMER}
    assert len(widths) == 12 and statistics.mean(one["mean"] for one in widths.values()) <= bands.WIDTH
    for name, one in widths.items():
        # The former width spread as this one does from study to study, and is known from fewer of them.
        spread = math.sqrt(one["squares"] / (one["told"] - 1))
        error = math.hypot(one["error"], spread / math.sqrt(bands.FORMER_RUNS))
        assert one["mean"] <= bands.WIDTH + ERRORS * error, name


def test_the_page_of_claims_is_up_to_date() -> None:
    assert told.DOCUMENT.read_text() == told.document(), "python -m benchmarks.claims writes it"


@pytest.mark.process
def test_claims_and_their_words_load_nothing_that_computes() -> None:
    script = "import sys, analysis.claims; print(sorted({'scipy', 'statsmodels', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("outcomes", "limit", "is_kept"),
    [
        ([0.0] * 95 + [1.0] * 5, Limit(at_most=0.05), True),
        ([0.0] * 85 + [1.0] * 15, Limit(at_most=0.05), False),
        ([0.0] * 90 + [1.0] * 10, Limit(at_most=0.05), True),  # 2.3 Monte Carlo errors above it
        ([1.0] * 80 + [0.0] * 20, Limit(at_least=0.93), False),
        ([1.0] * 100, Limit(at_least=0.93), True),
        ([float("nan")] * 100, Limit(at_least=0.93), False),  # never said is not shown
    ],
)
def test_a_limit_is_missed_beyond_its_monte_carlo_error(outcomes: list[float], limit: Limit, is_kept: bool) -> None:
    cell = Cell("claim", "studies", lambda rng: {}, {"rate": limit})
    assert summary(cell, [{"rate": one} for one in outcomes])["rate"]["kept"] is is_kept


@pytest.mark.parametrize("said", [[0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0], [0.12, 0.5, float("nan"), 0.31, 0.7, 0.2, 0.4]])
def test_runs_that_are_added_count_as_if_they_had_been_made_at_once(said: list[float]) -> None:
    cell = Cell("claim", "studies", lambda rng: {}, {"rate": Limit(at_least=0.2)})
    outcomes = [{"rate": one} for one in said]
    at_once = summary(cell, outcomes)["rate"]
    in_parts = summary(cell, outcomes[3:], summary(cell, outcomes[:3]))["rate"]
    assert in_parts == pytest.approx(at_once)
    known = [one for one in said if one == one]
    assert at_once["mean"] == pytest.approx(statistics.mean(known)) and at_once["told"] == len(known)
    spread = statistics.stdev(known) / len(known) ** 0.5
    of_limit = (0.2 * 0.8 / len(known)) ** 0.5
    assert at_once["error"] == pytest.approx(max(spread, of_limit) if set(known) == {0.0, 1.0} else spread)
