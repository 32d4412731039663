"""What a planned study would say of models beside people: of one that is exactly like them, and of one that is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.claims.models import TRUE_GAP
from analysis.clusters import exact_bound
from analysis.compute import SerialExecutor, run_in_order_of_completion
from analysis.differences.beside import ModelBesidePeople, attentive_shares, beside_people
from analysis.errors import InvalidInput
from analysis.power.crowd import simulate_study
from analysis.power.study import PlannedStudy

#: Two models that are exactly like people, on pictures that are hard for both or on others, and one that is worse.
SHARING, OWN, WORSE = "sharing", "own", "worse"
#: Joint draws of a simulated study: fewer than of a real one, whose verdict they decide alone.
_DRAWS = 500


@dataclass(frozen=True)
class ModelsReport:
    """How often a planned study would say what of models.

    Parameters
    ----------
    people, functions, answers : int
        Who took part in each simulated study, its corruption functions, and people's answers on one of them.
    runs : int
        Simulated studies.
    gap : float
        By which the area of the worse model is smaller, on every function.
    matches, matches_one : float
        Share in which a model that is exactly like people is said to match them on all functions, and on one: what is
        hard for people is as hard for it.
    own_matches, own_matches_one : float
        The same where other pictures are hard for it.
    differs : float
        Share in which either is said to differ anywhere, falsely.
    gap_differs : float
        Share in which the worse one, for which other pictures are hard, is said to differ on one function.
    """

    people: int
    functions: int
    answers: int
    runs: int
    gap: float
    matches: float
    matches_one: float
    own_matches: float
    own_matches_one: float
    differs: float
    gap_differs: float

    def interval(self, share: float) -> tuple[float, float]:
        """Exact 95 % interval of a share of studies: what the number of runs leaves open (Clopper and Pearson 1934)."""
        return exact_bound(round(share * self.runs), self.runs, 0.025)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, floats unrounded."""
        return asdict(self)


def estimate_models(
    study: PlannedStudy,
    *,
    gap: float = TRUE_GAP,
    runs: int = 100,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ModelsReport:
    """Simulate a planned study with three models, and judge them as those of a real one are.

    Parameters
    ----------
    study : PlannedStudy
        People have its curve on every function.
    gap : float
        Above 0: by which the area of the worse model is smaller.
    runs, seed, executor, progress
        As in `analysis.power.study.estimate_power`.

    Returns
    -------
    ModelsReport

    Raises
    ------
    InvalidInput
        If the gap is not above 0 or cannot be had by moving the bend, or there is no run.

    Notes
    -----
    Models answer each stimulus once, and pictures differ as much for them as for people.
    """
    if gap <= 0.0 or runs < 1 or seed < 0:
        raise InvalidInput("A gap lies above 0, a seed is not negative, and at least one run is needed.")
    study.curve.lowered(gap)  # refused here, not in another process
    pool = SerialExecutor() if executor is None else executor
    outcomes: dict[int, Mapping[str, float]] = {}
    arguments = ((study, gap, seed, number) for number in range(runs))
    for number, outcome in run_in_order_of_completion(pool, _run, arguments):
        outcomes[number] = outcome
        if progress is not None:
            progress(len(outcomes), runs)
    shares = {name: float(np.mean([outcomes[k][name] for k in range(runs)])) for name in outcomes[0]}
    crowd = study.crowd
    return ModelsReport(
        people=crowd.people, functions=study.functions, answers=crowd.answers, runs=runs, gap=gap, **shares
    )


def _run(arguments: tuple[PlannedStudy, float, int, int]) -> tuple[int, dict[str, float]]:
    """Collect and judge one simulated study; its number comes back with it, since runs may end in any order."""
    study, gap, seed, number = arguments
    rng = np.random.default_rng([seed, number])
    crowd, worse = study.crowd, study.curve.lowered(gap)
    collected = list(
        simulate_study(
            [study.curve] * study.functions,
            crowd,
            rng,
            shared_people=study.shared_people,
            shared_originals=study.shared_originals,
            clean=study.clean_answers,
        )
    )
    people = {f"{k}": answers.to_one() for k, (answers, _) in enumerate(collected[: study.functions])}
    shown = {name: stimuli for name, (_, stimuli) in zip(people, collected, strict=False)}
    originals = crowd.stimuli if crowd.originals is None else crowd.originals
    own = {model: rng.normal(0.0, crowd.original_sd, originals) for model in (OWN, WORSE)}
    found = beside_people(
        people,
        {
            SHARING: {name: stimuli.answered(study.curve, crowd, rng) for name, stimuli in shown.items()},
            OWN: {name: stimuli.answered(study.curve, crowd, rng, own=own[OWN]) for name, stimuli in shown.items()},
            WORSE: {name: stimuli.answered(worse, crowd, rng, own=own[WORSE]) for name, stimuli in shown.items()},
        },
        attentive=attentive_shares(
            people, collected[-1][0].to_one() if study.clean_answers else None, choices=1.0 / study.chance
        ),
        margin=study.margin,
        window_margin=study.band_margin,
        level=1.0 - study.alpha,
        seed=int(rng.integers(0, 1 << 31)),
        draws=_DRAWS,
    )
    twins = [found[name] for name in (SHARING, OWN) if name in found]
    return number, {
        "matches": _on_all(found.get(SHARING), study.functions),
        "matches_one": _on_one(found.get(SHARING), study.functions),
        "own_matches": _on_all(found.get(OWN), study.functions),
        "own_matches_one": _on_one(found.get(OWN), study.functions),
        "differs": float(any(one.differs_on for one in twins)),
        "gap_differs": len(found[WORSE].differs_on) / study.functions if WORSE in found else 0.0,
    }


def _on_all(one: ModelBesidePeople | None, functions: int) -> float:
    """1 if it matches on every function; with too few answers there is nothing to compare."""
    return float(one is not None and one.matches and len(one.corruptions) == functions)


def _on_one(one: ModelBesidePeople | None, functions: int) -> float:
    return sum(found.matches for found in one.corruptions.values()) / functions if one is not None else 0.0
