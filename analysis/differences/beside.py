"""Models beside people: where a model differs, and whether it matches, over models, corruptions and windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from analysis.arrays import BoolArray, FloatArray
from analysis.claims.models import POWER, TRUE_GAP
from analysis.clusters import Clustered, clustered
from analysis.differences.answers import AnswersToOne, CellMeans, SumsOfNames, added
from analysis.differences.family import DRAWS, Estimates, which_differ
from analysis.differences.windows import Contrasts, Range, contrasts_of
from analysis.labels.files import default_labels
from analysis.study.analysis_plan import BAND_MARGIN, LEVEL, MARGIN

#: A crowd of which less is certain could not have shown a difference: careless answers make everything alike.
ATTENTIVE = 0.8
#: Answers to pictures that are changed no more than this stand in for clean ones where nobody saw any.
_HARDLY_CHANGED = 0.15


def attentive_share(answers: AnswersToOne, *, choices: float | None = None, level: float = LEVEL) -> float:
    """Lower bound of the share of answers that came from looking, from pictures that anybody can name.

    Parameters
    ----------
    answers : AnswersToOne
        People's answers to clean pictures, or to the least changed ones.
    choices : float, optional
        Labels between which they chose on trials without options of their own, 1 over the chance of a guess; by default
        those of the product's labels.
    level : float
        One-sided, in (0, 1).

    Returns
    -------
    float
        In [0, 1]; 0 with fewer than two people or originals.

    Notes
    -----
    Who does not look is right as often as by chance c, 1 of ``choices``, or `AnswersToOne.chance`; who looks is right
    in at most all: the share is at least ``(accuracy - c) / (1 - c)``. The accuracy is the mean over people, its bound
    two-way over people and originals.
    """
    if answers.people is None or min(len(answers.people.names), len(answers.originals.names)) < 2:
        return 0.0
    cell = answers.by_cell(np.array([-np.inf, np.inf]))
    sums = [one.sums.toarray() for one in (cell.people, cell.originals) if one is not None]
    rate = float(cell.means[0])
    spread = clustered(sums, cell.singles)
    if rate in (0.0, 1.0):
        # all alike: the exact bound of so many people (Clopper and Pearson 1934)
        least = float((1.0 - level) ** (1.0 / len(answers.people.names))) if rate == 1.0 else 0.0
    else:
        least = rate - float(spread.reach(2.0 * level - 1.0)[0])
    chance = answers.chance
    if chance is None:
        chance = 1.0 / (choices or len(default_labels()))
    return float(np.clip((least - chance) / (1.0 - chance), 0.0, 1.0))


def least_changed(answers: AnswersToOne) -> AnswersToOne:
    """Answers to the least changed pictures, which stand in for clean ones where nobody saw any."""
    return answers.select(answers.place <= max(_HARDLY_CHANGED, float(answers.place.min())))


def attentive_shares(
    answers: Mapping[str, AnswersToOne],
    clean: AnswersToOne | None,
    scales: frozenset[str] = frozenset(),
    *,
    choices: float | None = None,
) -> dict[str, float]:
    """How much of people's answers to each corruption surely came from looking.

    Parameters
    ----------
    answers : mapping of corruption to AnswersToOne
        Whether they were right.
    clean : AnswersToOne or None
        To clean pictures, if there are any.
    scales : frozenset of str
        Published experiments without clean pictures of their own: from their least changed ones.
    choices : float, optional
        As in `attentive_share`.
    """
    shared = None if clean is None else attentive_share(clean, choices=choices)
    return {
        name: attentive_share(least_changed(own), choices=choices) if shared is None or name in scales else shared
        for name, own in answers.items()
    }


#: One-sided level of either half of equivalence.
ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class Beside:
    """One set of answers beside another on the same axis: mean performance of the first minus that of the second.

    Of a model beside people on one corruption, or of one corruption beside another.

    Parameters
    ----------
    ranges : tuple of (float, float)
        What each entry of the arrays covers: everything measured, then the windows.
    gaps : tuple of (float, float)
        Stretches between that were not measured: nothing is said about them, so nothing matches.
    estimate, standard_error, degrees_of_freedom : ndarray, shape (1 + windows,)
    lower, upper : ndarray, shape (1 + windows,)
        90 % intervals, each for itself: the two match where all lie within the margins.
    significant : ndarray of bool, shape (1 + windows,)
        Where they differ, corrected over everything that was asked together.
    attentive : float
        Lower bound of the share of people's answers that came from looking.
    critical : float
        Standard errors that a first difference in the family needs.
    answers : int
        Answers of people, or of both corruptions.
    margin, window_margin : float
    correlation : callable
        Gives that of the errors, shape (1 + windows, 1 + windows).
    """

    ranges: tuple[Range, ...]
    gaps: tuple[Range, ...]
    estimate: FloatArray
    standard_error: FloatArray
    degrees_of_freedom: FloatArray
    lower: FloatArray
    upper: FloatArray
    significant: BoolArray
    attentive: float
    critical: float
    answers: int
    margin: float
    window_margin: float
    correlation: Callable[[], FloatArray]

    @property
    def margins(self) -> FloatArray:
        """Margin of each entry, shape (1 + windows,)."""
        return np.concatenate([[self.margin], np.full(len(self.estimate) - 1, self.window_margin)])

    @property
    def is_within(self) -> bool:
        """All intervals lie within the margins, and nothing between was left out."""
        return not self.gaps and bool(np.all((self.lower > -self.margins) & (self.upper < self.margins)))

    @property
    def matches(self) -> bool:
        """Shown to be alike, by a crowd that could have shown otherwise."""
        return self.is_within and self.attentive >= ATTENTIVE

    @property
    def differs(self) -> bool:
        """Shown to differ somewhere; the two may match and differ, if they differ by less than the margins."""
        return bool(self.significant.any())

    @property
    def above(self) -> tuple[Range, ...]:
        """Ranges where the first is above the second."""
        return self._where(self.significant & (self.estimate > 0.0))

    @property
    def below(self) -> tuple[Range, ...]:
        """Ranges where the first is below the second."""
        return self._where(self.significant & (self.estimate < 0.0))

    def interval(self, level: float) -> Range:
        """Interval of the mean difference over everything measured, within [-1, 1]."""
        reach = float(stdtrit(self.degrees_of_freedom[0], (1.0 + level) / 2.0) * self.standard_error[0])
        return max(float(self.estimate[0]) - reach, -1.0), min(float(self.estimate[0]) + reach, 1.0)

    @property
    def answers_to_match(self) -> int:
        """Answers with which the two would match with power `POWER` if they did not differ, if people grow with them.

        All intervals have to lie within the margins at once: windows that overlap err together, others do not. The
        errors are drawn with their correlation, and for each draw the standard errors are sought that keep all within.
        """
        value, vector = np.linalg.eigh(self.correlation())
        drawn = np.random.default_rng(0).standard_normal((DRAWS, len(value))) * np.sqrt(np.maximum(value, 0.0))
        farthest = np.abs(drawn @ vector.T) + ndtri(1.0 - ALPHA)
        needed = (farthest * (self.standard_error / self.margins)).max(axis=1)
        return self._at_least(float(np.quantile(needed, POWER)))

    @property
    def answers_to_differ(self) -> int:
        """Answers with which a difference of `TRUE_GAP` in mean accuracy would be found with power `POWER`."""
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
    """A model beside people on all corruptions: what each says, and the mean over them.

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
    level: float = LEVEL,
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
    2011), with t quantiles by Satterthwaite. The largest statistic of the family is drawn jointly for all
    members (Chernozhukov, Chetverikov and Kato 2013, Ann. Statist. 41, 2786), so that models on the same pictures move
    together. Equivalence: two one-sided tests on every window (Schuirmann 1987; Berger 1982).
    """
    pairs = compared_pairs(people, models, conditions)
    if not pairs:
        return {}
    family = [pair.differences for pair in pairs]
    decided = which_differ(family, level=level, seed=seed, n_draws=draws)
    found: dict[str, dict[str, Beside]] = {model: {} for model in models}
    for pair, chosen in zip(pairs, decided.differ, strict=True):
        found[pair.model][pair.corruption] = pair.judged(
            chosen, decided.critical, attentive.get(pair.corruption, 0.0), margin, window_margin
        )
    means = {model: _mean([pair for pair in pairs if pair.model == model]) for model in found if found[model]}
    return {
        model: ModelBesidePeople(
            found[model], float(estimate), float(spread.standard_error[0]), float(spread.degrees_of_freedom[0])
        )
        for model, (estimate, spread) in means.items()
    }


def compared_pairs(
    people: Mapping[str, AnswersToOne],
    models: Mapping[str, Mapping[str, AnswersToOne]],
    conditions: frozenset[str] = frozenset(),
) -> list[Pair]:
    """Every model on every corruption that it and people answered on a common stretch; arguments of `beside_people`."""
    pairs: list[Pair] = []
    for corruption, theirs in people.items():
        for model, answered in models.items():
            own = answered.get(corruption)
            if own is None:
                continue
            contrasts = contrasts_of(theirs, own, has_conditions=corruption in conditions)
            if contrasts is not None:
                pairs.append(_pair(model, corruption, theirs, own, contrasts))
    return pairs


@dataclass(frozen=True, eq=False)
class Pair:
    """One model on one corruption: contrasts over cells, and what is estimated of them."""

    model: str
    corruption: str
    contrasts: Contrasts
    human: CellMeans
    differences: Estimates
    answers: int

    def judged(
        self, significant: BoolArray, critical: float, attentive: float, margin: float, window_margin: float
    ) -> Beside:
        """What is said of it, once it is known which of its differences are not 0."""
        return beside_of(
            self.differences,
            self.contrasts,
            significant=significant,
            critical=critical,
            attentive=attentive,
            answers=self.answers,
            margin=margin,
            window_margin=window_margin,
        )


def _pair(model: str, corruption: str, people: AnswersToOne, own: AnswersToOne, contrasts: Contrasts) -> Pair:
    human, network = contrasts.cells_of(people), contrasts.cells_of(own)
    differences = minus(network, human, contrasts.matrix)
    return Pair(model, corruption, contrasts, human, differences, int(human.counts.sum()))


def minus(first: CellMeans, second: CellMeans, matrix: FloatArray) -> Estimates:
    """First minus second, contrasted.

    Parameters
    ----------
    first, second : CellMeans
        In the same cells; equal names are the same originals and people.
    matrix : ndarray, shape (q, cells)
    """
    sums = {"original": _difference(first.originals, second.originals)}
    nobody = SumsOfNames.of_nobody(matrix.shape[1])
    if first.people is not None or second.people is not None:
        sums["person"] = _difference(first.people or nobody, second.people or nobody)
    return Estimates.of(
        matrix @ np.nan_to_num(first.means) - matrix @ np.nan_to_num(second.means),
        matrix,
        sums,
        matrix**2
        @ sum((side.singles for side in (first, second) if side.people is not None), start=np.zeros(matrix.shape[1])),
        first.least_variance(matrix) + second.least_variance(matrix),
    )


def _difference(first: SumsOfNames, second: SumsOfNames) -> SumsOfNames:
    """Contributions of names to the difference."""
    names = np.union1d(first.names, second.names)
    return SumsOfNames(names, first.among(names) - second.among(names))


def beside_of(
    differences: Estimates,
    contrasts: Contrasts,
    *,
    significant: BoolArray,
    critical: float,
    attentive: float,
    answers: int,
    margin: float,
    window_margin: float,
) -> Beside:
    """What differences say, once it is decided which of them are significant; see `Beside`."""
    spread = differences.spread
    reach = spread.reach(1.0 - 2.0 * ALPHA)
    return Beside(
        ranges=contrasts.ranges,
        gaps=contrasts.gaps,
        estimate=differences.values,
        standard_error=spread.standard_error,
        degrees_of_freedom=spread.degrees_of_freedom,
        lower=differences.values - reach,
        upper=differences.values + reach,
        significant=significant,
        attentive=attentive,
        critical=critical,
        answers=answers,
        margin=margin,
        window_margin=window_margin,
        correlation=lambda: differences.correlation,
    )


def _mean(pairs: Sequence[Pair]) -> tuple[float, Clustered]:
    """Mean over corruptions of a model's mean differences, with the spread that shared people and originals give it."""
    share = 1.0 / len(pairs)
    every = [pair.differences for pair in pairs]
    estimate = sum(float(one.values[0]) for one in every) * share
    sums = []
    for unit in ("original", "person"):
        parts = [(one.sums[unit], one.matrix[0]) for one in every if unit in one.sums]
        if parts:
            sums.append(share * added(parts).sums.toarray())
    singles = share**2 * sum(float(pair.contrasts.matrix[0] ** 2 @ pair.human.singles) for pair in pairs)
    return estimate, clustered(sums, np.array([singles]))
