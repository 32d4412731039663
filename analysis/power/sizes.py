"""How many people a planned study needs: its power at several sizes, as numbers and as figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from math import ceil, sqrt
from typing import Any, Literal

import numpy as np

from analysis.errors import InvalidInput
from analysis.figures.value import Axis, Band, Figure, Line, Mark, Observer, Points
from analysis.power.crowd import LogisticDrop
from analysis.power.models import ModelsReport, estimate_models
from analysis.power.recruiters import STUDIES, RecruitersReport, plan_recruiters
from analysis.power.study import PlannedStudy, PowerReport, estimate_power

#: Powers that sizes are looked for.
LEVELS = (0.8, 0.95)
#: No study below this, or beyond so many times the planned one, is simulated.
FEWEST_PEOPLE, MOST_TIMES = 8, 8
#: How far beyond the simulated sizes the curve through them is believed.
_REACH = 1.25
_STEPS = 100

Relation = Literal["about", "at most", "more than"]


@dataclass(frozen=True)
class PowerCurve:
    """Power by size, ``Phi(slope sqrt(people) + offset)``.

    Parameters
    ----------
    slope, offset : float
    covariance : tuple of float
        Of the two: variance of the slope, covariance, variance of the offset.

    Notes
    -----
    The test of a difference is the difference over its standard error, which falls as ``1 / sqrt(people)``: its power
    is of this form, with an offset near the critical value.
    """

    slope: float
    offset: float
    covariance: tuple[float, float, float]

    def power(self, people: float) -> float:
        """Power at a size."""
        from scipy.special import ndtr

        return float(ndtr(self.slope * sqrt(people) + self.offset))

    def people(self, power: float) -> tuple[float, tuple[float, float]]:
        """Size at which a power is reached, with its 95 % interval (delta method, on the root of the size).

        Raises
        ------
        InvalidInput
            If power does not rise with the size.
        """
        from scipy.special import ndtri

        if self.slope <= 0.0:
            raise InvalidInput("Power does not rise with the size here: simulate more studies of each size.")
        root = (float(ndtri(power)) - self.offset) / self.slope
        slope, both, offset = self.covariance
        error = sqrt(max(0.0, root * root * slope + 2.0 * root * both + offset)) / self.slope
        low, high = max(0.0, root - 1.96 * error), max(0.0, root + 1.96 * error)
        return max(0.0, root) ** 2, (low**2, high**2)


def fit_power_curve(people: Sequence[int], shares: Sequence[float], runs: int) -> PowerCurve:
    """Probit regression of verdicts on the root of the size.

    Parameters
    ----------
    people : sequence of int, shape (n_sizes,)
        At least two different sizes.
    shares : sequence of float, shape (n_sizes,)
        Share of the runs with the verdict, in [0, 1].
    runs : int
        Simulated studies of each size.

    Returns
    -------
    PowerCurve

    Raises
    ------
    InvalidInput
        If there are fewer than two different sizes.

    Notes
    -----
    Fisher scoring. Half a run with and half a run without the verdict are added to each size (Haldane 1956), so that
    the estimate exists when all runs agree.
    """
    from scipy.special import ndtr, ndtri

    if len(set(people)) < 2:
        raise InvalidInput("A curve of power needs at least two sizes.")
    design = np.column_stack([np.sqrt(np.asarray(people, dtype=np.float64)), np.ones(len(people))])
    share = (np.asarray(shares, dtype=np.float64) * runs + 0.5) / (runs + 1.0)
    seen = ndtri(share)
    found, information = np.linalg.lstsq(design, seen, rcond=None)[0], np.eye(2)
    for _ in range(_STEPS):
        line = np.clip(design @ found, -6.0, 6.0)
        level, density = ndtr(line), np.exp(-0.5 * line**2) / sqrt(2.0 * np.pi)
        weight = runs * density**2 / (level * (1.0 - level))
        information = design.T @ (weight[:, None] * design)
        step = np.linalg.solve(information, design.T @ (weight * (share - level) / density))
        found = found + step
        if float(np.abs(step).max()) < 1e-10:
            break
    spread = np.linalg.inv(information)
    covariance = (float(spread[0, 0]), float(spread[0, 1]), float(spread[1, 1]))
    return PowerCurve(float(found[0]), float(found[1]), covariance)


@dataclass(frozen=True)
class Needed:
    """How many people reach a power.

    Parameters
    ----------
    power : float
    people : int
    relation : {"about", "at most", "more than"}
        Whether the number was found between the simulated sizes, or is the smallest or largest of them.
    interval : tuple of int or None
        95 %; None for a bound.
    """

    power: float
    people: int
    relation: Relation
    interval: tuple[int, int] | None


@dataclass(frozen=True)
class SizeReport:
    """Power of a planned study, and of smaller and larger ones.

    Parameters
    ----------
    planned : PowerReport
        Of the study as it is planned.
    alike : PowerReport
        The same without any difference: how often equivalence is shown, and how often a difference is seen in vain.
    sizes : tuple of PowerReport
        By people, the planned one among them.
    curve : PowerCurve
    needed : tuple of Needed
        One for each level.
    models : ModelsReport or None
        What the planned study would say of models; None in reports of earlier versions.
    recruiters : RecruitersReport or None
        What it takes to tell the crowds of its recruiters apart; None where it has one.
    """

    planned: PowerReport
    alike: PowerReport
    sizes: tuple[PowerReport, ...]
    curve: PowerCurve
    needed: tuple[Needed, ...]
    models: ModelsReport | None = None
    recruiters: RecruitersReport | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, floats unrounded; `from_dict` is the inverse."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SizeReport:
        """From plain values, as JSON brings them back."""
        curve, needed, models = values["curve"], values["needed"], values.get("models")
        recruiters = values.get("recruiters")
        return cls(
            planned=PowerReport(**values["planned"]),
            alike=PowerReport(**values["alike"]),
            sizes=tuple(PowerReport(**one) for one in values["sizes"]),
            curve=PowerCurve(**{**curve, "covariance": tuple(curve["covariance"])}),
            needed=tuple(Needed(**{**one, "interval": _pair(one["interval"])}) for one in needed),
            models=None if models is None else ModelsReport(**models),
            recruiters=None if recruiters is None else RecruitersReport.from_dict(recruiters),
        )


def estimate_sizes(
    study: PlannedStudy,
    difference: float,
    *,
    levels: Sequence[float] = LEVELS,
    runs: int = 100,
    seed: int = 0,
    executor: Executor | None = None,
    known: Iterable[PowerReport] = (),
    keep: Callable[[PowerReport], None] | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> SizeReport:
    """Simulate a planned study, studies of the sizes at which it should reach given powers, and models beside people.

    Parameters
    ----------
    study : PlannedStudy
    difference : float
        True difference of the two areas, above 0.
    levels : sequence of float
        Powers, each in (0, 1), rising.
    runs, seed, executor
        As in `estimate_power`; ``runs`` of each size, and as many with models, at the planned size.
    known : iterable of PowerReport
        What an earlier attempt at the very same has found: not simulated again.
    keep : callable, optional
        Called with each size that was simulated.
    progress : callable, optional
        ``progress(done, all, people)`` after every run; what it raises ends the work.

    Returns
    -------
    SizeReport

    Raises
    ------
    InvalidInput
        If the difference is not above 0, or cannot be had by moving the bend.

    Notes
    -----
    Other sizes have the same originals, new stimuli made of them, and as many answers of a person, on clean pictures as
    well. The sizes to simulate are those at which the normal approximation with the planned study's standard error
    reaches the levels, between `FEWEST_PEOPLE` and `MOST_TIMES` as many people as planned.
    """
    if difference <= 0.0:
        raise InvalidInput("A difference that is to be found lies above 0.")
    made = {(one.people, one.difference): one for one in known if one.runs == runs}
    several = STUDIES if len(study.recruiters) > 1 else 0
    total, done = (3 + len(levels)) * runs + several, 0

    def simulated(people: int, gap: float) -> PowerReport:
        nonlocal done
        before = done
        found = made.get((people, gap))
        if found is None:
            found = estimate_power(
                resized(study, people),
                gap,
                runs=runs,
                seed=seed,
                executor=executor,
                progress=None if progress is None else lambda now, _runs: progress(before + now, total, people),
            )
            made[people, gap] = found
            if keep is not None:
                keep(found)
        done += runs
        return found

    planned = simulated(study.crowd.people, difference)
    alike = simulated(study.crowd.people, 0.0)
    others = [simulated(people, difference) for people in _guesses(study, planned, levels)]
    sizes = {one.people: one for one in (planned, *others)}
    ordered = tuple(sizes[people] for people in sorted(sizes))
    curve = fit_power_curve([one.people for one in ordered], [one.different for one in ordered], runs)
    needed = tuple(_needed(curve, ordered, level) for level in levels)
    before = done
    people = study.crowd.people
    models = estimate_models(
        study,
        runs=runs,
        seed=seed,
        executor=executor,
        progress=None if progress is None else lambda now, _runs: progress(before + now, total, people),
    )
    recruiters = None
    if several:
        recruiters = plan_recruiters(
            study,
            seed=seed,
            executor=executor,
            progress=None if progress is None else lambda now, _runs: progress(total - several + now, total, people),
        )
    return SizeReport(planned, alike, ordered, curve, needed, models, recruiters)


def resized(study: PlannedStudy, people: int) -> PlannedStudy:
    """The study with other people, each of whom does the same."""
    clean = round(study.clean_answers * people / study.crowd.people)
    return replace(study, crowd=replace(study.crowd, people=people), clean_answers=clean)


def _guesses(study: PlannedStudy, planned: PowerReport, levels: Sequence[float]) -> list[int]:
    """Different sizes near which the levels are reached, by the planned study's standard error."""
    from scipy.special import ndtri

    critical = -float(ndtri(study.alpha / (2.0 * study.pairs)))
    most = max(FEWEST_PEOPLE + len(levels), MOST_TIMES * planned.people)
    found: list[int] = []
    for number, level in enumerate(levels, start=1):
        ratio = (critical + float(ndtri(level))) * planned.difference_error / planned.difference
        least = max([FEWEST_PEOPLE, *(size + 1 for size in found)])
        found.append(min(max(ceil(planned.people * ratio**2), least), most - len(levels) + number))
    return found


def _needed(curve: PowerCurve, sizes: Sequence[PowerReport], level: float) -> Needed:
    smallest, largest = sizes[0], sizes[-1]
    if curve.slope > 0.0:
        people, (low, high) = curve.people(level)
        if smallest.people / _REACH <= people <= largest.people * _REACH:
            return Needed(level, ceil(people), "about", (max(1, ceil(low)), ceil(high)))
    reached = next((one for one in (smallest, largest) if one.different >= level), None)
    if reached is None:
        return Needed(level, largest.people, "more than", None)
    return Needed(level, reached.people, "at most", None)


def _pair(values: Sequence[int] | None) -> tuple[int, int] | None:
    return None if values is None else (values[0], values[1])


_SIMULATED = Observer("simulated studies", "human")
_BETWEEN = Observer("curve through them", "classifier")
_FIGURES_STEPS = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000)
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def power_figure(report: SizeReport) -> Figure:
    """Share of the simulated studies that find the difference, by the number of people."""
    sizes = tuple(float(one.people) for one in report.sizes)
    shares = tuple(one.different for one in report.sizes)
    intervals = [one.interval(one.different) for one in report.sizes]
    end = 1.1 * sizes[-1]
    step = next((step for step in _FIGURES_STEPS if end / step <= 8), _FIGURES_STEPS[-1])
    line = tuple(float(n) for n in np.linspace(1.0, end, 80))
    found = "; ".join(f"{n:.0f} people: {share:.2f}" for n, share in zip(sizes, shares, strict=True))
    return Figure(
        title="Power by number of people",
        description=f"Share of simulated studies in which the difference is found. {found}.",
        x=Axis("people whose sessions count", (0.0, end), tuple(float(n) for n in range(0, int(end) + 1, step))),
        y=Axis("power", (-0.03, 1.03), _TICKS),
        traces=(
            Band(_SIMULATED, sizes, tuple(low for low, _ in intervals), tuple(high for _, high in intervals), "95 %"),
            Line(_BETWEEN, line, tuple(report.curve.power(n) for n in line)),
            Points(_SIMULATED, sizes, shares, tuple(one.answers for one in report.sizes)),
        ),
        marks=tuple(Mark(one.power, f"{one.power:g}") for one in report.needed),
    )


def believed_figure(first: LogisticDrop, second: LogisticDrop) -> Figure:
    """The two true curves that a simulation assumes."""
    place = np.linspace(0.0, 1.0, 101)
    curves = (
        (Observer("one corruption", "human", 0), first),
        (Observer("the other", "human", 1), second),
    )
    return Figure(
        title="Assumed curves",
        description=f"Accuracy falls over visual change; the areas are {first.area:.3f} and {second.area:.3f}.",
        x=Axis("visual change Δv", (0.0, 1.0), _TICKS),
        y=Axis("accuracy", (-0.03, 1.03), (0.0, 0.5, 1.0)),
        traces=tuple(
            Line(observer, tuple(map(float, place)), tuple(map(float, curve(place)))) for observer, curve in curves
        ),
    )
