"""Are two corruptions alike for an observer? Equivalence, difference, and the papers' overlap rule."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.curves.bands import normal_quantile
from analysis.curves.bootstrap import Bootstrap, Spread, pair_spread
from analysis.curves.curve import CurveFit
from analysis.errors import BandsMissing, GridMismatch, LabelSpaceMismatch, NoCommonRange
from analysis.similarity.overlap import bands_overlap
from analysis.similarity.permutation import CurveTrials, permutation_test, permutations_needed
from analysis.similarity.verdicts import Verdict, verdict_of
from analysis.spec.analysis_plan import BAND_MARGIN, MARGIN
from analysis.summaries import one_row, plot_figure, screen

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd

FloatArray = NDArray[np.float64]

#: Beyond this share of the spread, few people with many trials each rule it: their own bootstrap is the test then.
MOST_STRETCH = 1.2
_ONE_SIDED = 1.6448536269514722


@dataclass(frozen=True)
class CurveSimilarity:
    """What two curves say about each other on the range that both measured.

    Parameters
    ----------
    difference : float
        Mean height of the first curve minus the second on ``span`` (the difference of areas where that is [0, 1]).
    standard_error : float
    interval : tuple of float
        90 % interval of the difference; inside +-margin it is one half of equivalence.
    band : tuple of float
        Lowest and highest value of the 90 % simultaneous band of the difference of the curves; inside +-band_margin
        it is the other half.
    span : tuple of float
        The common measured range.
    p : float
        Probability of such a difference between equal curves.
    p_adjusted : float
        The same after Holm's correction for all pairs asked about.
    test : {"permutation", "bootstrap"}
    overlap_83 : bool
        The papers' rule with simultaneous bands: do the 83 % bands overlap at every visual change?
    overlap_83_pointwise : bool
        The rule as printed, with pointwise bands.
    area_equivalent, band_equivalent : bool
        The two halves of equivalence: the mean difference within +-margin, the whole curve within +-band_margin.
    equivalent, different : bool
        What was shown; both may be (a difference within the margins).
    verdict : {"equivalent", "different", "undecided"}
    answers : int
        Answers on which the pair rests.
    answers_to_decide : int or None
        Answers at which this difference would be decided, if undecided; None when decided, or when no number would do.
    margin, band_margin, alpha : float
    """

    difference: float
    standard_error: float
    interval: tuple[float, float]
    band: tuple[float, float]
    span: tuple[float, float]
    p: float
    p_adjusted: float
    test: Literal["permutation", "bootstrap"]
    overlap_83: bool
    overlap_83_pointwise: bool
    area_equivalent: bool
    band_equivalent: bool
    equivalent: bool
    different: bool
    verdict: Verdict
    answers: int
    answers_to_decide: int | None
    margin: float
    band_margin: float
    alpha: float

    @property
    def statement(self) -> str:
        """The verdict in words."""
        if self.equivalent and self.different:
            return f"equivalent, differs by {abs(self.difference):.3f}"
        return self.verdict

    def __repr__(self) -> str:
        """The verdict, and the difference it rests on."""
        from analysis.reporting.wording import with_interval

        return f"<CurveSimilarity: {self.statement}, difference {with_interval(self.difference, self.interval)}>"

    def summary(self) -> str:
        """One screen of text: verdict, difference and band beside their margins, the test."""
        from analysis.reporting.wording import with_interval

        low, high = self.span
        p = "p < 0.001" if self.p_adjusted < 0.001 else f"p = {self.p_adjusted:.3f}"
        return screen(
            f"Two curves: {self.statement}",
            (
                ("mean difference", f"{with_interval(self.difference, self.interval)}, 90 %; margin ±{self.margin:g}"),
                ("whole curve", f"{self.band[0]:+.3f} to {self.band[1]:+.3f}, 90 % band; margin ±{self.band_margin:g}"),
                ("test", f"{self.test}, {p} after correction, level {self.alpha:g}"),
                ("on", f"Δv {low:.2f} to {high:.2f}, which both curves measured"),
                ("83 % bands overlap", "yes" if self.overlap_83 else "no"),
                ("answers", f"{self.answers:,}"),
                ("answers to decide", "" if self.answers_to_decide is None else f"{self.answers_to_decide:,}"),
            ),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row: every attribute, a pair of numbers in two columns (``lower``, ``upper``: of the difference)."""
        return one_row({one.name: getattr(self, one.name) for one in fields(self)})

    def plot(self, ax: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """Draw interval and band of the difference in units of their margins, on axes that are made if not given."""
        from analysis.figures.results import curve_similarity_figure

        return plot_figure(curve_similarity_figure(self), ax)


def compare_curves(
    first: CurveFit,
    second: CurveFit,
    *,
    trials: tuple[CurveTrials, CurveTrials] | None = None,
    rng: np.random.Generator | int | None = None,
    margin: float = MARGIN,
    band_margin: float = BAND_MARGIN,
    alpha: float = 0.05,
    comparisons: int = 1,
) -> CurveSimilarity:
    """Compare two curves of one population over two corruptions.

    Parameters
    ----------
    first, second : CurveFit
        With bootstrap refits; fitted with one seed, shared originals and participants are resampled jointly.
    trials : tuple of CurveTrials, optional
        The trials of each: where they share no original and no participant, and people widen the difference by no more
        than a fifth, the test is a permutation test. Otherwise, or without them, it rests on the joint bootstrap.
    rng : numpy Generator, int or None
        Source of the permutations (None counts as 0).
    margin, band_margin : float
        Largest difference of mean height, and at any visual change, that counts as equal.
    alpha : float
        Level of the test.
    comparisons : int
        Pairs among which the p-value will be corrected: so many more permutations are made where it matters.

    Returns
    -------
    CurveSimilarity
        With ``p_adjusted`` equal to ``p``; `compare_all` corrects for many pairs.

    Raises
    ------
    BandsMissing
        If a curve was fitted without bootstrap.
    GridMismatch, LabelSpaceMismatch
        If the curves cannot be subtracted.
    NoCommonRange
        If they measured no common range of visual change.

    Notes
    -----
    Equivalence: two one-sided tests (Schuirmann 1987) at 0.05 on the mean difference, and the band, because areas of
    crossing curves can agree. Overlap of 83 % bands: VCR section 5, after Payton et al. (2003). The bootstrap test is
    the mean difference over its two-way standard error, against the normal distribution: its error rates, and those of
    the permutation test, are printed by ``python -m benchmarks.verdicts``.
    """
    span, boots = _comparable(first, second)
    contrast = first.basis.integral_design(*span) / (span[1] - span[0])
    pair = (*boots, first.coefficients, second.coefficients)
    mean = pair_spread(*pair, lambda one, two: (one - two) @ contrast)
    grid = np.linspace(*span, 201)
    design = first.basis.design(grid)
    gap = pair_spread(*pair, lambda one, two: (one - two) @ design.T)

    difference, error = float(mean.estimate), float(mean.standard_error)
    interval = (difference - _ONE_SIDED * error, difference + _ONE_SIDED * error)
    band = _band(gap)
    test: Literal["permutation", "bootstrap"] = "bootstrap"
    stretch = _people_stretch(first, second, contrast)
    if trials is not None and not trials[0].shares_with(trials[1]) and stretch <= MOST_STRETCH:
        generator = np.random.default_rng(0 if rng is None else rng)
        most = permutations_needed(comparisons, alpha)
        permuted = permutation_test(first, second, trials, span=span, rng=generator, most=most, stretch=stretch)
        test, p = "permutation", permuted.p
    else:
        p = _two_sided(difference, error)
    area_equivalent = max(abs(interval[0]), abs(interval[1])) < margin
    band_equivalent = max(abs(band[0]), abs(band[1])) < band_margin
    outcome = CurveSimilarity(
        difference=difference,
        standard_error=error,
        interval=interval,
        band=band,
        span=span,
        p=p,
        p_adjusted=p,
        test=test,
        overlap_83=bands_overlap(first, second, grid, simultaneous=True),
        overlap_83_pointwise=bands_overlap(first, second, grid, simultaneous=False),
        area_equivalent=area_equivalent,
        band_equivalent=band_equivalent,
        equivalent=area_equivalent and band_equivalent,
        different=False,
        verdict="undecided",
        answers=first.n_trials + second.n_trials,
        answers_to_decide=None,
        margin=margin,
        band_margin=band_margin,
        alpha=alpha,
    )
    return judged(outcome, p, comparisons=1)


def _comparable(first: CurveFit, second: CurveFit) -> tuple[tuple[float, float], tuple[Bootstrap, Bootstrap]]:
    if (first.config.segments, first.config.degree) != (second.config.segments, second.config.degree):
        raise GridMismatch
    if first.config.label_space != second.config.label_space:
        raise LabelSpaceMismatch
    if first.bootstrap is None or second.bootstrap is None:
        raise BandsMissing
    span = first.common_range(second)
    if span is None:
        raise NoCommonRange
    return span, (first.bootstrap, second.bootstrap)


def _band(gap: Spread) -> tuple[float, float]:
    """Extremes of the 90 % simultaneous band."""
    reach = gap.critical_value(0.90) * np.maximum(gap.standard_error, 1e-3)
    return float((gap.estimate - reach).min()), float((gap.estimate + reach).max())


def _two_sided(difference: float, error: float) -> float:
    """Normal p-value of a difference; curves without any spread differ surely or not at all."""
    from scipy.special import ndtr

    if error == 0.0:
        return 1.0 if difference == 0.0 else 0.0
    return float(2.0 * ndtr(-abs(difference) / error))


def _people_stretch(first: CurveFit, second: CurveFit, contrast: FloatArray) -> float:
    """Two-way standard error of the difference over that from originals alone, at least 1.

    A permutation of originals leaves the people where they are: it knows nothing of how they differ.
    """
    total = by_originals = 0.0
    for curve in (first, second):
        spread = curve.spread(contrast[None, :])
        if curve.bootstrap is None or spread is None or curve.bootstrap.leading != "image":
            return 1.0
        total += float(spread.standard_error[0]) ** 2
        by_originals += float((curve.bootstrap.draws["image"].astype(np.float64) @ contrast).var(ddof=1))
    return max(1.0, float(np.sqrt(total / by_originals))) if by_originals > 0.0 else 1.0


def judged(outcome: CurveSimilarity, p_adjusted: float, *, comparisons: int) -> CurveSimilarity:
    """Set everything that depends on the p-value corrected for so many comparisons."""
    different = p_adjusted < outcome.alpha
    verdict = verdict_of(equivalent=outcome.equivalent, different=different)
    needed = _answers_to_decide(outcome, comparisons) if verdict == "undecided" else None
    return replace(outcome, p_adjusted=p_adjusted, different=different, verdict=verdict, answers_to_decide=needed)


def _answers_to_decide(outcome: CurveSimilarity, comparisons: int) -> int | None:
    """Answers at which the present difference would be decided either way, standard errors falling as 1 / sqrt(n)."""
    size, error = abs(outcome.difference), outcome.standard_error
    if error == 0.0:
        return None
    factors = []
    if size > 0.0:
        factors.append((normal_quantile(1.0 - outcome.alpha / comparisons) * error / size) ** 2)
    highest = max(abs(outcome.band[0]), abs(outcome.band[1]))
    if size < outcome.margin:
        narrow = (_ONE_SIDED * error / (outcome.margin - size)) ** 2
        # The band must shrink as well: by the same rule, towards the difference itself.
        wide = ((highest - size) / (outcome.band_margin - size)) ** 2 if size < outcome.band_margin else np.inf
        factors.append(max(narrow, wide))
    if not factors:
        return None
    return int(np.ceil(outcome.answers * max(min(factors), 1.0)))
