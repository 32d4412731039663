"""Are two corruptions alike for an observer? Equivalence and difference of mean performance, window by window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from analysis.arrays import FloatArray
from analysis.claims.claim import too_few_words
from analysis.claims.corruptions import Verdict, verdict_words
from analysis.differences.answers import AnswersToOne, CellMeans, SumsOfNames, side_by_side
from analysis.differences.beside import ATTENTIVE, Beside, beside_of, minus
from analysis.differences.family import DRAWS, Estimates, which_differ
from analysis.differences.windows import Contrasts, contrasts_of
from analysis.figures.rows import estimates_figure
from analysis.figures.value import Axis, Shaded
from analysis.similarity.verdicts import verdict_of
from analysis.study.analysis_plan import BAND_MARGIN, MARGIN
from analysis.wording import one_row, plot_figure, screen, with_interval

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd

Interval = tuple[float, float]
Pair = tuple[str, str]


@dataclass(frozen=True)
class CurveSimilarity:
    """What the answers to two corruptions say about each other on the range that both measured.

    Parameters
    ----------
    difference : float
        Mean performance on the first corruption minus the second over everything that both measured.
    standard_error : float
    interval : tuple of float
        90 % interval of the difference; inside +-margin it is one half of equivalence.
    band : tuple of float
        Lowest and highest end of the 90 % intervals of the windows, each for itself; inside +-band_margin they are the
        other half.
    span : tuple of float
        From the start to the end of what both measured.
    gaps : tuple of tuple of float
        Stretches between that were not measured: nothing is said about them, so nothing is equivalent.
    higher_on, lower_on : tuple of tuple of float
        Where the first was shown to be higher, and lower, than the second.
    p : float
        Probability of such a mean difference between equal corruptions, for itself.
    p_adjusted : float
        Of the most telling window, after the correction over all windows and pairs asked about.
    attentive : float
        Lower bound of the share of answers that came from looking: margins hold for these, so that what all answers
        may differ by is the margin times this share.
    area_equivalent, band_equivalent : bool
        The two halves of equivalence.
    equivalent, different : bool
        What was shown; both may be (a difference within the margins).
    verdict : {"equivalent", "different", "undecided"}
    statement : str
        The verdict in words.
    answers : int
        Answers on which the pair rests.
    answers_to_decide : int or None
        Answers with which corruptions without any difference would be shown to be equivalent with power .8; None where
        the verdict is not open.
    answers_to_differ : int or None
        The same for a difference of .05 in the mean to be shown.
    margin, band_margin, alpha : float
    people : int
        Who answered on the corruption that fewer did; 0 of a model.
    """

    difference: float
    standard_error: float
    interval: Interval
    band: Interval
    span: Interval
    gaps: tuple[Interval, ...]
    higher_on: tuple[Interval, ...]
    lower_on: tuple[Interval, ...]
    p: float
    p_adjusted: float
    attentive: float
    area_equivalent: bool
    band_equivalent: bool
    equivalent: bool
    different: bool
    verdict: Verdict
    statement: str
    answers: int
    answers_to_decide: int | None
    answers_to_differ: int | None
    margin: float
    band_margin: float
    alpha: float
    people: int

    def __repr__(self) -> str:
        """The verdict, and the difference it rests on."""
        return f"<CurveSimilarity: {self.verdict}, difference {with_interval(self.difference, self.interval)}>"

    def summary(self) -> str:
        """One screen of text: verdict, difference and windows beside their margins, the correction."""
        low, high = self.span
        p = "p < 0.001" if self.p_adjusted < 0.001 else f"p = {self.p_adjusted:.3f}"
        return screen(
            f"Two corruptions: {self.statement}",
            (
                ("mean difference", f"{with_interval(self.difference, self.interval)}, 90 %; margin ±{self.margin:g}"),
                ("windows of .15", f"{self.band[0]:+.3f} to {self.band[1]:+.3f}, 90 %; margin ±{self.band_margin:g}"),
                ("difference shown", f"{p} over all windows and pairs, level {self.alpha:g}"),
                ("first higher", _ranges(self.higher_on)),
                ("first lower", _ranges(self.lower_on)),
                ("on", f"Δv {low:.2f} to {high:.2f}, which both measured"),
                ("not measured", _ranges(self.gaps)),
                ("answers", f"{self.answers:,}"),
            ),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row: every attribute, a pair of numbers in two columns (``lower``, ``upper``: of the difference)."""
        return one_row(
            {
                one.name: _ranges(value) if one.name in ("gaps", "higher_on", "lower_on") else value
                for one in fields(self)
                for value in (getattr(self, one.name),)
            }
        )

    def plot(self, ax: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """Draw mean and windows of the difference in units of their margins, on axes that are made if not given."""
        mean, band = (
            (ends[0] / margin, ends[1] / margin)
            for ends, margin in ((self.interval, self.margin), (self.band, self.band_margin))
        )
        reach = 1.1 * max(1.0, *map(abs, mean + band))
        figure = estimates_figure(
            [
                (f"mean (margin {self.margin:g})", self.difference / self.margin, mean),
                (f"windows (margin {self.band_margin:g})", self.difference / self.band_margin, band),
            ],
            title="Difference of two corruptions",
            description=f"{self.statement}: mean difference {self.difference:+.3f}, 90 % interval "
            f"{self.interval[0]:+.3f} to {self.interval[1]:+.3f}.",
            x=Axis("difference in units of the margin; grey: within", (-reach, reach)),
            meaning="difference",
            shaded=(Shaded(-1.0, 1.0, "within the margin"),),
            notes=(
                "Dots: mean difference. Lines: its 90 % interval, and the ends of those of all windows. Grey: within.",
            ),
        )
        return plot_figure(figure, ax)


def _ranges(ranges: Sequence[Interval]) -> str:
    return ", ".join(f"{low:.2f} to {high:.2f}" for low, high in ranges)


def compare_all(
    answers: Mapping[str, AnswersToOne],
    *,
    attentive: Mapping[str, float] | None = None,
    margin: float = MARGIN,
    band_margin: float = BAND_MARGIN,
    alpha: float = 0.05,
    seed: int = 0,
    draws: int = DRAWS,
) -> dict[Pair, CurveSimilarity]:
    """Compare every pair of corruptions for one population, as one family.

    Parameters
    ----------
    answers : mapping of corruption to AnswersToOne
        Equal names of originals, and of people, are the same ones.
    attentive : mapping of corruption to float, optional
        Lower bound of the share of answers that came from looking (`differences.beside.attentive_share`); 0 where it
        is missing. Without the mapping every answer counts as one, as those of a model do.
    margin, band_margin : float
        Largest difference of the mean, and of a window, that counts as equal.
    alpha : float
        Chance that any difference is claimed falsely.
    seed, draws : int
        Of the joint draws, and how many.

    Returns
    -------
    dict of pair of names (in the order given) to CurveSimilarity
        Pairs without a commonly measured stretch are left out.

    Notes
    -----
    No curve is fitted: what is compared are means over people (each counts once) in cells of visual change, averaged
    over windows of .15 and over everything measured; `differences.beside.beside_people` judges models by the same.
    Variances are two-way over people and originals (Cameron, Gelbach and Miller 2011), t quantiles by Satterthwaite.
    Difference: step-down over the largest statistic of all windows and pairs (Romano and Wolf 2005). Equivalence: two
    one-sided tests at .05 on the mean and on every window (Schuirmann 1987; Berger 1982). Who answers without looking
    is as often right on either corruption and shrinks their difference by the share of such answers, so the margins
    shrink with it, and below a share of .8 of answers from looking nothing is equivalent.
    """
    from scipy.special import stdtr

    members = _members(answers)
    if not members:
        return {}
    decided = which_differ([own for _, own in members.values()], level=1.0 - alpha, seed=seed, n_draws=draws)
    found = {}
    for number, (pair, (contrasts, own)) in enumerate(members.items()):
        looked = 1.0 if attentive is None else min(attentive.get(name, 0.0) for name in pair)
        beside = beside_of(
            own,
            contrasts,
            significant=decided.differ[number],
            critical=decided.critical,
            attentive=looked,
            answers=sum(len(answers[name]) for name in pair),
            margin=margin * max(looked, ATTENTIVE),
            window_margin=band_margin * max(looked, ATTENTIVE),
        )
        freedom, ratio = own.spread.degrees_of_freedom[0], abs(own.values[0]) / own.spread.standard_error[0]
        found[pair] = _similarity(
            beside,
            p=float(2.0 * stdtr(freedom, -ratio)),
            p_adjusted=float(decided.p[number].min()),
            margins=(margin, band_margin),
            alpha=alpha,
            people=_people(answers[name] for name in pair),
        )
    return found


def _people(both: Iterable[AnswersToOne]) -> int:
    """The smaller of two crowds; 0 of a model, which answers for itself."""
    return min((one.n_people for one in both if one.people is not None), default=0)


def _similarity(
    beside: Beside, *, p: float, p_adjusted: float, margins: tuple[float, float], alpha: float, people: int
) -> CurveSimilarity:
    too_few = too_few_words(people) if people else ""
    equivalent, different = beside.matches and not too_few, beside.differs and not too_few
    inside = (beside.lower > -beside.margins) & (beside.upper < beside.margins)
    verdict = verdict_of(equivalent=equivalent, different=different)
    is_open = verdict == "undecided" and not too_few  # more answers of the same people decide nothing
    difference = float(beside.estimate[0])
    return CurveSimilarity(
        difference=difference,
        standard_error=float(beside.standard_error[0]),
        interval=(float(beside.lower[0]), float(beside.upper[0])),
        band=(float(beside.lower[1:].min()), float(beside.upper[1:].max())),
        span=beside.ranges[0],
        gaps=beside.gaps,
        higher_on=beside.above,
        lower_on=beside.below,
        p=p,
        p_adjusted=p_adjusted,
        attentive=beside.attentive,
        area_equivalent=bool(inside[0]),
        band_equivalent=not beside.gaps and bool(inside[1:].all()),
        equivalent=equivalent,
        different=different,
        verdict=verdict,
        statement=verdict_words(
            verdict,
            differs=beside.differs,
            difference=difference,
            gaps=len(beside.gaps),
            careless=beside.is_within and not beside.matches,
            answers_to_match=beside.answers_to_match,
            answers_to_differ=beside.answers_to_differ,
            too_few=too_few,
        ),
        answers=beside.answers,
        answers_to_decide=beside.answers_to_match if is_open else None,
        answers_to_differ=beside.answers_to_differ if is_open else None,
        margin=margins[0],
        band_margin=margins[1],
        alpha=alpha,
        people=people,
    )


def _members(answers: Mapping[str, AnswersToOne]) -> dict[Pair, tuple[Contrasts, Estimates]]:
    """Differences of every pair with a commonly measured stretch."""
    contrasts = {
        pair: contrasts_of(*(answers[name] for name in pair), has_conditions=False) for pair in combinations(answers, 2)
    }
    common = {pair: own for pair, own in contrasts.items() if own is not None}
    cells = {(name, len(own.edges)): own.edges for pair, own in common.items() for name in pair}
    means = {key: answers[key[0]].by_cell(edges) for key, edges in cells.items()}
    columns = _Columns.of(means)
    return {
        pair: (own, columns.difference((pair[0], len(own.edges)), (pair[1], len(own.edges)), own.matrix))
        for pair, own in common.items()
    }


#: A corruption, and the number of edges of its cells.
_Key = tuple[str, int]


@dataclass(frozen=True, eq=False)
class _Columns:
    """Cells of all corruptions side by side: those of one original, or of one person, move together in every pair."""

    means: Mapping[_Key, CellMeans]
    starts: Mapping[_Key, int]
    sums: Mapping[str, SumsOfNames]
    count: int

    @classmethod
    def of(cls, means: Mapping[_Key, CellMeans]) -> _Columns:
        starts, count = {}, 0
        for key, own in means.items():
            starts[key] = count
            count += len(own.means)
        units = {
            "original": [own.originals for own in means.values()],
            "person": [own.people for own in means.values() if own.people is not None],
        }
        return cls(means, starts, {unit: side_by_side(own) for unit, own in units.items() if own}, count)

    def difference(self, first: _Key, second: _Key, matrix: FloatArray) -> Estimates:
        """First minus second corruption, contrasted."""
        one, two = self.means[first], self.means[second]
        own = minus(one, two, matrix)
        placed = np.zeros((len(matrix), self.count))
        placed[:, self.starts[first] :][:, : len(one.means)] = matrix
        placed[:, self.starts[second] :][:, : len(two.means)] = -matrix
        return replace(own, matrix=placed, sums=self.sums)
