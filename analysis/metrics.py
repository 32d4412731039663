"""Human against classifier: areas, leads, HMRI and MRSI, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.arrays import FloatArray
from analysis.curves.bootstrap import pair_spread
from analysis.curves.curve import CurveFit
from analysis.curves.spline import spline_basis
from analysis.curves.weighting import weighted_integrals, weighted_quadrature
from analysis.entry import Entry
from analysis.errors import GridMismatch, LabelSpaceMismatch
from analysis.figures.rows import estimates_figure
from analysis.figures.value import SOME_CLASSIFIER, Axis, Observer
from analysis.study.analysis_plan import LEVEL
from analysis.study.change_weights import ChangeWeights
from analysis.wording import one_row, plot_figure, screen, with_interval

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd

Interval = tuple[float, float]

_CELLS = 500


class Indices(Entry):
    """A classifier's curve beside the human one.

    Attributes
    ----------
    hmri : float
        Human-Relative Model Robustness Index: the share of the human area that the classifier reaches too, in [0, 1].
    mrsi : float
        Model Robustness Superiority Index: the share of the classifier's area above the human curve, in [0, 1].
    human_area, classifier_area : float
        Areas under the curves.
    human_lead, classifier_lead : float
        Area by which the human curve lies above the classifier's, and the other way round.
    level : float
        Level of the intervals.
    hmri_interval, mrsi_interval, human_lead_interval, classifier_lead_interval, area_difference_interval : tuple
        Percentile intervals of the joint bootstrap (area difference: human minus classifier); None without refits.
        Where neither observer is shown to exceed the other somewhere, the interval of that lead reaches down to 0
        (and MRSI's with it, HMRI's up to 1).
    exceeds, falls_short : tuple of (float, float) or None
        Ranges of visual change where the classifier was shown to be above people, and below: the windows of the
        verdict. None where there is no verdict. MRSI is positive by noise alone: only these ranges show that a
        classifier exceeds people.
    """

    hmri: float
    mrsi: float
    human_area: float
    classifier_area: float
    human_lead: float
    classifier_lead: float
    level: float = LEVEL
    hmri_interval: Interval | None = None
    mrsi_interval: Interval | None = None
    human_lead_interval: Interval | None = None
    classifier_lead_interval: Interval | None = None
    area_difference_interval: Interval | None = None
    exceeds: tuple[Interval, ...] | None = None
    falls_short: tuple[Interval, ...] | None = None

    def __repr__(self) -> str:
        """The two indices."""
        hmri, mrsi = with_interval(self.hmri, self.hmri_interval), with_interval(self.mrsi, self.mrsi_interval)
        return f"<Indices: HMRI {hmri}, MRSI {mrsi}>"

    def summary(self) -> str:
        """One screen of text: indices, areas and leads with their intervals."""
        difference = self.human_area - self.classifier_area
        return screen(
            "A classifier beside people",
            (
                ("HMRI", with_interval(self.hmri, self.hmri_interval)),
                ("MRSI", with_interval(self.mrsi, self.mrsi_interval)),
                ("area, people", f"{self.human_area:.3f}"),
                ("area, classifier", f"{self.classifier_area:.3f}"),
                ("people minus classifier", with_interval(difference, self.area_difference_interval)),
                ("people above", with_interval(self.human_lead, self.human_lead_interval)),
                ("classifier above", with_interval(self.classifier_lead, self.classifier_lead_interval)),
                ("shown above people at Δv", _ranges(self.exceeds)),
                ("shown below people at Δv", _ranges(self.falls_short)),
                ("intervals", f"{100 * self.level:g} %" if self.hmri_interval else "none: curves without n_bootstrap"),
                (
                    "verdict",
                    "" if self.exceeds is not None else "none: HMRI is below 1, and MRSI above 0, by noise alone",
                ),
            ),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row: every number, an interval in two columns ``..._lower`` and ``..._upper`` (NaN without refits)."""
        return one_row({name: getattr(self, name) for name in type(self).model_fields})

    def plot(self, ax: matplotlib.axes.Axes | None = None, *, observer: Observer | None = None) -> matplotlib.axes.Axes:
        """Draw HMRI and MRSI with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Made where none are given.
        observer : analysis.figures.value.Observer, optional
            Name and look of the classifier.

        Returns
        -------
        matplotlib Axes
        """
        observer = observer or SOME_CLASSIFIER
        figure = estimates_figure(
            [("HMRI", self.hmri, self.hmri_interval), ("MRSI", self.mrsi, self.mrsi_interval)],
            observer,
            title=f"{observer.name} beside people",
            description=f"HMRI {self.hmri:.3f}, MRSI {self.mrsi:.3f}.",
            x=Axis(f"index of {observer.name}", (-0.02, 1.02), (0.0, 0.25, 0.5, 0.75, 1.0)),
            meaning="index",
        )
        return plot_figure(figure, ax)


def compare(
    human: CurveFit,
    classifier: CurveFit,
    *,
    span: Interval = (0.0, 1.0),
    shown: tuple[bool, bool] | None = None,
    weights: ChangeWeights | None = None,
) -> Indices:
    """Compare a classifier's curve with the human curve.

    Parameters
    ----------
    human, classifier : CurveFit
        Curves over the same corruption and property. Fitted with one bootstrap seed they are resampled jointly.
    span : tuple of float
        Range of visual change within [0, 1] over which areas are taken.
    shown : tuple of bool, optional
        Whether the classifier was shown to be above people somewhere, and below (`analysis.differences`): a lead that
        was not shown has an interval that reaches down to 0. By default the simultaneous band of the difference tells.
    weights : ChangeWeights, optional
        Over visual change, on the whole axis: areas and leads are then means under them.

    Returns
    -------
    Indices

    Raises
    ------
    GridMismatch
        If the curves stand on different knots.
    LabelSpaceMismatch
        If the observers chose between different numbers of labels.

    Notes
    -----
    VCR section 3.3 and supplementary, Table 2: ``HMRI = (A_h - A^{h>m}) / A_h`` and ``MRSI = A^{m>h} / A_m``, so that
    ``A_h HMRI = A_m (1 - MRSI)``. The difference of two cubic splines on equal knots is a piecewise cubic: the leads
    are integrated exactly between its roots. Without any human area HMRI is 1 (nothing is missed); without any
    classifier area MRSI is 0.
    """
    _refuse_unequal(human, classifier)
    human_area = _area(human, span, weights)
    classifier_area = _area(classifier, span, weights)
    human_lead, classifier_lead = leads(human, classifier, span=span, weights=weights)
    level = human.config.level
    return Indices(
        # Areas near the smallest number there is round to more than the whole.
        hmri=max(1.0 - human_lead / human_area, 0.0) if human_area > 0.0 else 1.0,
        mrsi=min(classifier_lead / classifier_area, 1.0) if classifier_area > 0.0 else 0.0,
        human_area=human_area,
        classifier_area=classifier_area,
        human_lead=human_lead,
        classifier_lead=classifier_lead,
        level=level,
        **_intervals(human, classifier, span, level, shown, weights),
    )


def leads(
    first: CurveFit, second: CurveFit, *, span: Interval = (0.0, 1.0), weights: ChangeWeights | None = None
) -> Interval:
    """Areas by which each of two curves lies above the other.

    Parameters
    ----------
    first, second : CurveFit
    span : tuple of float
        Range of visual change.
    weights : ChangeWeights, optional
        By which heights count, with a mass of 1 over the whole axis.

    Returns
    -------
    tuple of float
        Lead of the first, lead of the second; both at least 0, exact up to rounding.

    Raises
    ------
    GridMismatch
        If the curves stand on different knots.
    """
    if (first.config.segments, first.config.degree) != (second.config.segments, second.config.degree):
        raise GridMismatch
    from scipy.interpolate import BSpline, PPoly

    difference = first.coefficients - second.coefficients
    if not difference.any():
        return 0.0, 0.0
    basis = first.basis
    polynomial = PPoly.from_spline(BSpline(basis.knots, difference, basis.degree).tck)
    roots = polynomial.roots(discontinuity=False, extrapolate=False)
    inside = np.concatenate([roots[np.isfinite(roots)], basis.knots])
    edges = np.unique(np.concatenate([np.clip(inside, *span), span]))
    if weights is not None:
        points, factors = weighted_quadrature(weights, edges, *span, basis.degree)
        heights = polynomial(points)
        return float(factors @ np.maximum(heights, 0.0)), float(factors @ np.maximum(-heights, 0.0))
    totals = polynomial.antiderivative()(edges)
    pieces = np.diff(totals)
    return float(pieces[pieces > 0.0].sum()), float(np.abs(pieces[pieces < 0.0]).sum())


def _refuse_unequal(human: CurveFit, classifier: CurveFit) -> None:
    if human.config.label_space == classifier.config.label_space and not human.config.chooses_alike(classifier.config):
        raise LabelSpaceMismatch(
            f"A guess is right with chance {human.config.chance:.3f} on the human curve and with "
            f"{classifier.config.chance:.3f} on the classifier's: give the classifier the options that people had."
        )
    if human.config.label_space != classifier.config.label_space:
        raise LabelSpaceMismatch(
            f"The human curve is {human.config.label_space}-way, the classifier's {classifier.config.label_space}-way; "
            "map the classifier's output to the same labels first."
        )


def _area(curve: CurveFit, span: Interval, weights: ChangeWeights | None) -> float:
    if weights is not None:
        return float(weighted_integrals(curve.basis, weights, *span) @ curve.coefficients)
    if span == (0.0, 1.0):
        return curve.area
    return float(curve.basis.integral_design(*span) @ curve.coefficients)


def _intervals(
    human: CurveFit,
    classifier: CurveFit,
    span: Interval,
    level: float,
    shown: tuple[bool, bool] | None,
    weights: ChangeWeights | None,
) -> dict[str, Any]:
    """Percentile intervals of the leads and indices."""
    if human.bootstrap is None or classifier.bootstrap is None:
        return {}
    # Midpoint rule: 500 cells are exact to about 1e-6, far below the spread of the refits.
    edges = np.linspace(*span, _CELLS + 1)
    design = spline_basis(human.config.segments, human.config.degree).design((edges[1:] + edges[:-1]) / 2.0)
    cell: float | FloatArray = (span[1] - span[0]) / _CELLS
    if weights is not None:
        cell = np.array([weights.mass(*ends) for ends in zip(edges[:-1], edges[1:], strict=True)])

    def integral(values: FloatArray) -> FloatArray:
        return np.asarray(values.sum(axis=1) * cell if isinstance(cell, float) else values @ cell)

    def indices(people: FloatArray, network: FloatArray) -> FloatArray:
        heights, others = people @ design.T, network @ design.T
        gap = heights - others
        human_lead, classifier_lead = integral(np.maximum(gap, 0.0)), integral(np.maximum(-gap, 0.0))
        human_area, classifier_area = integral(heights), integral(others)
        hmri = 1.0 - np.divide(human_lead, human_area, out=np.zeros_like(human_lead), where=human_area > 0.0)
        mrsi = np.divide(classifier_lead, classifier_area, out=np.zeros_like(human_lead), where=classifier_area > 0.0)
        return np.stack([hmri, mrsi, human_lead, classifier_lead, human_area - classifier_area], axis=1)

    pair = (human.bootstrap, classifier.bootstrap, human.coefficients, classifier.coefficients)
    lower, upper = pair_spread(*pair, indices).percentile_interval(level)
    names = ("hmri", "mrsi", "human_lead", "classifier_lead", "area_difference")
    bounds = {"hmri": (0.0, 1.0), "mrsi": (0.0, 1.0), "human_lead": (0.0, 1.0), "classifier_lead": (0.0, 1.0)}
    intervals: dict[str, Any] = {}
    for position, name in enumerate(names):
        least, most = bounds.get(name, (-1.0, 1.0))
        intervals[f"{name}_interval"] = (
            float(np.clip(lower[position], least, most)),
            float(np.clip(upper[position], least, most)),
        )
    if shown is None:
        grid_design = human.basis.design(np.linspace(*span, 201))
        gap = pair_spread(*pair, lambda people, network: (network - people) @ grid_design.T)
        reach = gap.critical_value(level) * np.maximum(gap.standard_error, 1e-3)
        shown = bool(np.any(gap.estimate > reach)), bool(np.any(gap.estimate < -reach))
    # A lead is never negative, so noise makes that of every refit positive: 0 counts until it is ruled out.
    is_above, is_below = shown
    if not is_above:
        for name in ("classifier_lead_interval", "mrsi_interval"):
            intervals[name] = (0.0, intervals[name][1])
    if not is_below:
        intervals["human_lead_interval"] = (0.0, intervals["human_lead_interval"][1])
        intervals["hmri_interval"] = (intervals["hmri_interval"][0], 1.0)
    return intervals


def _ranges(ranges: tuple[Interval, ...] | None) -> str:
    if ranges is None:
        return ""
    return ", ".join(f"{low:.2f} to {high:.2f}" for low, high in ranges) or "nowhere"
