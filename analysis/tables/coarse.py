"""What an export says of a participant's screen: so coarse that it tells nobody by it.

The table as it is stored keeps what was measured: the timing rule and the timing certificate are computed from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Refresh rates of screens that are sold, in Hz.
RATES_HZ = (30, 50, 60, 75, 90, 100, 120, 144, 165, 240)
#: Width and height, to the next lower 200 CSS pixels, large ones alike.
SIDE_STEP_PX, LARGEST_PX = 200, (2400, 1400)
#: Device pixels a CSS pixel: to the nearest half, small and large ones alike.
RATIO_STEP, RATIOS = 0.5, (1.0, 3.0)
#: Side of the picture: to the nearest of these, which tells no ratio of pixels.
PICTURE_STEP_PX = 50.0


@lru_cache(maxsize=4096)
def nearest_rate_hz(refresh_ms: float) -> int:
    """The rate that a screen with this interval is sold with; else the measured one, in whole Hz."""
    measured = 1000 / refresh_ms
    nearest = min(RATES_HZ, key=lambda rate: abs(rate - measured))
    return nearest if abs(nearest - measured) <= 0.03 * nearest else round(measured)


def nearest(value: float, step: float, least: float, most: float) -> float:
    return min(most, max(least, round(value / step) * step))


def lower_side(px: float, largest: int) -> int:
    return min(largest, int(px) // SIDE_STEP_PX * SIDE_STEP_PX)


def _interval_ms(refresh_ms: float) -> float:
    rate = nearest_rate_hz(refresh_ms) if refresh_ms > 0 else 0
    return round(1000 / rate, 3) if rate else 0.0


#: By column of the trials; what is coarse already stays as it is.
COARSE: Mapping[str, Callable[[float], float]] = {
    "t_refresh_median_ms": _interval_ms,
    "dpr": lambda value: nearest(value, RATIO_STEP, *RATIOS),
    "css_px": lambda value: nearest(value, PICTURE_STEP_PX, PICTURE_STEP_PX, 1000.0),
    "viewport_width_px": lambda value: lower_side(value, LARGEST_PX[0]),
    "viewport_height_px": lambda value: lower_side(value, LARGEST_PX[1]),
}


def coarse_trials(trials: pd.DataFrame) -> pd.DataFrame:
    """The same table without exact sizes, ratios and rates of screens; columns keep their kinds."""
    changed = {}
    for name in COARSE.keys() & set(trials.columns):
        exact = trials[name]
        by_value = {value: COARSE[name](value) for value in exact.dropna().unique()}
        changed[name] = exact.map(by_value, na_action="ignore").astype(exact.dtype)
    return trials.assign(**changed)
