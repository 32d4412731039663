"""What a study decides about its analysis before it looks: the table [analysis] of a study file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.errors import InvalidInput
from analysis.findings.validation import THRESHOLD
from analysis.similarity import BAND_MARGIN, DISCRIMINATION_MARGIN, MARGIN

#: Name -> (default, least, most); each is open at both ends.
_SHARES: Mapping[str, tuple[float, float, float]] = {
    "level": (0.95, 0.0, 1.0),
    "margin": (MARGIN, 0.0, 1.0),
    "band_margin": (BAND_MARGIN, 0.0, 1.0),
    "discrimination_margin": (DISCRIMINATION_MARGIN, 0.0, 0.5),
    "validation_threshold": (THRESHOLD, 0.0, 1.0),
}


def planned_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of `analyse` that a study fixes, defaults filled in.

    Parameters
    ----------
    values : mapping
        ``level`` of intervals; ``margin`` of areas, ``band_margin`` of curves and ``discrimination_margin``: how far
        apart equivalent corruptions may be; ``validation_threshold``: share of yes that accepts a picture; ``borrow``:
        corruption -> corruption whose human curve stands in beside its own.

    Raises
    ------
    InvalidInput
        Naming the setting.
    """
    known = (*_SHARES, "borrow")
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise InvalidInput(f"[analysis] has no setting {unknown[0]!r}; it has: {', '.join(known)}.")
    settings: dict[str, Any] = {}
    for name, (default, least, most) in _SHARES.items():
        value = values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least < value < most:
            raise InvalidInput(f"analysis.{name} must be a number between {least:g} and {most:g}, not {value!r}.")
        settings[name] = float(value)
    borrow = values.get("borrow", {})
    if not isinstance(borrow, Mapping) or not all(isinstance(one, str) for one in borrow.values()):
        raise InvalidInput('analysis.borrow is a table: corruption = "corruption whose human curve is borrowed".')
    settings["borrow"] = dict(borrow)
    return settings
