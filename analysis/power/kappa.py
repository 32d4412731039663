"""How many pictures a question about error consistency takes: a width, a kappa above 0, a difference of two kappas."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from analysis.agreement.differences import differences_of_tables
from analysis.agreement.pairs import independence_p, kappa_bounds
from analysis.arrays import FloatArray
from analysis.claims.agreement import ENOUGH_PICTURES
from analysis.clusters import exact_bound
from analysis.errors import InvalidInput
from analysis.study.analysis_plan import LEVEL

#: Powers that a plan is asked for.
POWERS = (0.8, 0.9, 0.95)
#: Beyond so many pictures a question is not planned.
MOST_PICTURES = 200_000


def pictures_for_width(accuracies: tuple[float, float], kappa: float, width: float, *, level: float = LEVEL) -> int:
    """Pictures in common for an interval of kappa of this width.

    Parameters
    ----------
    accuracies : tuple of float
        Expected accuracies of the two observers, in (0, 1).
    kappa : float
        Expected error consistency: one that these accuracies allow.
    width : float
        Upper minus lower end, in (0, 2].
    level : float
        Level of the interval.

    Returns
    -------
    int
        At least `ENOUGH_PICTURES`.

    Raises
    ------
    InvalidInput
        If no two observers of these accuracies have this kappa.

    Notes
    -----
    From kappa's variance in large samples (Fleiss, Cohen and Everitt 1969); with few errors intervals come out wider
    than planned.
    """
    reach = NormalDist().inv_cdf((1.0 + level) / 2.0)
    return max(ENOUGH_PICTURES, math.ceil(_variance(accuracies, kappa) * (2.0 * reach / width) ** 2))


def width_for_pictures(accuracies: tuple[float, float], kappa: float, n: int, *, level: float = LEVEL) -> float:
    """Width of the interval of kappa on so many pictures in common, each of an original of its own.

    Parameters
    ----------
    accuracies, kappa, level
        As in `pictures_for_width`, whose inverse this is.
    n : int
        At least 1.

    Returns
    -------
    float
        Above 0; 2 at most.

    Raises
    ------
    InvalidInput
        If no two observers of these accuracies have this kappa.
    """
    reach = NormalDist().inv_cdf((1.0 + level) / 2.0)
    return min(2.0 * reach * math.sqrt(_variance(accuracies, kappa) / n), 2.0)


def power_for_pictures(accuracies: tuple[float, float], kappa: float, n: int, *, alpha: float = 0.05) -> float:
    """About how often a kappa is found to differ from 0 on so many pictures in common, each of a different original.

    Parameters
    ----------
    accuracies, kappa
        As in `pictures_for_width`.
    n : int
        At least 1.
    alpha : float
        Of the two-sided test.

    Returns
    -------
    float
        In (0, 1), by the normal approximation; `plan_kappa` simulates the exact test, which finds somewhat less.

    Raises
    ------
    InvalidInput
        If no two observers of these accuracies have this kappa.
    """
    normal = NormalDist()
    reach = abs(kappa) * math.sqrt(n) - normal.inv_cdf(1.0 - alpha / 2.0) * math.sqrt(_variance(accuracies, 0.0))
    return normal.cdf(reach / math.sqrt(_variance(accuracies, kappa)))


def _variance(accuracies: tuple[float, float], kappa: float) -> float:
    """Variance of kappa on n pictures, times n (Fleiss, Cohen and Everitt 1969)."""
    p, q = accuracies
    cells = cells_of(accuracies, kappa)
    # How much a picture of each of the four kinds moves kappa.
    agreeing = np.array([1.0, 0.0, 0.0, 1.0])
    expected = p * q + (1.0 - p) * (1.0 - q)
    chance = np.array([2.0 * (p + q) - 2.0, 2.0 * q - 1.0, 2.0 * p - 1.0, 0.0])
    influence = (agreeing - (1.0 - kappa) * chance) / (1.0 - expected)
    return float((cells * influence**2).sum() - (cells * influence).sum() ** 2)


def cells_of(accuracies: tuple[float, float], kappa: float) -> FloatArray:
    """Shares of pictures on which both observers are right, the first alone, the second alone, and neither.

    Parameters
    ----------
    accuracies : tuple of float
        In (0, 1).
    kappa : float

    Returns
    -------
    ndarray, shape (4,)

    Raises
    ------
    InvalidInput
        If no two observers of these accuracies have this kappa.
    """
    p, q = accuracies
    least, most = kappa_bounds(accuracies)
    if not least - 1e-12 <= kappa <= most + 1e-12:
        raise InvalidInput(
            f"Observers with accuracies {p:g} and {q:g} cannot have a kappa of {kappa:g}: it lies between {least:.3f} "
            f"and {most:.3f}."
        )
    together = kappa * (p * (1.0 - q) + q * (1.0 - p)) / 2.0
    cells = np.array([p * q, p * (1.0 - q), (1.0 - p) * q, (1.0 - p) * (1.0 - q)])
    return np.asarray(np.maximum(cells + together * np.array([1.0, -1.0, -1.0, 1.0]), 0.0))


@dataclass(frozen=True)
class KappaQuestion:
    """Which kappa, or which difference of two, is to be found; validates itself.

    Parameters
    ----------
    accuracies : tuple of float
        Of both observers; of a difference those of the person, the first and the second model.
    kappas : tuple of float
        The kappa that is to be found; of a difference both models' with the person.
    between : float or None
        Kappa of the two models; None where they are alike only through the person.
    alpha : float
        Of the test, two-sided.
    """

    accuracies: tuple[float, ...]
    kappas: tuple[float, ...]
    between: float | None = None
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if len(self.kappas) not in (1, 2) or len(self.accuracies) != len(self.kappas) + 1:
            raise InvalidInput(
                "One kappa takes the accuracies of two observers; a difference takes two kappas and the accuracies of "
                f"the person and both models. Here are {len(self.kappas)} kappas and {len(self.accuracies)} accuracies."
            )
        if not 0.0 < self.alpha < 1.0:
            raise InvalidInput(f"The level of the test lies between 0 and 1, not at {self.alpha:g}.")
        if self.between is not None and len(self.kappas) == 1:
            raise InvalidInput("The kappa between two models belongs to a difference: give two kappas.")
        if self.effect == 0.0:
            raise InvalidInput("A kappa of 0, or a difference of 0, is found by no number of pictures.")
        self.shares()

    @property
    def effect(self) -> float:
        """The kappa, or the difference of both."""
        return self.kappas[0] - (self.kappas[1] if len(self.kappas) == 2 else 0.0)

    def shares(self) -> FloatArray:
        """Shares of pictures by who is right, shape (4,) or (8,): the last observer changes fastest, right first."""
        person, *models = self.accuracies
        if len(models) == 1:
            return cells_of((person, models[0]), self.kappas[0])
        tables = [cells_of((person, own), kappa).reshape(2, 2) for own, kappa in zip(models, self.kappas, strict=True)]
        # Given whether the person is right, the models are right independently.
        margin = np.array([person, 1.0 - person])
        rates = [table[:, 0] / margin for table in tables]
        joint = rates[0] * rates[1]
        if self.between is not None:
            joint = joint + self._alike(self.between, margin, rates[0], rates[1])
        cells = [joint, rates[0] - joint, rates[1] - joint, 1.0 - rates[0] - rates[1] + joint]
        return np.asarray((margin[:, None] * np.stack(cells, axis=1)).ravel())

    def _alike(self, between: float, margin: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """How much more often both models are right than if they were independent, given the person."""
        _, p, q = self.accuracies
        wanted = p * q + between * (p * (1.0 - q) + q * (1.0 - p)) / 2.0 - float(margin @ (first * second))
        reach = np.minimum(first, second) if wanted > 0.0 else np.maximum(first + second - 1.0, 0.0)
        room = reach - first * second
        most = float(margin @ room)
        if abs(wanted) > abs(most) + 1e-12:
            bound = between + 2.0 * (most - wanted) / (p * (1.0 - q) + q * (1.0 - p))
            raise InvalidInput(
                f"With these kappas with the person, the models cannot have a kappa of {between:g} with each "
                f"other: it is at {'most' if wanted > 0.0 else 'least'} {bound:.3f}."
            )
        return np.asarray(room * (wanted / most if most else 0.0))


@dataclass(frozen=True)
class PlannedPictures:
    """So many pictures, and the power that simulated studies of this size have.

    Parameters
    ----------
    wanted : float or None
        Power that the number was sought for; None for a number that was given.
    pictures : int
        That the observers have in common, each of a different original.
    reached : float
        Share of the simulated studies in which the test finds it.
    interval : tuple of float
        What the number of simulated studies leaves open.
    """

    wanted: float | None
    pictures: int
    reached: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class KappaPlan:
    """What a question about kappa takes.

    Parameters
    ----------
    question : KappaQuestion
    runs, seed : int
    sizes : tuple of PlannedPictures
    """

    question: KappaQuestion
    runs: int
    seed: int
    sizes: tuple[PlannedPictures, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, floats unrounded."""
        return asdict(self)


def plan_kappa(
    question: KappaQuestion,
    *,
    powers: tuple[float, ...] = POWERS,
    pictures: int | None = None,
    runs: int = 2000,
    seed: int = 0,
) -> KappaPlan:
    """How many pictures in common the powers take, and which power a given number has.

    Parameters
    ----------
    question : KappaQuestion
    powers : tuple of float
        Each above the level of the test, below 1.
    pictures : int, optional
        A number that is planned.
    runs, seed : int
        Simulated studies of every size.

    Returns
    -------
    KappaPlan

    Raises
    ------
    InvalidInput
        If a power is none, or takes more than `MOST_PICTURES` pictures.

    Notes
    -----
    The number starts from the normal approximation and grows until simulated studies reach the power by the test that
    results use: `independence_p`, or that of `kappa_difference`. Klein et al. (2025), section 5, plan the width of an
    interval; `pictures_for_width` does.
    """
    if runs < 1 or any(not question.alpha < one < 1.0 for one in powers):
        raise InvalidInput("A power lies above the level of the test and below 1, and at least one study is simulated.")
    sizes = [] if pictures is None else [_simulated(question, None, pictures, runs, seed)]
    for wanted in powers:
        count = _pictures_about(question, wanted)
        found = _simulated(question, wanted, count, runs, seed)
        while found.reached < wanted:
            # As if the distance to the critical value grew with the root of the pictures.
            normal, critical = NormalDist(), NormalDist().inv_cdf(1.0 - question.alpha / 2.0)
            reached = min(max(found.reached, 0.5 / runs), 1.0 - 0.5 / runs)
            ratio = (critical + normal.inv_cdf(wanted)) / max(critical + normal.inv_cdf(reached), 0.5)
            count = max(count + 1, math.ceil(count * ratio**2))
            if count > MOST_PICTURES:
                raise InvalidInput(f"A power of {wanted:g} takes more than {MOST_PICTURES:,} pictures.")
            found = _simulated(question, wanted, count, runs, seed)
        sizes.append(found)
    return KappaPlan(question, runs, seed, tuple(sizes))


def _pictures_about(question: KappaQuestion, power: float) -> int:
    """By the normal approximation; at least `ENOUGH_PICTURES`, below which kappa is not shown."""
    normal = NormalDist()
    critical, beyond = normal.inv_cdf(1.0 - question.alpha / 2.0), normal.inv_cdf(power)
    if len(question.kappas) == 1:
        accuracies = question.accuracies[0], question.accuracies[1]
        null, own = _variance(accuracies, 0.0), _variance(accuracies, question.kappas[0])
    else:
        shares = question.shares()
        _, variance, _ = differences_of_tables(shares[None])
        null = own = float(variance[0])
    reach = critical * math.sqrt(null) + beyond * math.sqrt(own)
    count = max(ENOUGH_PICTURES, math.ceil((reach / question.effect) ** 2))
    if count > MOST_PICTURES:
        raise InvalidInput(f"A power of {power:g} takes about {count:,} pictures, more than {MOST_PICTURES:,}.")
    return count


def _simulated(question: KappaQuestion, wanted: float | None, pictures: int, runs: int, seed: int) -> PlannedPictures:
    drawn = np.random.default_rng([seed, pictures]).multinomial(pictures, question.shares(), size=runs)
    if len(question.kappas) == 1:
        tables, times = np.unique(drawn, axis=0, return_counts=True)
        p = np.array([independence_p(*map(int, cells)) for cells in tables])
        hits = int(times[p < question.alpha].sum())
    else:
        *_, p = differences_of_tables(drawn.astype(np.float64))
        hits = int((p < question.alpha).sum())
    return PlannedPictures(wanted, pictures, hits / runs, exact_bound(hits, runs, 0.025))
