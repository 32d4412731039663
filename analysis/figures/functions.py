"""People's curves of several corruption functions in one axes, and the leads between people's curve and a model's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.errors import InvalidInput
from analysis.figures.performance import PlottedCurve, chance_label
from analysis.figures.value import Axis, Band, Figure, Line, Mark, Numbers, Observer

#: Of every axis of visual change.
V_AXIS = Axis("visual change Δv", (0.0, 1.0), (0.0, 0.2, 0.4, 0.6, 0.8, 1.0))
_RATES, _TICKS = (-0.03, 1.03), (0.0, 0.25, 0.5, 0.75, 1.0)
#: Words of the two regions between people's curve and a model's, and their strokes (VCR, Figure 2(a): girded, striped).
PEOPLE_LEAD, MODEL_LEAD = "A(h>m), people's lead", "A(m>h), the model's lead"
_STROKES = {PEOPLE_LEAD: "xxx", MODEL_LEAD: "////"}
#: Points of the curves that `definitions` draws.
_POINTS = 401
#: Of these curves, people's and the model's: floor, height, middle and width of a logistic fall.
_DRAWN = {
    "accuracy": ((0.06, 0.90, 0.70, 0.06), (0.32, 0.60, 0.45, 0.10)),
    "consistency": ((0.10, 0.88, 0.74, 0.06), (0.40, 0.60, 0.50, 0.09)),
}


def functions_figure(
    curves: Sequence[PlottedCurve], *, title: str, measure: str, level: float, chance: float | None = None
) -> Figure:
    """People's curves under several functions in one axes, with bands of one level.

    Parameters
    ----------
    curves : sequence of PlottedCurve
        At least one; observers of the role "function", each with a simultaneous band.
    title, measure : str
    level : float
        Of the bands, in (0, 1).
    chance : float, optional
        In [0, 1].

    Raises
    ------
    InvalidInput
        If there is no curve, or one has no simultaneous band.

    Notes
    -----
    VCR (Shen et al.), Figures 8 and 12: curves whose 83 % bands overlap everywhere were taken for alike.
    """
    if not curves:
        raise InvalidInput("A figure of functions needs at least one curve.")
    traces: list[Band | Line] = []
    for curve in curves:
        band = next((one for one in curve.bands if one.kind == "simultaneous"), None)
        if band is None:
            raise InvalidInput(f"The curve of {curve.observer.name} has no simultaneous band.")
        traces.append(Band(curve.observer, curve.v, band.lower, band.upper, f"{100 * level:.0f} % simultaneous band"))
    traces += [Line(curve.observer, curve.v, curve.estimate) for curve in curves]
    return Figure(
        title=title,
        description="; ".join(
            f"{one.observer.name}: {one.estimate[0]:.2f} at 0, {one.estimate[-1]:.2f} at 1" for one in curves
        )
        + ".",
        x=V_AXIS,
        y=Axis(measure, _RATES, _TICKS),
        traces=tuple(traces),
        marks=() if chance is None else (Mark(chance, chance_label(chance)),),
        notes=(f"Bands: {100 * level:.1f} %, simultaneous over visual change.",),
    )


def leads_figure(
    people: tuple[Observer, Numbers],
    model: tuple[Observer, Numbers],
    v: Numbers,
    *,
    title: str,
    measure: str,
    between: tuple[float, float] = (0.0, 1.0),
    chance: float | None = None,
    x_label: str = V_AXIS.label,
) -> Figure:
    """Both curves, with the regions in which either lies above the other.

    Parameters
    ----------
    people, model : (Observer, Numbers)
        Each with its curve on ``v``.
    v : Numbers
        Visual change, rising.
    title, measure : str
    between : (float, float)
        Range of visual change in which leads are taken.
    chance : float, optional
    x_label : str
        What the curves are over, where that is no visual change.

    Notes
    -----
    VCR (Shen et al.), Figures 2(a) and S8, and Table 2(b): the areas of the regions are A(h>m) and A(m>h).
    """
    (who, heights), (other, others) = people, model
    inside = [place for place, one in enumerate(v) if between[0] <= one <= between[1]]
    x = tuple(v[place] for place in inside)
    upper = {
        PEOPLE_LEAD: (who, tuple(max(heights[place], others[place]) for place in inside), [others[p] for p in inside]),
        MODEL_LEAD: (
            other,
            tuple(max(heights[place], others[place]) for place in inside),
            [heights[p] for p in inside],
        ),
    }
    bands = tuple(
        Band(observer, x, tuple(lower), top, words, hatch=_STROKES[words])
        for words, (observer, top, lower) in upper.items()
        if any(high > low for high, low in zip(top, lower, strict=True))
    )
    told = " and ".join(band.meaning for band in bands) or "no lead of either"
    return Figure(
        title=title,
        description=f"{other.name} beside people: {told}.",
        x=replace(V_AXIS, label=x_label),
        y=Axis(measure, _RATES, _TICKS),
        traces=(*bands, Line(other, v, others), Line(who, v, heights)),
        marks=() if chance is None else (Mark(chance, chance_label(chance)),),
    )


def definitions(measure: str) -> tuple[Numbers, Numbers, Numbers]:
    """Visual change and two curves that cross, for a drawing of the definitions.

    Parameters
    ----------
    measure : {"accuracy", "consistency"}

    Returns
    -------
    v, people, model : Numbers, shape (401,)
        Logistic curves: people's falls late and steeply, the model's early and slowly, and ends above people's.
    """
    v = np.linspace(0.0, 1.0, _POINTS)
    people, model = (
        floor + height / (1.0 + np.exp((v - middle) / width)) for floor, height, middle, width in _DRAWN[measure]
    )
    return tuple(map(float, v)), tuple(map(float, people)), tuple(map(float, model))


def definition_areas(measure: str) -> dict[str, float]:
    """Areas, leads, HMRI and MRSI of the curves of `definitions`.

    Returns
    -------
    dict of str to float
        ``human_area``, ``classifier_area``, ``human_lead``, ``classifier_lead`` in [0, 1]; ``hmri``, ``mrsi``.

    Notes
    -----
    VCR (Shen et al.), Definitions 1 and 2: HMRI = (A(h) - A(h>m)) / A(h), MRSI = A(m>h) / A(m).
    """
    v, people, model = (np.asarray(one) for one in definitions(measure))
    human, classifier = float(np.trapezoid(people, v)), float(np.trapezoid(model, v))
    lead = float(np.trapezoid(np.maximum(people - model, 0.0), v))
    other = float(np.trapezoid(np.maximum(model - people, 0.0), v))
    return {
        "human_area": human,
        "classifier_area": classifier,
        "human_lead": lead,
        "classifier_lead": other,
        "hmri": (human - lead) / human,
        "mrsi": other / classifier,
    }


def area_figure(observer: Observer, v: Numbers, curve: Numbers, *, title: str, measure: str) -> Figure:
    """A curve with the area under it."""
    words = "R̂, the area under the curve"
    return Figure(
        title=title,
        description=f"The area under {observer.name}'s curve.",
        x=V_AXIS,
        y=Axis(measure, _RATES, _TICKS),
        traces=(Band(observer, v, tuple(0.0 for _ in v), curve, words, hatch="..."), Line(observer, v, curve)),
    )
