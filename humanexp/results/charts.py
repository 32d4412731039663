"""Findings as figures: which figures a study has, and each of them as an `analysis.figures.Figure`.

A figure's key is `<property>--<corruption>` for curves, and `conditions` for imported trials without a visual change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.figures import Figure, Observer, PlottedCurve, condition_figure, curve_figure

Findings = Mapping[str, Any]
HUMANS = "humans"
CONDITIONS = "conditions"
#: Label of people in figures and tables.
PEOPLE = "people"


@dataclass(frozen=True)
class FigureName:
    """A figure that can be shown."""

    key: str
    corruption: str
    measure: str

    @property
    def label(self) -> str:
        return self.corruption.replace("_", " ")

    @property
    def is_conditions(self) -> bool:
        """Rates by named condition instead of curves."""
        return self.key == CONDITIONS


def observers_of(findings: Findings) -> dict[str, Observer]:
    """Every population with its place in the palette: the same classifier looks the same in every figure."""
    names = list(dict.fromkeys(curve["population"] for curve in findings.get("curves", ())))
    names += [entry["name"] for entry in findings.get("observers", ()) if entry["kind"] == "classifier"]
    classifiers = [name for name in dict.fromkeys(names) if name != HUMANS]
    observers = {name: Observer(name, "classifier", place) for place, name in enumerate(classifiers)}
    return {HUMANS: Observer(PEOPLE, "human"), **observers}


def figure_names(findings: Findings) -> list[FigureName]:
    """In the order in which they are offered: accuracy before consistency, corruptions as they come."""
    pairs = dict.fromkeys((curve["property"], curve["corruption"]) for curve in findings.get("curves", ()))
    names = [FigureName(f"{measure}--{corruption}", corruption, measure) for measure, corruption in pairs]
    names.sort(key=lambda name: name.measure != "accuracy")
    if not names and findings.get("accuracy"):
        names.append(FigureName(CONDITIONS, CONDITIONS, "accuracy"))
    return names


def figure_of(findings: Findings, name: FigureName) -> Figure:
    if name.key == CONDITIONS:
        return _conditions(findings)
    observers = observers_of(findings)
    curves = [
        _plotted(curve, observers[curve["population"]])
        for curve in findings["curves"]
        if (curve["property"], curve["corruption"]) == (name.measure, name.corruption)
    ]
    label_space = min((curve.get("label_space", 16) for curve in findings["curves"]), default=16)
    return curve_figure(
        curves,
        title=name.label.capitalize(),
        measure=name.measure,
        chance=1 / label_space if name.measure == "accuracy" else None,
        x_label="condition" if is_over_conditions(findings, name.corruption) else "visual change Δv",
    )


def is_over_conditions(findings: Findings, corruption: str) -> bool:
    """Whether a corruption's curves stand over published conditions instead of visual change."""
    return any(
        curve.get("abscissa") == "condition"
        for curve in findings.get("curves", ())
        if curve["corruption"] == corruption
    )


def conditions_of(findings: Findings) -> list[str]:
    """Conditions in the findings' own order."""
    return list(dict.fromkeys(cell["condition"] for cell in findings.get("accuracy", ())))


def _plotted(curve: Mapping[str, Any], observer: Observer) -> PlottedCurve:
    band = curve["band"]
    bands: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {}
    if "lower" in band:
        bands[f"{100 * band['level']:g} % pointwise"] = (tuple(band["lower"]), tuple(band["upper"]))
        meaning = f"{100 * band['simultaneous_level']:.1f} % simultaneous"
        bands[meaning] = (tuple(band["simultaneous_lower"]), tuple(band["simultaneous_upper"]))
    return PlottedCurve(
        observer=observer,
        v=tuple(band["v"]),
        estimate=tuple(band["estimate"]),
        bands=bands,
        bins=tuple((one["v"], one["n"], one["rate"]) for one in curve["bins"]),
        measured=tuple(curve["measured"]["range"]),
        area=curve["area"],
    )


def _conditions(findings: Findings) -> Figure:
    observers = observers_of(findings)
    means = {cell["condition"]: cell["mean_over_observers"] for cell in findings.get("human_accuracy", ())}
    people = {entry["name"] for entry in findings["observers"] if entry["kind"] == "human"}
    answers: dict[str, int] = dict.fromkeys(means, 0)
    rates: dict[str, dict[str, tuple[float, int]]] = {}
    for cell in findings["accuracy"]:
        if cell["observer"] in people:
            answers[cell["condition"]] += cell["trials"]
        else:
            rates.setdefault(cell["observer"], {})[cell["condition"]] = (cell["accuracy"], cell["trials"])
    series: list[tuple[Observer, dict[str, tuple[float, int]]]] = [
        (observers[name], by_condition) for name, by_condition in rates.items()
    ]
    if means:
        series.insert(0, (observers[HUMANS], {name: (rate, answers[name]) for name, rate in means.items()}))
    return condition_figure(series, conditions=conditions_of(findings), title="Accuracy by condition", chance=1 / 16)
