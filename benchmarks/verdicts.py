"""How often is a verdict wrong, and how often is it reached? Pairs and families of simulated curves.

    python -m benchmarks.verdicts [--runs 100] [--families 20] [--processes 2] [--out FILE]

Pairs: two corruption functions whose areas differ by 0, 0.0166 or 0.033, judged by the real comparison. Designs A (550
people x 9 trials, five answers an image), B (a new image for every answer), C (20 people x 250 trials, sd of people
0.7) with people and originals of their own for each function; "joint" as a study is planned: one crowd of 550 and
2,000 originals for both functions. Families: 14 functions, 91 pairs under Holm's rule; ten are one curve, four lie
0.02 to 0.06 lower. Wanted: equal curves called different in at most 0.10 of the runs (aim 0.05), power at 0.033 at
least 0.95, and in at most 0.08 of the families a false "different".
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from analysis.curves import fit_curve
from analysis.power import Crowd, LogisticDrop, simulate_answers
from analysis.similarity import CurveTrials, compare_all
from benchmarks import _command
from benchmarks._pieces import Piece, run_pieces

TRUTH = LogisticDrop(0.93, 1 / 16, 0.90, 0.03)
CROWD = Crowd(550, 9, originals=2000)
DESIGNS = {
    "A": Crowd(550, 9, answers_per_stimulus=5),
    "B": Crowd(550, 9),
    "C": Crowd(20, 250, answers_per_stimulus=5, participant_sd=0.7),
    "joint": CROWD,
}
DIFFERENCES = (0.0, 0.0166, 0.033)
#: How much lower than the first ten the other functions of a family lie.
LOWER = (0.02, 0.03, 0.045, 0.06)
PAIR_REFITS, FAMILY_REFITS = 300, 400
FALSE_LIMIT, POWER_LIMIT, FAMILY_LIMIT = 0.10, 0.95, 0.08


def judged(truths: list[LogisticDrop], crowd: Crowd, *, joint: bool, refits: int, seed: int) -> dict[str, Any]:
    """Every pair of simulated functions, by the real comparison."""
    rng = np.random.default_rng(seed)
    samples = simulate_answers(list(truths), crowd, rng, shared_people=joint, shared_originals=joint)
    started = time.process_time()
    names = [f"f{number:02d}" for number in range(len(samples))]
    curves = {
        name: fit_curve(**answers.columns(), n_bootstrap=refits, rng=seed)
        for name, answers in zip(names, samples, strict=True)
    }
    trials = {name: CurveTrials(**answers.columns()) for name, answers in zip(names, samples, strict=True)}
    found = compare_all(curves, trials=trials, rng=seed)
    return {
        "cpu_s": time.process_time() - started,
        "pairs": [
            {
                "difference": one.difference,
                "error": one.standard_error,
                "p": one.p,
                "test": one.test,
                "different": one.different,
                "equivalent": one.equivalent,
                "overlap": one.overlap_83,
                "overlap_pointwise": one.overlap_83_pointwise,
                "area_equivalent": one.area_equivalent,
            }
            for one in found.values()
        ],
    }


def run(piece: Piece) -> dict[str, Any]:
    """One pair or one family, by its name."""
    name, seed = piece
    kind, design, rest = name.split("/")
    joint = design == "joint"
    if kind == "pair":
        truths = [TRUTH, TRUTH.lowered(float(rest))]
        return judged(truths, DESIGNS[design], joint=joint, refits=PAIR_REFITS, seed=seed)
    truths = [TRUTH] * 10 + [TRUTH.lowered(lower) for lower in LOWER]
    crowd = CROWD if joint else replace(CROWD, originals=None)
    return judged(truths, crowd, joint=joint, refits=FAMILY_REFITS, seed=seed)


def true_gaps() -> list[float]:
    """True differences of the 91 pairs of a family, in the order of the comparison."""
    lower = [0.0] * 10 + list(LOWER)
    return [abs(lower[i] - lower[j]) for i in range(14) for j in range(i + 1, 14)]


def share(rows: list[dict[str, Any]], key: str, wanted: bool = True) -> float:
    return float(np.mean([row[key] is wanted for row in rows]))


def report_pairs(results: dict[Piece, dict[str, Any]], runs: dict[float, int]) -> bool:
    met = True
    print(f"Pairs; runs by true difference: {runs}")
    print("design true   test        different equivalent (area alone) undecided | bands part: simultaneous pointwise")
    for design in DESIGNS:
        for difference in DIFFERENCES:
            rows = [results[f"pair/{design}/{difference}", seed]["pairs"][0] for seed in range(runs[difference])]
            tests = ", ".join(sorted({row["test"] for row in rows}))
            different, equivalent = share(rows, "different"), share(rows, "equivalent")
            undecided = float(np.mean([not row["different"] and not row["equivalent"] for row in rows]))
            print(
                f"{design:6} {difference:.4f} {tests:11} {different:9.3f} {equivalent:10.3f} "
                f"{share(rows, 'area_equivalent'):12.3f} {undecided:9.3f} | "
                f"{share(rows, 'overlap', False):24.3f} {share(rows, 'overlap_pointwise', False):9.3f}"
            )
            if difference == 0.0:
                met &= different <= FALSE_LIMIT
            elif difference == DIFFERENCES[-1] and design != "C":
                met &= different >= POWER_LIMIT
    return met


def report_families(results: dict[Piece, dict[str, Any]], design: str, families: int) -> bool:
    gaps = true_gaps()
    runs = [results[f"family/{design}/14", seed] for seed in range(families)]
    false = [any(row["different"] for row, gap in zip(one["pairs"], gaps, strict=True) if gap == 0) for one in runs]
    seconds = [one["cpu_s"] for one in runs]
    tests = ", ".join(sorted({row["test"] for one in runs for row in one["pairs"]}))
    print(
        f"Family of 14, {design}, {families} runs, {tests}: {np.median(seconds):.1f} s a run (most {max(seconds):.1f})"
    )
    print(f'  a false "different" among 45 equal pairs in {np.mean(false):.3f} of the runs')
    for gap in sorted(set(np.round(gaps, 4))):
        rows = [row for one in runs for row, true in zip(one["pairs"], gaps, strict=True) if round(true, 4) == gap]
        print(
            f"  true difference {gap:.3f}: different {share(rows, 'different'):.3f}, "
            f"equivalent {share(rows, 'equivalent'):.3f}"
        )
    return float(np.mean(false)) <= FAMILY_LIMIT


def main(
    *,
    runs: Annotated[int, "pairs of equal curves a design"] = 60,
    power_runs: Annotated[int, "pairs of other curves a design and difference"] = 20,
    families: Annotated[int, "families of 14 functions, joint design"] = 10,
    separate_families: Annotated[int, "the same with people of their own"] = 1,
    processes: int = 2,
    out: Annotated[Path | None, "file of finished runs: a later call goes on from it"] = None,
) -> bool:
    others = power_runs if runs else 0
    runs_by_difference = {difference: others if difference else runs for difference in DIFFERENCES}
    pairs = [
        (f"pair/{design}/{difference}", seed)
        for difference in DIFFERENCES
        for seed in range(runs_by_difference[difference])
        for design in DESIGNS
    ]
    # Designs side by side: what is done when it is stopped early is of use.
    pairs.sort(key=lambda piece: piece[1])
    numbers = {"joint": families, "separate": separate_families}
    wanted = [(f"family/{design}/14", seed) for design, number in numbers.items() for seed in range(number)]
    results = run_pieces(run, [*pairs, *wanted], file=out, processes=processes)
    met = report_pairs(results, runs_by_difference) if others else True
    for design, number in numbers.items():
        if number:
            met &= report_families(results, design, number)
    return met


if __name__ == "__main__":
    _command.run(main)
