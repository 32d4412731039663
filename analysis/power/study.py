"""The power of a planned study: its verdicts and intervals over many simulated collections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from analysis.clusters import clustered, exact_bound
from analysis.compute import SerialExecutor, run_in_order_of_completion
from analysis.differences.answers import AnswersToOne
from analysis.differences.beside import attentive_share, least_changed
from analysis.differences.family import DRAWS
from analysis.differences.windows import window_contrasts
from analysis.errors import InvalidInput
from analysis.labels.files import default_labels
from analysis.power.crowd import Crowd, LogisticDrop, simulate_answers
from analysis.similarity.curves import compare_all
from analysis.study.analysis_plan import BAND_MARGIN, MARGIN


@dataclass(frozen=True)
class PlannedStudy:
    """What is planned, and what is believed of people; validates itself.

    Parameters
    ----------
    crowd : Crowd
        People, answers of each on one function, originals, and how much both differ.
    functions : int
        Corruption functions of the study; all their pairs will be asked about.
    shared_people, shared_originals : bool
        Whether the same people, and the same originals, stand in every function.
    clean_answers : int
        Answers to clean pictures that hold the left end; 0 for none.
    curve : LogisticDrop
        Believed curve of the first function of a pair.
    margin, band_margin, alpha : float
        Of the verdict, as in `analysis.similarity.curves.compare_all`.
    recruiters : tuple of int
        People that are planned with each of several recruiters; empty where there is one.
    chance : float
        Share right of a person who guesses, in (0, 1); below the curve's upper level. By default that of the product's
        labels.
    """

    crowd: Crowd
    functions: int = 2
    shared_people: bool = True
    shared_originals: bool = True
    clean_answers: int = 0
    curve: LogisticDrop = field(default_factory=LogisticDrop)
    margin: float = MARGIN
    band_margin: float = BAND_MARGIN
    alpha: float = 0.05
    recruiters: tuple[int, ...] = ()
    chance: float = field(default_factory=lambda: default_labels().chance)

    def __post_init__(self) -> None:
        if self.functions < 2:
            raise InvalidInput("Similarity is asked of at least 2 corruption functions.")
        if self.clean_answers < 0:
            raise InvalidInput("Answers are not negative.")
        if not 0.0 < self.margin < 1.0 or not 0.0 < self.band_margin <= 1.0 or not 0.0 < self.alpha < 1.0:
            raise InvalidInput("Margins and levels lie strictly between 0 and 1.")
        if not 0.0 < self.chance < self.curve.upper:
            raise InvalidInput(
                f"A guess is right with chance {self.chance:.3f}: it lies above 0, and below what people are believed "
                f"to reach ({self.curve.upper:.3f})."
            )

    @property
    def pairs(self) -> int:
        """Pairs of functions among which tests are corrected."""
        return self.functions * (self.functions - 1) // 2

    def to_dict(self) -> dict[str, Any]:
        """Plain values; `from_dict` is the inverse."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PlannedStudy:
        """From plain values, as JSON brings them back; earlier ones name refits, which are made no more."""
        own = {name: value for name, value in values.items() if name != "n_bootstrap"}
        people = tuple(values.get("recruiters", ()))
        parts = {"crowd": Crowd(**values["crowd"]), "curve": LogisticDrop(**values["curve"]), "recruiters": people}
        return cls(**{**own, **parts})


@dataclass(frozen=True)
class PowerReport:
    """How often a planned study would reach which verdict on one pair.

    Parameters
    ----------
    people : int
        Who took part in each simulated study.
    difference : float
        True difference of the two areas.
    runs : int
        Simulated studies.
    different : float
        Share with the verdict "different" at the level of the first of all pairs (the smallest power a pair can have).
    equivalent, area_equivalent : float
        Share shown to be equivalent, and in area alone (the mean difference within +-margin).
    undecided : float
        Share with neither.
    interval_width : float
        Median width of the 95 % interval of people's mean on one function.
    difference_error : float
        Median standard error of the difference of areas.
    answers : int
        Answers of one simulated study on the pair, clean ones included.
    """

    people: int
    difference: float
    runs: int
    different: float
    equivalent: float
    area_equivalent: float
    undecided: float
    interval_width: float
    difference_error: float
    answers: int

    def standard_error(self, share: float) -> float:
        """Standard error of one of the shares, from the number of runs."""
        return float(np.sqrt(share * (1.0 - share) / self.runs))

    def interval(self, share: float) -> tuple[float, float]:
        """Exact 95 % interval of one of the shares: what the number of runs leaves open (Clopper and Pearson 1934)."""
        return exact_bound(round(share * self.runs), self.runs, 0.025)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, floats unrounded."""
        return asdict(self)


def estimate_power(
    study: PlannedStudy,
    difference: float,
    *,
    runs: int = 100,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PowerReport:
    """Simulate a planned study, with a true difference between two of its functions.

    Parameters
    ----------
    study : PlannedStudy
    difference : float
        True difference of the two areas, at least 0; with 0, ``different`` is the rate of false alarms.
    runs : int
        Simulated studies, at least 1; the standard error of a power of 0.8 is 0.04 with 100.
    seed : int
        The same seed gives the same report, in any executor.
    executor : Executor, optional
        Where runs are made (`analysis.compute.executor`); here, without one.
    progress : callable, optional
        ``progress(done, runs)`` after every run; what it raises ends the work.

    Returns
    -------
    PowerReport

    Raises
    ------
    InvalidInput
        If the difference is negative or cannot be had by moving the bend, or there is no run.
    """
    if difference < 0.0 or runs < 1 or seed < 0:
        raise InvalidInput("A difference and a seed are not negative, and at least one run is needed.")
    study.curve.lowered(difference)  # refused here, not in another process
    pool = SerialExecutor() if executor is None else executor
    outcomes: dict[int, Mapping[str, float]] = {}
    arguments = ((study, difference, seed, number) for number in range(runs))
    for number, outcome in run_in_order_of_completion(pool, _run, arguments):
        outcomes[number] = outcome
        if progress is not None:
            progress(len(outcomes), runs)
    columns = {name: np.array([outcomes[k][name] for k in range(runs)]) for name in outcomes[0]}
    different, equivalent = columns["p"] * study.pairs < study.alpha, columns["equivalent"] > 0
    return PowerReport(
        people=study.crowd.people,
        difference=difference,
        runs=runs,
        different=float(different.mean()),
        equivalent=float(equivalent.mean()),
        area_equivalent=float(columns["area_equivalent"].mean()),
        undecided=float((~different & ~equivalent).mean()),
        interval_width=float(np.median(columns["width"])),
        difference_error=float(np.median(columns["error"])),
        answers=2 * study.crowd.answers + study.clean_answers,
    )


def _run(arguments: tuple[PlannedStudy, float, int, int]) -> tuple[int, dict[str, float]]:
    """Collect and judge one simulated study; its number comes back with it, since runs may end in any order."""
    study, difference, seed, number = arguments
    rng = np.random.default_rng([seed, number])
    samples = simulate_answers(
        [study.curve, study.curve.lowered(difference)],
        study.crowd,
        rng,
        shared_people=study.shared_people,
        shared_originals=study.shared_originals,
        clean=study.clean_answers,
    )
    answers = {name: one.to_one() for name, one in zip(("first", "second"), samples, strict=False)}
    looked = {
        name: attentive_share(
            samples[2].to_one() if study.clean_answers else least_changed(own), choices=1.0 / study.chance
        )
        for name, own in answers.items()
    }
    found = compare_all(
        answers,
        attentive=looked,
        margin=study.margin,
        band_margin=study.band_margin,
        alpha=study.alpha,
        seed=int(rng.integers(0, 1 << 31)),
        # enough for a p-value to pass the first of so many pairs with room to spare
        draws=max(DRAWS, int(np.ceil(2.5 * study.pairs / study.alpha))),
    ).get(("first", "second"))
    if found is None:  # too few answers anywhere to compare two functions
        return number, {"p": 1.0, "equivalent": 0.0, "area_equivalent": 0.0, "width": 1.0, "error": 1.0}
    return number, {
        "p": found.p_adjusted,
        "equivalent": float(found.equivalent),
        "area_equivalent": float(found.area_equivalent),
        "width": _width(answers["first"]),
        "error": found.standard_error,
    }


def _width(answers: AnswersToOne) -> float:
    """Width of the 95 % interval of the mean over everything measured."""
    contrasts = window_contrasts(answers.place, answers.place)
    if contrasts is None:
        return 1.0
    cells, mean = answers.by_cell(contrasts.edges), contrasts.matrix[:1]
    sums = [own.sums @ mean.T for own in (cells.people, cells.originals) if own is not None]
    return float(2.0 * clustered(sums, mean**2 @ cells.singles).reach(0.95)[0])
