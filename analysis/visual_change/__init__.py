"""Visual change: how much of a picture's visible information a corruption destroys, and how its range is covered."""

from __future__ import annotations

from analysis.visual_change.vif import (
    METRIC,
    METRIC_VERSION,
    MINIMUM_SIDE_PX,
    VifReference,
    grey,
    vif,
    visual_change,
)

__all__ = ["METRIC", "METRIC_VERSION", "MINIMUM_SIDE_PX", "VifReference", "grey", "vif", "visual_change"]
