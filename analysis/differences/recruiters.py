"""The crowds of several recruiters beside each other, and what people who came twice could do to the pooled mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil

import numpy as np
from scipy.special import ndtri, stdtrit

from analysis.arrays import FloatArray
from analysis.claims import claim
from analysis.claims.claim import too_few_words
from analysis.claims.recruiters import POWER, TRUE_GAP, RecruitersWord
from analysis.clusters import clustered
from analysis.differences.answers import AnswersToOne, CellMeans, SumsOfNames, side_by_side
from analysis.differences.beside import ALPHA, ATTENTIVE
from analysis.differences.family import DRAWS, Estimates, which_differ
from analysis.differences.windows import Contrasts, Range, contrasts_of
from analysis.study.analysis_plan import LEVEL, MARGIN

Pair = tuple[str, str]
#: A recruiter, a corruption, and the edges of its cells.
_Key = tuple[str, str, bytes]


@dataclass(frozen=True)
class CrowdsBeside:
    """The people of one recruiter beside those of another, over all corruptions.

    Parameters
    ----------
    difference, standard_error, degrees_of_freedom : float
        Mean accuracy of the first minus that of the second, and its spread.
    interval : tuple of float
        At 90 %: the two are alike where it lies within the margin.
    margin : float
        As asked for; that of the verdict is smaller by the share of answers that may not have come from looking.
    attentive : float
        Lower bound of the share of answers of either that came from looking.
    p : float
        Corrected over all pairs.
    critical : float
        Standard errors that a first difference in the family needs.
    corruptions : tuple of str
        Which both measured.
    has_gaps : bool
        A stretch, or a corruption, was measured by one alone or by neither.
    is_different : bool
    people : tuple of int
    """

    difference: float
    standard_error: float
    degrees_of_freedom: float
    interval: Range
    margin: float
    attentive: float
    p: float
    critical: float
    corruptions: tuple[str, ...]
    has_gaps: bool
    is_different: bool
    people: tuple[int, int]

    @property
    def is_within(self) -> bool:
        """The interval lies within the margin, and nothing between was left out."""
        margin = self.margin * max(self.attentive, ATTENTIVE)
        return not self.has_gaps and -margin < self.interval[0] and self.interval[1] < margin

    @property
    def is_alike(self) -> bool:
        """Shown to be alike, by crowds that could have shown otherwise."""
        return self.is_within and self.attentive >= ATTENTIVE and not self.too_few

    @property
    def too_few(self) -> str:
        """Why nothing is said of one of the crowds at large; empty where enough people answered."""
        return too_few_words(min(self.people))

    @property
    def word(self) -> RecruitersWord:
        """Shown to be alike wins over shown to differ: the difference is then within the margin."""
        if self.is_alike:
            return "alike"
        return "different" if self.is_different else "undecided"

    @property
    def times_to_match(self) -> float:
        """So many times the people would show crowds without any difference to be alike with power `POWER`."""
        needed = ndtri(1.0 - ALPHA) + ndtri((1.0 + POWER) / 2.0)
        return max(1.0, float((needed * self.standard_error / self.margin) ** 2))

    @property
    def times_to_differ(self) -> float:
        """So many times the people would find a difference of `TRUE_GAP` with power `POWER`."""
        return max(1.0, float(((self.critical + ndtri(POWER)) * self.standard_error / TRUE_GAP) ** 2))


def compare_recruiters(
    answers: Mapping[str, Mapping[str, AnswersToOne]],
    *,
    attentive: Mapping[str, float],
    conditions: frozenset[str] = frozenset(),
    margin: float = MARGIN,
    alpha: float = 0.05,
    seed: int = 0,
    draws: int = DRAWS,
) -> dict[Pair, CrowdsBeside]:
    """Compare the crowds of every two recruiters, as one family.

    Parameters
    ----------
    answers : mapping of recruiter to mapping of corruption to AnswersToOne
        Equal names of originals, and of people, are the same ones.
    attentive : mapping of recruiter to float
        Lower bound of the share of its people's answers that came from looking; 0 where it is missing.
    conditions : frozenset of str
        Corruptions that are published experiments with few conditions.
    margin : float
        Largest difference of the mean that counts as alike.
    alpha : float
        Chance that any difference is claimed falsely.
    seed, draws : int
        Of the joint draws, and how many.

    Returns
    -------
    dict of pair of recruiters to CrowdsBeside
        In the order given; pairs that measured nothing in common are left out.

    Notes
    -----
    As `beside_people` judges models: means over people (each counts once) in cells of the axis, no curve in between;
    variances two-way over people and originals (Cameron, Gelbach and Miller 2011), t quantiles by Satterthwaite; a
    step-down over the largest statistic of all pairs (Romano and Wolf 2005). Equivalence: two one-sided tests at .05
    on the mean over corruptions (Schuirmann 1987).
    """
    members = {
        pair: own
        for pair in combinations(answers, 2)
        if (own := _compared(answers[pair[0]], answers[pair[1]], conditions))
    }
    if not members:
        return {}
    cells = {
        (name, corruption, own.edges.tobytes()): own.cells_of(answers[name][corruption])
        for pair, contrasts in members.items()
        for corruption, own in contrasts.items()
        for name in pair
    }
    every = _differences(members, cells)
    decided = which_differ(list(every.values()), level=1.0 - alpha, seed=seed, n_draws=draws)
    return {
        pair: _judged(
            pair,
            answers,
            members[pair],
            own,
            is_different=bool(decided.differ[number][0]),
            p=float(decided.p[number][0]),
            critical=decided.critical,
            attentive=min(attentive.get(name, 0.0) for name in pair),
            margin=margin,
        )
        for number, (pair, own) in enumerate(every.items())
    }


def _compared(
    first: Mapping[str, AnswersToOne], second: Mapping[str, AnswersToOne], conditions: frozenset[str]
) -> dict[str, Contrasts]:
    """Corruptions that both measured somewhere."""
    common = {
        name: contrasts_of(first[name], second[name], has_conditions=name in conditions)
        for name in first
        if name in second
    }
    return {name: own for name, own in common.items() if own is not None}


def _differences(
    members: Mapping[Pair, Mapping[str, Contrasts]], cells: Mapping[_Key, CellMeans]
) -> dict[Pair, Estimates]:
    """First minus second of every pair, averaged over corruptions, over the columns of the whole family."""
    shared, found = _sums(cells), {}
    for pair, contrasts in members.items():
        rows = {
            (name, corruption, own.edges.tobytes()): sign / len(contrasts) * own.matrix[:1]
            for name, sign in zip(pair, (1.0, -1.0), strict=True)
            for corruption, own in contrasts.items()
        }
        means = {key: cells[key] for key in rows}
        own = Estimates.of(
            np.sum([row @ np.nan_to_num(means[key].means) for key, row in rows.items()], axis=0),
            np.concatenate(list(rows.values()), axis=1),
            _sums(means),
            np.sum([row**2 @ means[key].singles for key, row in rows.items()], axis=0),
            np.sum([means[key].least_variance(np.abs(row)) for key, row in rows.items()], axis=0) / len(contrasts) ** 2,
        )
        placed = [rows.get(key, np.zeros((1, len(one.means)))) for key, one in cells.items()]
        found[pair] = replace(own, matrix=np.concatenate(placed, axis=1), sums=shared)
    return found


def _sums(cells: Mapping[_Key, CellMeans]) -> dict[str, SumsOfNames]:
    """What originals and people contribute, cells side by side."""
    units = {
        "original": [own.originals for own in cells.values()],
        "person": [own.people for own in cells.values() if own.people is not None],
    }
    return {unit: side_by_side(own) for unit, own in units.items()}


def _judged(
    pair: Pair,
    answers: Mapping[str, Mapping[str, AnswersToOne]],
    contrasts: Mapping[str, Contrasts],
    own: Estimates,
    *,
    is_different: bool,
    p: float,
    critical: float,
    attentive: float,
    margin: float,
) -> CrowdsBeside:
    difference, reach = float(own.values[0]), float(own.spread.reach(1.0 - 2.0 * ALPHA)[0])
    first, second = (answers[name] for name in pair)
    people = people_in(first), people_in(second)
    return CrowdsBeside(
        difference=difference,
        standard_error=float(own.spread.standard_error[0]),
        degrees_of_freedom=float(own.spread.degrees_of_freedom[0]),
        interval=(difference - reach, difference + reach),
        margin=margin,
        attentive=attentive,
        p=p,
        critical=critical,
        corruptions=tuple(contrasts),
        has_gaps=first.keys() != second.keys()
        or len(contrasts) < len(first)
        or any(one.gaps for one in contrasts.values()),
        is_different=is_different and min(people) >= claim.FEWEST,
        people=people,
    )


def people_in(answers: Mapping[str, AnswersToOne]) -> int:
    """Different people over all corruptions."""
    return len({name for own in answers.values() if own.people is not None for name in own.people.names.tolist()})


@dataclass(frozen=True)
class Repeated:
    """What so many people who took part twice, unnoticed, could do to a pooled mean.

    Parameters
    ----------
    people : int
    shift : float
        Most by which the mean moves without their second sessions.
    width, width_at_most : float
        Of its interval as it stands, and if the sessions of each were known to be one person's.
    """

    people: int
    shift: float
    width: float
    width_at_most: float


def repeated(answers: AnswersToOne, share: float, *, level: float = LEVEL) -> Repeated | None:
    """Bound what repeats across recruiters could do to the mean over everything measured.

    Parameters
    ----------
    answers : AnswersToOne
        Of people of several recruiters.
    share : float
        Of the people: these may be somebody else's second time.
    level : float

    Returns
    -------
    Repeated or None
        None where nothing was measured, or all came from one recruiter.

    Notes
    -----
    Bounds and no estimates: nobody knows who the repeats are. The mean moves most where the second sessions are those
    that pull it most in one direction (their influences, to the first order). The variance grows most where those pairs
    of people of different recruiters are the same person whose influences have the largest products: a cluster of two
    adds twice the product to the sum of squares.
    """
    recruiters, crowd = answers.recruiters, answers.people
    contrasts = contrasts_of(answers, answers, has_conditions=False)
    if recruiters is None or crowd is None or contrasts is None:
        return None
    codes, row = recruiters.codes_of(crowd.names), contrasts.matrix[:1]
    if len(np.unique(codes)) < 2:
        return None
    cells = contrasts.cells_of(answers)
    sums = [one.sums @ row.T for one in (cells.people, cells.originals) if one is not None]
    spread = clustered(sums, row**2 @ cells.singles)
    # By how much the mean would fall without a person: the others of the same recruiter then count for that weight.
    influence = np.ravel(sums[0])
    influence = influence - (np.bincount(codes, influence) / np.maximum(np.bincount(codes), 1))[codes]
    # Nobody comes a second time through the recruiter of the first time.
    most = len(codes) - int(np.bincount(codes).max())
    count = min(ceil(share * len(codes)), most)
    ordered = np.sort(influence)
    shift = max(float(ordered[-count:].clip(min=0.0).sum()), float(-ordered[:count].clip(max=0.0).sum()))
    reach = float(stdtrit(spread.degrees_of_freedom[0], (1.0 + level) / 2.0))
    added = 2.0 * _largest_products(influence, codes, count) * len(codes) / (len(codes) - 1.0)
    variance = float(spread.variance[0])
    return Repeated(count, shift, 2.0 * reach * variance**0.5, 2.0 * reach * (variance + added) ** 0.5)


def _largest_products(influence: FloatArray, codes: np.ndarray, count: int) -> float:
    """Sum of the products of so many pairs of people of different recruiters, each in one pair, the largest first."""
    total, kinds = 0.0, np.unique(codes)
    left = {
        (sign, code): sorted((sign * influence[(codes == code) & (sign * influence > 0.0)]).tolist())
        for sign in (1.0, -1.0)
        for code in kinds.tolist()
    }
    for _ in range(count):
        pairs = [
            (left[sign, one][-1] * left[sign, other][-1], (sign, one), (sign, other))
            for sign in (1.0, -1.0)
            for one, other in combinations(kinds.tolist(), 2)
            if left[sign, one] and left[sign, other]
        ]
        if not pairs:
            break
        product, first, second = max(pairs)
        total += product
        left[first].pop()
        left[second].pop()
    return total
