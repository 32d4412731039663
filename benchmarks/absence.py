"""What setting trials aside does to an area, and whom the page asks whether they are there.

    python -m benchmarks.absence [--people 12000] [--seed 1]

Honest people miss more the stronger a picture is changed, up to 30 % of the pictures at the largest visual change, and
people differ in it (a standard deviation of 1 on the logit). Those who miss usually move or press something while the
choices are there; in a share `STILL` of missed trials they do not, and people differ in that, too (a beta distribution
with a standard deviation as large as its mean). What the page records, and when it asks, is decided by its own modules
(`absence_page.js` runs them on Node); what is set aside by `analysis.timing.rules.is_set_aside`.

Wanted: the area of people's curve after trials were set aside within .002 of the truth, in which an honest miss is a
wrong answer; at most 2 % of honest sessions asked; and an absent person costs at most 3 main trials.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from analysis.curves.fit import fit_curve
from analysis.power.crowd import LogisticDrop
from analysis.timing.rules import is_set_aside
from benchmarks import _command

TRIALS = 40
#: Of the protocol `vcr`, and of the page between two trials.
PHASES_MS, WINDOW_MS, INTERVAL_MS = 700, 4000, 450
#: The share of missed pictures at the largest visual change, and how much people differ on the logit.
MOST_MISSED, PERSON_SD = 0.30, 1.0
#: The share of an honest person's missed trials in which nothing is moved or pressed: assumed, and more than is likely.
STILL = 0.20
#: One person in so many leaves the computer once, at any moment; the share who leave before they moved in a trial.
AWAY_EVERY, LEAVES_BETWEEN = 10, 0.3
#: Lines of the acceptance of this method.
MOST_OFF, MOST_ASKED, MOST_COST = 0.002, 0.02, 3

_COST = "trials that an absence costs, at most"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Crowd:
    """What people do, trial by trial; arrays of shape (people, trials)."""

    v: Floats
    missed: NDArray[np.bool_]
    correct: NDArray[np.bool_]
    #: from where on the person was away; beyond the last trial for those who stayed
    leaves_at: NDArray[np.int64]
    sessions: list[list[dict[str, Any]]]


def missed_share(v: Floats) -> Floats:
    """Expected share of missed pictures, over all people."""
    return 0.01 + (MOST_MISSED - 0.01) * v**2


def simulated(rng: np.random.Generator, people: int, *, still: float, with_absence: bool) -> Crowd:
    """Honest people; with absence one in `AWAY_EVERY` leaves once, during a trial or between two."""
    v = rng.permuted(np.tile((np.arange(TRIALS) + 0.5) / TRIALS, (people, 1)), axis=1)
    # The intercept by which the mean over people is the share that is meant.
    effects = rng.normal(0.0, PERSON_SD, people)
    spread = np.sqrt(1.0 + 0.346 * PERSON_SD**2)
    missed = rng.random(v.shape) < expit(spread * logit(missed_share(v)) + effects[:, None])
    correct = (rng.random(v.shape) < LogisticDrop()(v)) & ~missed
    own_still = rng.beta(*_beta(still), people)
    is_still = rng.random(v.shape) < own_still[:, None]
    leaves_at = np.full(people, TRIALS)
    last_moves: list[list[float]] = [[] for _ in range(people)]
    if with_absence:
        away = rng.random(people) < 1 / AWAY_EVERY
        leaves_at[away] = rng.integers(0, TRIALS - 5, int(away.sum()))
        for one in np.flatnonzero(away & (rng.random(people) >= LEAVES_BETWEEN)):
            last_moves[one] = [float(rng.uniform(0, PHASES_MS + WINDOW_MS))]
    sessions = []
    for one in range(people):
        trials = []
        for number in range(TRIALS):
            after = number - leaves_at[one]
            if after >= 0:
                # The person gets up and comes back when asked.
                trials.append(
                    {"answer_ms": None, "moves_ms": last_moves[one] if after == 0 else [], "back_after_ms": 300_000}
                )
                continue
            answer_ms = None if missed[one, number] else float(rng.uniform(500, 3000))
            moves = [] if missed[one, number] and is_still[one, number] else [float(rng.uniform(750, 4600))]
            trials.append({"answer_ms": answer_ms, "moves_ms": moves})
        sessions.append(trials)
    return Crowd(v=v, missed=missed, correct=correct, leaves_at=leaves_at, sessions=sessions)


def _beta(mean: float) -> tuple[float, float]:
    """Parameters of a beta distribution whose standard deviation is its mean."""
    size = (1 - mean) / mean - 1
    return mean * size, (1 - mean) * size


def recorded(crowd: Crowd) -> list[dict[str, Any]]:
    """What the page's modules make of it."""
    given = {"phases_ms": PHASES_MS, "window_ms": WINDOW_MS, "interval_ms": INTERVAL_MS, "people": crowd.sessions}
    script = Path(__file__).with_name("absence_page.js")
    done = subprocess.run(
        ["node", str(script)], input=json.dumps(given), capture_output=True, text=True, check=True, timeout=900
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def area_of(crowd: Crowd, kept: NDArray[np.bool_], correct: NDArray[np.bool_]) -> float:
    """Of one curve over all answers that are kept."""
    return float(fit_curve(crowd.v[kept], correct[kept].astype(float)).area)


def measure(people: int, seed: int, still: float = STILL) -> dict[str, float]:
    """Every figure, by its name."""
    truth_v = (np.arange(2000) + 0.5) / 2000
    rng = np.random.default_rng(seed)
    honest = simulated(rng, people, still=still, with_absence=False)
    pages = recorded(honest)
    aside = _aside(pages)
    everything = np.ones(honest.v.shape, dtype=bool)
    found = {
        "true area": float(np.mean(LogisticDrop()(truth_v) * (1 - missed_share(truth_v)))),
        "pictures missed at the largest change": float(honest.missed[honest.v > 0.95].mean()),
        "area, every honest trial": area_of(honest, everything, honest.correct),
        "area after setting aside": area_of(honest, ~aside, honest.correct),
        "honest trials set aside": float(aside.mean()),
        "honest sessions asked": float(np.mean([bool(page["asked"]) for page in pages])),
    }
    leaving = simulated(rng, people, still=still, with_absence=True)
    return found | _absent(leaving, recorded(leaving))


def _aside(pages: list[dict[str, Any]]) -> NDArray[np.bool_]:
    return np.array([[is_set_aside(timing) for timing in page["timing"]] for page in pages])


def _absent(crowd: Crowd, pages: list[dict[str, Any]]) -> dict[str, float]:
    """Costs of leaving, and the area of a crowd in which some leave; what comes after the question is not looked at."""
    aside = _aside(pages)
    costs = []
    kept = np.ones(crowd.v.shape, dtype=bool)
    correct = crowd.correct.copy()
    for one in np.flatnonzero(crowd.leaves_at < TRIALS):
        left = int(crowd.leaves_at[one])
        asked = next((number for number in pages[one]["asked"] if number > left), TRIALS)
        costs.append(asked - left)
        correct[one, left:asked] = False
        kept[one, asked:] = False
    return {
        _COST: float(max(costs)),
        "trials that an absence costs, mean": float(np.mean(costs)),
        "area had nobody left": area_of(crowd, np.ones(crowd.v.shape, dtype=bool), crowd.correct),
        "area, absences as misses": area_of(crowd, kept, correct),
        "area with absences set aside": area_of(crowd, kept & ~aside, correct),
    }


def main(
    people: Annotated[int, "honest people"] = 12_000,
    seed: Annotated[int, "of the simulated people"] = 1,
    still: Annotated[float, "share of honest misses in which nothing is moved or pressed"] = STILL,
) -> bool:
    """Print every figure; False if a line is missed."""
    found = measure(people, seed, still)
    for name, value in found.items():
        print(f"{name:40} {value:.4f}")
    off = max(
        abs(found["area after setting aside"] - found["true area"]),
        abs(found["area with absences set aside"] - found["area had nobody left"]),
    )
    print(f"{'furthest off':40} {off:.4f} (at most {MOST_OFF})")
    print(f"Lines: at most {MOST_ASKED:.0%} of honest sessions asked, {MOST_COST} trials an absence.")
    return off <= MOST_OFF and found["honest sessions asked"] <= MOST_ASKED and found[_COST] <= MOST_COST


if __name__ == "__main__":
    _command.run(main)
