"""Performance curves over visual change: binning, monotone spline, bootstrap bands."""

from __future__ import annotations

from analysis.curves.abscissa import ScaledAbscissa, scale_abscissa
from analysis.curves.bands import Bands
from analysis.curves.binning import Bin, bin_index, bin_trials
from analysis.curves.bootstrap import Bootstrap, Spread, pair_spread, spread_of
from analysis.curves.config import OVERLAP_LEVEL, Anchor, CurveConfig
from analysis.curves.curve import WITHHOLD_ABOVE, CurveFit, threshold
from analysis.curves.fit import CURVE_VERSION, fit_curve
from analysis.curves.fit_many import fit_curves
from analysis.curves.methods import METHODS, CurveMethod, curve_method
from analysis.curves.resampling_schemes import SchemeChoice
from analysis.curves.thresholds import Threshold
from analysis.curves.trials import CleanTrials

__all__ = [
    "CURVE_VERSION",
    "METHODS",
    "OVERLAP_LEVEL",
    "WITHHOLD_ABOVE",
    "Anchor",
    "Bands",
    "Bin",
    "Bootstrap",
    "CleanTrials",
    "CurveConfig",
    "CurveFit",
    "CurveMethod",
    "ScaledAbscissa",
    "SchemeChoice",
    "Spread",
    "Threshold",
    "bin_index",
    "bin_trials",
    "curve_method",
    "fit_curve",
    "fit_curves",
    "pair_spread",
    "scale_abscissa",
    "spread_of",
    "threshold",
]
