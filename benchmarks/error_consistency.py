"""Error consistency of published trials, here and by Klein et al. (2025): `python -m benchmarks.error_consistency`.

A folder holds experiments, each a folder of trial files (docs/published-data.md). Answers of models to cue-conflict
pictures are files like those of paulgavrikov/vlm_shapebias, with letters. The published interval is the percentile
bootstrap over pictures, here with 1,000 draws. Of models it prints how many pairs differ in their mean kappa with
people: by that bootstrap, for these people, each pair by itself; by the pooled kappas of the findings, corrected over
all pairs; and which places the benchmark's table leaves open for new people and new pictures.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Annotated

import numpy as np

from analysis.agreement.pairs import error_consistency, kappa_from_counts
from analysis.arrays import FloatArray
from analysis.claims.agreement import ENOUGH_PICTURES
from analysis.findings.agreement import included_conditions
from analysis.findings.benchmark import benchmark_table
from analysis.findings.consistency import consistency_differences
from analysis.findings.fits import FitSettings
from analysis.findings.observations import Observations, read_predictions, read_trials
from analysis.findings.outcomes import condition_scale
from analysis.published_trials import read_published_trials
from benchmarks._command import run

DRAWS = 1000
#: A picture that an observer did not see.
UNSEEN = np.nan


def read(folder: Path, answers: Path | None) -> tuple[Observations, Observations]:
    """People and models of one experiment."""
    of_models = sorted(answers.glob("*.csv")) if answers and folder.name.startswith("cue-conflict") else []
    files = sorted(folder.glob("*.csv"))
    published = read_published_trials(files, study=folder.name, answers=of_models, style="letters")
    trials = published.trials
    human = trials["participant"].map(published.observers) == "human"
    networks = trials[~human].rename(columns={"participant": "classifier"}).assign(label_space=16)
    return read_trials(trials[human]), read_predictions(networks)[0]


def by_picture(rows: Observations, condition: str) -> tuple[list[str], FloatArray]:
    """Observers, and whether each was right on each picture of a condition, shape (observers, pictures)."""
    part = rows.select(rows.condition == condition)
    names, observer = np.unique(part.observer, return_inverse=True)
    pictures, picture = np.unique(part.original, return_inverse=True)
    found = np.full((len(names), len(pictures)), UNSEEN)
    found[observer[::-1], picture[::-1]] = part.correct[::-1]
    return names.tolist(), found


def bootstrapped(a: FloatArray, b: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Kappas over pictures that are drawn again."""
    rows = rng.integers(len(a), size=(DRAWS, len(a)))
    first, second = a[rows], b[rows]
    counts = first.sum(axis=1), second.sum(axis=1), (first * second).sum(axis=1)
    return kappa_from_counts(*counts, float(len(a)))[2]


def of_pairs(people: Observations, included: list[str], rng: np.random.Generator) -> list[tuple[float, ...]]:
    """Of two people in a condition: pictures, both widths, the largest gap of ends, p, whether the bootstrap has 0."""
    found = []
    for condition in included:
        _, right = by_picture(people, condition)
        for a, b in combinations(right, 2):
            both = ~np.isnan(a + b)
            if both.sum() < ENOUGH_PICTURES:
                continue
            own = error_consistency(a[both], b[both])
            if own.interval is None:
                continue
            drawn = np.nanquantile(bootstrapped(a[both], b[both], rng), [0.025, 0.975])
            gap = float(np.abs(np.array(own.interval) - drawn).max())
            width, theirs = own.interval[1] - own.interval[0], float(drawn[1] - drawn[0])
            found.append((float(both.sum()), width, theirs, gap, own.p, float(drawn[0] <= 0.0 <= drawn[1])))
    return found


def told_apart(people: Observations, models: Observations, included: list[str], rng: np.random.Generator) -> None:
    """Pairs of models that differ in kappa by each way."""
    names = np.unique(models.observer).tolist()
    drawn: dict[str, list[FloatArray]] = {name: [] for name in names}
    for condition in included:
        pictures = np.unique(models.original[models.condition == condition])
        rows = rng.integers(len(pictures), size=(DRAWS, len(pictures)))
        columns = {}
        for group in (people, models):
            part = group.select(np.isin(group.original, pictures) & (group.condition == condition))
            for name in np.unique(part.observer).tolist():
                own = part.select(part.observer == name)
                seen = np.full(len(pictures), UNSEEN)
                seen[np.searchsorted(pictures, own.original[::-1])] = own.correct[::-1]
                columns[name] = seen
        for name in names:
            for person in np.unique(people.observer).tolist():
                if person in columns:
                    both = np.stack([columns[person][rows], columns[name][rows]])
                    known = ~np.isnan(both.sum(axis=0))
                    first, second = (np.where(known, one, 0.0) for one in both)
                    n = np.maximum(known.sum(axis=1), 1)
                    counts = first.sum(axis=1), second.sum(axis=1), (first * second).sum(axis=1)
                    drawn[name].append(kappa_from_counts(*counts, n)[2])
    means = {name: np.nanmean(own, axis=0) for name, own in drawn.items()}
    differ = 0
    for first, second in combinations(names, 2):
        low, high = np.quantile(means[first] - means[second], [0.025, 0.975])
        differ += bool(low > 0.0 or high < 0.0)
    entries, ranks = consistency_differences(people, models, {}, FitSettings(seed=0, n_bootstrap=0))
    table = {one.observer: one for one in benchmark_table({"experiment": (people, models)})}
    print(
        f"  models: {differ} of {len(names) * (len(names) - 1) // 2} pairs differ by the bootstrap, "
        f"{sum(one.differ for one in entries)} of {len(entries)} by pooled kappa, corrected"
    )
    for name in sorted(names, key=lambda name: -float(means[name].mean())):
        own, place, wider = table[name].error_consistency, ranks.get(name), table[name].consistency_ranks
        value = f"{own.value:.3f} {own.interval}" if own else "-"
        print(
            f"  {name}: kappa {value}, places {place and (place.best, place.worst)} for these people, "
            f"{wider and (wider.best, wider.worst)} for new ones"
        )


def compare(
    folder: Annotated[Path, "experiments, each a folder of trial files"],
    *,
    answers: Annotated[Path | None, "answers of models to cue-conflict pictures"] = None,
    seed: int = 0,
) -> None:
    rng = np.random.default_rng(seed)
    every: list[tuple[float, ...]] = []
    for own in sorted(path for path in folder.iterdir() if path.is_dir()):
        people, models = read(own, answers)
        corruptions = np.unique(people.corruption).tolist()
        scales = {one: condition_scale(one, people.of(one), models.of(one)) for one in corruptions}
        included, _ = included_conditions(people, {name: one for name, one in scales.items() if one is not None})
        found = of_pairs(people, included, rng)
        every += found
        print(f"{own.name}: {summary(found)}")
        if len(np.unique(models.observer)) > 1:
            told_apart(people, models, included, rng)
    print(f"all: {summary(every)}")


def summary(found: list[tuple[float, ...]]) -> str:
    if not found:
        return f"no two people share {ENOUGH_PICTURES} pictures in a condition"
    n, width, theirs, gap, p, has_zero = np.array(found).T
    return (
        f"{len(found)} pairs of people and conditions with {int(n.min())} to {int(n.max())} pictures; width "
        f"{np.median(width):.3f} here, {np.median(theirs):.3f} by bootstrap ({(theirs == 0).sum()} without one); ends "
        f"apart by {np.median(gap):.3f}, at most {gap.max():.3f}; {(p < 0.05).mean():.3f} dependent by the exact test, "
        f"{1 - has_zero.mean():.3f} by a bootstrap without 0"
    )


if __name__ == "__main__":
    run(compare)
