"""Human against classifier: areas, leads, HMRI and MRSI, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.curves.basis import spline_basis
from analysis.curves.bootstrap import pair_spread
from analysis.curves.curve import CurveFit
from analysis.errors import GridMismatch, LabelSpaceMismatch
from analysis.findings.model import Indices

FloatArray = NDArray[np.float64]
Interval = tuple[float, float]

_CELLS = 500


def compare(
    human: CurveFit, classifier: CurveFit, *, span: Interval = (0.0, 1.0), shown: tuple[bool, bool] | None = None
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
    human_area = _area(human, span)
    classifier_area = _area(classifier, span)
    human_lead, classifier_lead = leads(human, classifier, span=span)
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
        **_intervals(human, classifier, span, level, shown),
    )


def leads(first: CurveFit, second: CurveFit, *, span: Interval = (0.0, 1.0)) -> Interval:
    """Areas by which each of two curves lies above the other.

    Parameters
    ----------
    first, second : CurveFit
    span : tuple of float
        Range of visual change.

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
    totals = polynomial.antiderivative()(edges)
    pieces = np.diff(totals)
    return float(pieces[pieces > 0.0].sum()), float(np.abs(pieces[pieces < 0.0]).sum())


def _refuse_unequal(human: CurveFit, classifier: CurveFit) -> None:
    if human.config.label_space != classifier.config.label_space:
        raise LabelSpaceMismatch(
            f"The human curve is {human.config.label_space}-way, the classifier's {classifier.config.label_space}-way; "
            "map the classifier's output to the same labels first."
        )


def _area(curve: CurveFit, span: Interval) -> float:
    if span == (0.0, 1.0):
        return curve.area
    return float(curve.basis.integral_design(*span) @ curve.coefficients)


def _intervals(
    human: CurveFit, classifier: CurveFit, span: Interval, level: float, shown: tuple[bool, bool] | None
) -> dict[str, Any]:
    """Percentile intervals of the leads and indices."""
    if human.bootstrap is None or classifier.bootstrap is None:
        return {}
    # Midpoint rule: 500 cells are exact to about 1e-6, far below the spread of the refits.
    edges = np.linspace(*span, _CELLS + 1)
    design = spline_basis(human.config.segments, human.config.degree).design((edges[1:] + edges[:-1]) / 2.0)
    cell = (span[1] - span[0]) / _CELLS

    def indices(people: FloatArray, network: FloatArray) -> FloatArray:
        heights, others = people @ design.T, network @ design.T
        gap = heights - others
        human_lead = np.maximum(gap, 0.0).sum(axis=1) * cell
        classifier_lead = np.maximum(-gap, 0.0).sum(axis=1) * cell
        human_area, classifier_area = heights.sum(axis=1) * cell, others.sum(axis=1) * cell
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
