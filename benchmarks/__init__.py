"""Speed and coverage figures, as ratios to a named baseline measured in the same run."""

from __future__ import annotations
