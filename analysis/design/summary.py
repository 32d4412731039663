"""Counts that describe a plan to people."""

from __future__ import annotations

from collections import Counter
from typing import Any

from analysis.corruptions.registry import NO_CORRUPTION
from analysis.design.catalogue import Catalogue
from analysis.design.originals_needed import NEGATIVES, Demand
from analysis.design.plan import StudyPlan
from analysis.study.design import DesignConfig

#: Bins of visual change in which planned answers are counted.
STRATA = 10


def summarise(plan: StudyPlan, catalogue: Catalogue) -> dict[str, Any]:
    """Originals by pool and category, trials a session by role, planned answers by corruption and visual change."""
    by_stimulus, category_of = catalogue.by_stimulus(), catalogue.categories_of_all()
    strata = {corruption: [0] * STRATA for corruption in catalogue.corruptions}
    roles: Counter[str] = Counter()
    clean: Counter[str] = Counter()
    used: set[str] = set()
    comparisons: Counter[str] = Counter()
    for session in plan.sessions:
        for trial in session.trials:
            roles[_kind_of(trial.task, trial.role)] += 1
            row = by_stimulus[trial.stimulus]
            used |= set(trial.stimuli)
            if trial.second_stimulus:
                if trial.role == "main":
                    second = by_stimulus[trial.second_stimulus].corruption
                    comparisons[" / ".join(sorted((row.corruption, second)))] += 1
            elif trial.role == "clean":
                clean[row.original] += 1
            elif row.corruption != NO_CORRUPTION and trial.role in ("main", "consistency_first"):
                strata[row.corruption][min(STRATA - 1, int(row.visual_change * STRATA))] += 1
    shared = [{t.stimulus for t in session.trials if t.role == "main"} for session in plan.sessions]
    common = len(set.intersection(*shared)) if plan.config.overlap and shared else 0
    count = len(plan.sessions)
    corrupted = [row.stimulus for row in catalogue.corrupted]
    return {
        "originals": len(catalogue.category_of),
        "categories": len(catalogue.categories),
        "pools": {
            role: {
                "originals": len(originals),
                "by_category": dict(sorted(Counter(category_of[o] for o in originals).items())),
            }
            for role, originals in plan.pools.items()
        },
        "sessions": count,
        "trials_per_session": max((len(session.trials) for session in plan.sessions), default=0),
        "trials_by_role": {role: total / count for role, total in sorted(roles.items())},
        "strata": strata,
        "overlap": {"trials": common, "answers": common * count},
        "comparisons": dict(sorted(comparisons.items())),
        "clean_answers": clean.total(),
        "clean_originals": len(clean),
        "clean_most": max(clean.values(), default=0),
        "stimuli": len(corrupted),
        "stimuli_used": sum(name in used for name in corrupted),
    }


def notes_on(summary: dict[str, Any], config: DesignConfig, demand: Demand) -> list[str]:
    """What a researcher should know before launching: one sentence each."""
    notes = []
    if demand.main:
        main_pool = summary["pools"]["main"]["originals"]
        if summary["clean_answers"] < config.clean_answers:
            notes.append(
                f"{summary['clean_answers']} clean answers over the study, fewer than the {config.clean_answers} aimed "
                "at: the left end of the curves will be less certain."
            )
        if summary["clean_originals"] < main_pool:
            notes.append(
                f"{summary['clean_originals']} of {main_pool} main originals are shown clean; answers to the others do "
                "not enter human consistency."
            )
        shared = summary["overlap"]["trials"]
        if shared:
            notes.append(
                f"{shared} corrupted pictures are the same for everybody, so any two people share {shared} trials; "
                f"{summary['overlap']['answers']} answers fall on these {shared} pictures, and "
                f"{_planned_agreement(shared // len(summary['strata']))}."
            )
        if demand.gold < 5:
            notes.append(f"{demand.gold} gold trials a session are too few for the rules to judge by.")
        if demand.negative < NEGATIVES:
            notes.append(
                f"{demand.negative} negative trials a session: under {NEGATIVES} the flag for them is not raised."
            )
    thin = {
        corruption: [f"{k / STRATA:.1f}-{(k + 1) / STRATA:.1f}" for k, n in enumerate(counts) if n == 0]
        for corruption, counts in summary["strata"].items()
    }
    for corruption, bins in thin.items() if demand.main else ():
        if bins:
            notes.append(f"{corruption}: no answers planned at visual change {', '.join(bins)}.")
    return notes


def _kind_of(task: str, role: str) -> str:
    return role if task == "categorisation" else f"{task} {role}"


def _planned_agreement(pictures: int) -> str:
    """What error consistency of two people would be worth on so many common pictures of one corruption."""
    from analysis.claims.agreement import PLANNED_ACCURACY, PLANNED_KAPPA, planned_text
    from analysis.power.kappa import power_for_pictures, width_for_pictures

    planned = (PLANNED_ACCURACY, PLANNED_ACCURACY), PLANNED_KAPPA, max(pictures, 1)
    return planned_text(pictures, width_for_pictures(*planned), power_for_pictures(*planned))
