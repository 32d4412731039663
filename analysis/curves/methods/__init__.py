"""Ways of drawing a curve through binned answers, by name.

A new one is a class with the members of `base.CurveMethod`, added to `METHODS`.
"""

from __future__ import annotations

from analysis.curves.methods.base import Cells, ChosenFit, CurveMethod
from analysis.curves.methods.monotone import Isotonic, PenalisedSpline
from analysis.curves.methods.psychometric import Psychometric
from analysis.curves.methods.quantile import AuthorsProgram, PublishedSpline
from analysis.errors import UnknownName

__all__ = ["DEFAULT_METHOD", "METHODS", "Cells", "ChosenFit", "CurveMethod", "curve_method"]

DEFAULT_METHOD = "spline"

METHODS: dict[str, CurveMethod] = {
    method.name: method
    for method in (
        PenalisedSpline(),
        PublishedSpline(),
        Isotonic(),
        Psychometric("weibull"),
        Psychometric("logistic"),
        AuthorsProgram(),
    )
}


def curve_method(name: str) -> CurveMethod:
    """Return the method of this name.

    Raises
    ------
    UnknownName
        If there is none.
    """
    if name not in METHODS:
        raise UnknownName(f"There is no curve method {name!r}: choose one of {', '.join(METHODS)}.")
    return METHODS[name]
