"""Models beside people: where a model differs, and whether it matches, over models, corruptions and windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr, stdtrit

from analysis.clusters import Clustered, clustered
from analysis.differences.answers import AnswersToOne, CellMeans, SumsOfNames
from analysis.differences.attention import ATTENTIVE
from analysis.differences.stepdown import stepdown
from analysis.differences.windows import Contrasts, Range, condition_contrasts, window_contrasts
from analysis.spec.analysis_plan import BAND_MARGIN, MARGIN

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Joint draws of the null distribution of the largest statistic: at its 95 % quantile lie .95 of it, give or take .005.
DRAWS = 2000
#: A variance that is only rounding.
_NOTHING = 1e-12
#: One-sided level of either half of equivalence.
ALPHA = 0.05
#: What "undecided" is planned against, frozen with the method: a true difference in area, and the power.
TRUE_GAP, POWER = 0.05, 0.8


@dataclass(frozen=True, eq=False)
class Beside:
    """A model beside people on one corruption: the model's mean accuracy minus that of people.

    Parameters
    ----------
    ranges : tuple of (float, float)
        What each entry of the arrays covers: everything measured, then the windows.
    gaps : tuple of (float, float)
        Stretches between that were not measured: nothing is said about them, so nothing matches.
    estimate, standard_error, degrees_of_freedom : ndarray, shape (1 + windows,)
    lower, upper : ndarray, shape (1 + windows,)
        90 % intervals, each for itself: a model matches where all lie within the margins.
    significant : ndarray of bool, shape (1 + windows,)
        Where it differs, corrected over models, corruptions and windows together.
    is_within : bool
        All intervals lie within the margins, and nothing between was left out.
    attentive : float
        Lower bound of the share of people's answers that came from looking.
    critical : float
        Standard errors that a first difference in the family needs.
    answers : int
        Answers of people.
    margin, window_margin : float
    """

    ranges: tuple[Range, ...]
    gaps: tuple[Range, ...]
    estimate: FloatArray
    standard_error: FloatArray
    degrees_of_freedom: FloatArray
    lower: FloatArray
    upper: FloatArray
    significant: BoolArray
    is_within: bool
    attentive: float
    critical: float
    answers: int
    margin: float
    window_margin: float

    @property
    def matches(self) -> bool:
        """Shown to be alike, by a crowd that could have shown otherwise."""
        return self.is_within and self.attentive >= ATTENTIVE

    @property
    def differs(self) -> bool:
        """Shown to differ somewhere; a model may match and differ, if it differs by less than the margins."""
        return bool(self.significant.any())

    @property
    def above(self) -> tuple[Range, ...]:
        """Ranges where the model is above people."""
        return self._where(self.significant & (self.estimate > 0.0))

    @property
    def below(self) -> tuple[Range, ...]:
        """Ranges where the model is below people."""
        return self._where(self.significant & (self.estimate < 0.0))

    def interval(self, level: float) -> Range:
        """Interval of the mean difference over everything measured, within [-1, 1]."""
        reach = float(stdtrit(self.degrees_of_freedom[0], (1.0 + level) / 2.0) * self.standard_error[0])
        return max(float(self.estimate[0]) - reach, -1.0), min(float(self.estimate[0]) + reach, 1.0)

    @property
    def answers_to_match(self) -> int:
        """Answers with which a model without any difference would match with power `POWER`, if people grow with them.

        Windows overlap and err together: the power is planned for each.
        """
        margins = np.full(len(self.estimate), self.window_margin)
        margins[0] = self.margin
        needed = (ndtri(1.0 - ALPHA) + ndtri((1.0 + POWER) / 2.0)) * self.standard_error / margins
        return self._at_least(float(needed.max()))

    @property
    def answers_to_differ(self) -> int:
        """Answers with which a difference of `TRUE_GAP` in area would be found with power `POWER`."""
        return self._at_least(float((self.critical + ndtri(POWER)) * self.standard_error[0] / TRUE_GAP))

    def _at_least(self, factor: float) -> int:
        return int(np.ceil(self.answers * max(factor**2, 1.0)))

    def _where(self, chosen: BoolArray) -> tuple[Range, ...]:
        """Union of the chosen windows; of everything measured where that alone was chosen."""
        found = [one for one, is_in in zip(self.ranges[1:], chosen[1:], strict=True) if is_in]
        if not found and chosen[0]:
            return (self.ranges[0],)
        merged: list[Range] = []
        for start, end in found:
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return tuple(merged)


@dataclass(frozen=True, eq=False)
class ModelBesidePeople:
    """A model beside people on all corruptions: what each says, and the mean of their areas.

    Parameters
    ----------
    corruptions : mapping of name to Beside
    difference, standard_error, degrees_of_freedom : float
        Mean over corruptions of the mean differences: model minus people.
    """

    corruptions: Mapping[str, Beside]
    difference: float
    standard_error: float
    degrees_of_freedom: float

    @property
    def matches(self) -> bool:
        """It matches on each (intersection-union, at the level of one)."""
        return all(one.matches for one in self.corruptions.values())

    @property
    def differs_on(self) -> tuple[str, ...]:
        """Corruptions on which it differs, after the correction over the family."""
        return tuple(name for name, one in self.corruptions.items() if one.differs)

    def interval(self, level: float) -> Range:
        """Interval of the mean difference, within [-1, 1]."""
        reach = float(stdtrit(self.degrees_of_freedom, (1.0 + level) / 2.0) * self.standard_error)
        return max(self.difference - reach, -1.0), min(self.difference + reach, 1.0)


def beside_people(
    people: Mapping[str, AnswersToOne],
    models: Mapping[str, Mapping[str, AnswersToOne]],
    *,
    attentive: Mapping[str, float],
    conditions: frozenset[str] = frozenset(),
    margin: float = MARGIN,
    window_margin: float = BAND_MARGIN,
    level: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
) -> dict[str, ModelBesidePeople]:
    """Compare every model with people on every corruption that both answered, as one family.

    Parameters
    ----------
    people : mapping of corruption to AnswersToOne
    models : mapping of model to mapping of corruption to AnswersToOne
    attentive : mapping of corruption to float
        Lower bound of the share of people's answers that came from looking (`attentive_share`); 0 where it is missing.
    conditions : frozenset of str
        Corruptions that are published experiments with few conditions: each condition stands for a window.
    margin, window_margin : float
        Largest difference of the mean over everything measured, and over a window, that counts as equal.
    level : float
        1 minus the chance that any difference is claimed falsely.
    seed, draws : int
        Of the joint draws, and how many; `matches` needs none of them.

    Returns
    -------
    dict of model to ModelBesidePeople
        Models without a common corruption are left out.

    Notes
    -----
    People are the mean over people (each counts once) in cells of the axis, models the mean over their pictures in the
    same cells; no curve is drawn in between, so that nothing is smoothed away and no refits are needed. The error of a
    difference is linear in the answers; its variance is two-way over people and originals (Cameron, Gelbach and Miller
    2011), with t quantiles by Satterthwaite. The largest statistic of the family is drawn with one normal multiplier
    a person and an original (Chernozhukov, Chetverikov and Kato 2013, Ann. Statist. 41, 2786), so that models on the
    same pictures move together. Equivalence: two one-sided tests on every window (Schuirmann 1987; Berger 1982).
    """
    pairs: list[_Pair] = []
    for corruption, theirs in people.items():
        for model, answered in models.items():
            own = answered.get(corruption)
            if own is None:
                continue
            make = condition_contrasts if corruption in conditions else window_contrasts
            contrasts = make(theirs.place, own.place)
            if contrasts is not None:
                pairs.append(_pair(model, corruption, theirs, own, contrasts))
    if not pairs:
        return {}
    significant, critical = _family(pairs, level=level, seed=seed, n_draws=draws)
    found: dict[str, dict[str, Beside]] = {model: {} for model in models}
    for pair, chosen in zip(pairs, significant, strict=True):
        found[pair.model][pair.corruption] = _beside(
            pair, chosen, critical, attentive.get(pair.corruption, 0.0), margin, window_margin
        )
    means = {model: _mean([pair for pair in pairs if pair.model == model]) for model in found if found[model]}
    return {
        model: ModelBesidePeople(
            found[model], float(estimate), float(spread.standard_error[0]), float(spread.degrees_of_freedom[0])
        )
        for model, (estimate, spread) in means.items()
    }


@dataclass(frozen=True, eq=False)
class _Pair:
    """One model on one corruption: contributions in cells, and contrasts over them."""

    model: str
    corruption: str
    contrasts: Contrasts
    by_original: SumsOfNames
    human: CellMeans
    estimate: FloatArray
    spread: Clustered
    #: Variance of the sums over people and over originals together, before what both count is taken off.
    both: FloatArray
    answers: int

    @property
    def matrix(self) -> FloatArray:
        return self.contrasts.matrix


def _pair(model: str, corruption: str, people: AnswersToOne, own: AnswersToOne, contrasts: Contrasts) -> _Pair:
    if not np.isfinite(contrasts.edges).all():
        places = np.asarray([place for place, _ in contrasts.ranges[1:]])
        people, own = (one.select(np.isin(one.place, places)) for one in (people, own))
    human, network = people.by_cell(contrasts.edges), own.by_cell(contrasts.edges)
    matrix = contrasts.matrix
    estimate = matrix @ np.nan_to_num(network.means) - matrix @ np.nan_to_num(human.means)
    by_original = _by_original(human, network)
    sums = [by_original.sums @ matrix.T]
    if human.people is not None:
        sums.append(human.people.sums @ matrix.T)
    spread = clustered(sums, matrix**2 @ human.singles)
    floor = _NOTHING + sum(_alike_variance(one, matrix) for one in (human, network))
    spread = replace(spread, variance=np.maximum(spread.variance, floor))
    both = sum((one**2).sum(axis=0) for one in sums)
    return _Pair(model, corruption, contrasts, by_original, human, estimate, spread, np.asarray(both), len(people))


def _by_original(human: CellMeans, network: CellMeans) -> SumsOfNames:
    """Contributions of originals to the difference."""
    names = np.union1d(human.originals.names, network.originals.names)
    return SumsOfNames(names, network.originals.among(names) - human.originals.among(names))


def _alike_variance(side: CellMeans, matrix: FloatArray) -> FloatArray:
    """Least variance of windows in which all answers of one side were alike, shape (windows,).

    However many answers agree, the next may not: half an answer more of the other kind, as if each were independent.
    """
    inside = matrix > 0.0
    count, right = inside @ side.counts, inside @ side.right
    alike = (right == 0.0) | (right == count)
    rate = 0.5 / (count + 1.0)
    return np.where(alike, rate * (1.0 - rate) / np.maximum(count, 1.0), 0.0)


def _family(pairs: Sequence[_Pair], *, level: float, seed: int, n_draws: int) -> tuple[list[BoolArray], float]:
    """Which estimates of each pair differ from 0, by one step-down over all."""
    rng = np.random.default_rng(seed)
    originals = np.unique(np.concatenate([pair.by_original.names for pair in pairs]))
    persons = [pair.human.people.names for pair in pairs if pair.human.people is not None]
    people = np.unique(np.concatenate(persons)) if persons else np.empty(0, dtype=np.str_)
    # float32: what it rounds off is far below the Monte Carlo error of the quantile
    by_original = rng.standard_normal((len(originals), n_draws), dtype=np.float32)
    by_person = rng.standard_normal((len(people), n_draws), dtype=np.float32)
    draws, statistics = [], []
    for pair in pairs:
        moved = _moved(pair.by_original, originals, by_original)
        if pair.human.people is not None:
            moved = moved - _moved(pair.human.people, people, by_person)
        # Contributions that cancel leave rounding errors of float32 alone.
        scale = np.where(pair.both > _NOTHING, np.sqrt(pair.both), 0.0)
        drawn = pair.matrix.astype(np.float32) @ moved
        drawn = np.divide(drawn, scale[:, None], out=np.zeros_like(drawn), where=scale[:, None] > 0.0)
        draws.append(np.abs(drawn).T)
        statistics.append(_normal_scores(pair))
    rejected, critical = stepdown(np.concatenate(statistics), np.concatenate(draws, axis=1), 1.0 - level)
    ends = np.cumsum([len(pair.estimate) for pair in pairs])
    return list(np.split(rejected, ends[:-1])), critical


def _moved(own: SumsOfNames, names: NDArray[np.str_], multipliers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cells as the multipliers of these names move them, shape (cells, draws)."""
    chosen = multipliers if len(own.names) == len(names) else multipliers[np.searchsorted(names, own.names)]
    return np.asarray(own.sums.T.astype(np.float32) @ chosen)


def _normal_scores(pair: _Pair) -> FloatArray:
    """|t| as the normal deviate of the same tail: t of 5 degrees of freedom and of 500 stand on one scale."""
    error = pair.spread.standard_error
    ratio = np.divide(np.abs(pair.estimate), error, out=np.zeros_like(error), where=error > 0.0)
    tail = np.maximum(stdtr(pair.spread.degrees_of_freedom, -ratio), 1e-300)
    return np.asarray(np.where(tail < 0.5, -ndtri(tail), 0.0))


def _beside(
    pair: _Pair, significant: BoolArray, critical: float, attentive: float, margin: float, window_margin: float
) -> Beside:
    reach = pair.spread.reach(1.0 - 2.0 * ALPHA)
    lower, upper = pair.estimate - reach, pair.estimate + reach
    margins = np.full(len(lower), window_margin)
    margins[0] = margin
    is_within = not pair.contrasts.gaps and bool(np.all((lower > -margins) & (upper < margins)))
    return Beside(
        ranges=pair.contrasts.ranges,
        gaps=pair.contrasts.gaps,
        estimate=pair.estimate,
        standard_error=pair.spread.standard_error,
        degrees_of_freedom=pair.spread.degrees_of_freedom,
        lower=lower,
        upper=upper,
        significant=significant,
        is_within=is_within,
        attentive=attentive,
        critical=critical,
        answers=pair.answers,
        margin=margin,
        window_margin=window_margin,
    )


def _mean(pairs: Sequence[_Pair]) -> tuple[float, Clustered]:
    """Mean over corruptions of a model's mean differences, with the spread that shared people and originals give it."""
    share = 1.0 / len(pairs)
    estimate = sum(float(pair.estimate[0]) for pair in pairs) * share
    sums = [share * _added([(pair.by_original, pair.matrix[0]) for pair in pairs])]
    of_people = [(pair.human.people, pair.matrix[0]) for pair in pairs if pair.human.people is not None]
    if of_people:
        sums.append(share * _added(of_people))
    singles = share**2 * sum(float(pair.matrix[0] ** 2 @ pair.human.singles) for pair in pairs)
    return estimate, clustered(sums, np.array([singles]))


def _added(parts: Sequence[tuple[SumsOfNames, FloatArray]]) -> FloatArray:
    """Contributions of names to a contrast over all parts, shape (names, 1)."""
    _, codes = np.unique(np.concatenate([own.names for own, _ in parts]), return_inverse=True)
    totals = np.bincount(codes, np.concatenate([own.sums @ contrast for own, contrast in parts]))
    return totals.astype(np.float64)[:, None]
