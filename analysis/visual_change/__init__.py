"""Visual change: how much of a picture's visible information a corruption destroys, and how its range is covered."""

from __future__ import annotations

from analysis.visual_change.coverage import (
    Coverage,
    coverage_report,
    coverage_words,
    measure_coverage,
    measure_paper_coverage,
)
from analysis.visual_change.pilot import PilotMap, fit_pilot_map
from analysis.visual_change.pixel import PixelVifReference
from analysis.visual_change.targeting import TOLERANCE, Reached, draw_targets, reach_target
from analysis.visual_change.vif import (
    METRIC,
    METRIC_VERSION,
    MINIMUM_SIDE_PX,
    VifReference,
    grey,
    vif,
    visual_change,
)

__all__ = [
    "METRIC",
    "METRIC_VERSION",
    "MINIMUM_SIDE_PX",
    "TOLERANCE",
    "Coverage",
    "PilotMap",
    "PixelVifReference",
    "Reached",
    "VifReference",
    "coverage_report",
    "coverage_words",
    "draw_targets",
    "fit_pilot_map",
    "grey",
    "measure_coverage",
    "measure_paper_coverage",
    "reach_target",
    "vif",
    "visual_change",
]
