"""Performance curves over visual change: binning, monotone spline, bootstrap bands."""

from __future__ import annotations

from analysis.curves.bands import Bands
from analysis.curves.binning import Bin, bin_index, bin_trials
from analysis.curves.bootstrap import Bootstrap, Spread, pair_spread, spread_of
from analysis.curves.curve import OVERLAP_LEVEL, Anchor, CurveConfig, CurveFit
from analysis.curves.fit import CURVE_VERSION, CleanTrials, fit_curve
from analysis.curves.thresholds import Threshold, threshold

__all__ = [
    "CURVE_VERSION",
    "OVERLAP_LEVEL",
    "Anchor",
    "Bands",
    "Bin",
    "Bootstrap",
    "CleanTrials",
    "CurveConfig",
    "CurveFit",
    "Spread",
    "Threshold",
    "bin_index",
    "bin_trials",
    "fit_curve",
    "pair_spread",
    "spread_of",
    "threshold",
]
