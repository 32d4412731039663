"""The findings room's rows, made from stored findings: what is printed and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.figures import Style, style_of
from humanexp.results.charts import HUMANS, FigureName, conditions_of, figure_names, is_over_conditions, observers_of
from humanexp.results.charts.indices import shown
from humanexp.results.charts.names import curves_of
from humanexp.results.headline import Headline, headline_of

Findings = Mapping[str, Any]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Swatch:
    """How an observer looks, for legends and bars drawn as SVG."""

    name: str
    is_human: bool
    colour: str
    dash: str
    width: float

    @classmethod
    def of(cls, name: str, style: Style, *, is_human: bool) -> Swatch:
        return cls(name, is_human, style.colour, " ".join(map(str, style.dash)), style.width)


@dataclass(frozen=True)
class ModelRow:
    """A classifier beside people on one corruption."""

    swatch: Swatch
    human_curve: str
    borrowed: bool
    #: the range that both measured, where too much of the whole axis is extrapolated
    span: Interval | None
    hmri: float
    hmri_interval: Interval | None
    mrsi: float
    mrsi_interval: Interval | None
    #: ranges of visual change in which it exceeds people beyond doubt
    exceeds: tuple[Interval, ...]

    @property
    def bar(self) -> float:
        """Length of the bar in the table's drawing, of 100."""
        return 100 * self.hmri

    @property
    def whisker(self) -> Interval | None:
        return None if self.hmri_interval is None else (100 * self.hmri_interval[0], 100 * self.hmri_interval[1])


@dataclass(frozen=True)
class CurveRow:
    """The area under one curve."""

    swatch: Swatch
    area: float
    interval: Interval | None
    extrapolated: float
    withheld: bool
    answers: int


@dataclass(frozen=True)
class Panel:
    """All that is said about one figure of performance."""

    name: FigureName
    swatches: tuple[Swatch, ...]
    curves: tuple[CurveRow, ...]
    models: tuple[ModelRow, ...]
    over_conditions: bool
    #: people's curve as found; None where only classifiers have one
    people: Mapping[str, Any] | None

    @property
    def axis(self) -> str:
        """Short name of the abscissa."""
        return "condition" if self.over_conditions else "Δv"


@dataclass(frozen=True)
class AccuracyRow:
    """One condition of an imported study: people's mean, then every observer."""

    condition: str
    mean: float | None
    cells: tuple[Mapping[str, Any] | None, ...]


@dataclass(frozen=True)
class FigureGroup:
    """Figures of one property, which stand together in the switch."""

    measure: str
    names: tuple[FigureName, ...]


@dataclass(frozen=True)
class Dashboard:
    headline: Headline
    #: how many pairs of corruptions people find equivalent, different, undecided; empty where none was tested
    alike: Mapping[str, int]
    groups: tuple[FigureGroup, ...]
    observers: tuple[str, ...]
    accuracy: tuple[AccuracyRow, ...]
    sessions: Mapping[str, Any]
    #: how many rows went in, by kind
    trials: Mapping[str, int]

    @property
    def figures(self) -> int:
        return sum(len(group.names) for group in self.groups)

    @property
    def excluded(self) -> int:
        return sum(self.sessions.get("excluded", {}).values())


def dashboard_of(findings: Findings, *, imported: bool = False) -> Dashboard:
    """What the page prints of all figures; published trials also show every observer's accuracy by condition."""
    names = figure_names(findings)
    return Dashboard(
        headline=headline_of(findings),
        alike=Counter(one["verdict"] for one in findings.get("similarity", ()) if one["property"] == "accuracy"),
        groups=tuple(
            FigureGroup(measure, tuple(name for name in names if name.measure == measure))
            for measure in dict.fromkeys(name.measure for name in names)
        ),
        observers=tuple(entry["name"] for entry in findings.get("observers", ())),
        accuracy=tuple(_accuracy(findings)) if imported else (),
        sessions=findings.get("sessions", {}),
        trials=findings.get("trials", {}),
    )


def panel_of(findings: Findings, name: FigureName) -> Panel:
    swatches = {
        population: Swatch.of(observer.name, style_of(observer), is_human=population == HUMANS)
        for population, observer in observers_of(findings).items()
    }
    curves = curves_of(findings, name)
    populations = [curve["population"] for curve in curves] if curves else list(swatches)
    models = [
        _model_row(entry, swatches)
        for entry in findings.get("comparisons", ())
        if (entry["property"], entry["corruption"]) == (name.measure, name.corruption)
    ]
    return Panel(
        name=name,
        swatches=tuple(swatches[population] for population in populations),
        curves=tuple(_curve_row(curve, swatches) for curve in curves),
        models=tuple(sorted(models, key=lambda row: -row.hmri)),
        over_conditions=is_over_conditions(findings, name.corruption),
        people=next((curve for curve in curves if curve["population"] == HUMANS), None),
    )


def _model_row(entry: Mapping[str, Any], swatches: Mapping[str, Swatch]) -> ModelRow:
    used = shown(entry)
    return ModelRow(
        swatch=swatches[entry["classifier"]],
        human_curve=entry.get("human_curve", entry["corruption"]),
        borrowed=bool(entry.get("borrowed", False)),
        span=None if used is entry else _interval(used["range"]),
        hmri=used["hmri"],
        hmri_interval=_interval(used.get("hmri_interval")),
        mrsi=used["mrsi"],
        mrsi_interval=_interval(used.get("mrsi_interval")),
        exceeds=tuple((span[0], span[1]) for span in entry.get("exceeds") or ()),
    )


def _interval(values: Sequence[float] | None) -> Interval | None:
    return None if values is None else (values[0], values[1])


def _curve_row(curve: Mapping[str, Any], swatches: Mapping[str, Swatch]) -> CurveRow:
    return CurveRow(
        swatch=swatches[curve["population"]],
        area=curve["area"],
        interval=_interval(curve.get("interval")),
        extrapolated=curve["extrapolated"],
        withheld=bool(curve.get("withheld", False)),
        answers=curve.get("n", sum(one["n"] for one in curve["bins"])),
    )


def _accuracy(findings: Findings) -> list[AccuracyRow]:
    """Observers' accuracies by condition."""
    cells = {(cell["condition"], cell["observer"]): cell for cell in findings.get("accuracy", ())}
    means = {cell["condition"]: cell["mean_over_observers"] for cell in findings.get("human_accuracy", ())}
    names = [entry["name"] for entry in findings.get("observers", ())]
    return [
        AccuracyRow(condition, means.get(condition), tuple(cells.get((condition, name)) for name in names))
        for condition in conditions_of(findings)
    ]


@dataclass(frozen=True)
class Reading:
    """A curve at one place: estimate, and band where there is one."""

    swatch: Swatch
    estimate: float | None
    band: Interval | None


def readings_of(findings: Findings, panel: Panel, v: float) -> list[Reading]:
    """Every curve of a panel at the grid point nearest to `v`, with its pointwise band."""
    curves = curves_of(findings, panel.name)
    if not curves:
        return [Reading(swatch, None, None) for swatch in panel.swatches]
    readings = []
    for swatch, curve in zip(panel.swatches, curves, strict=True):
        band = curve["band"]
        place = min(range(len(band["v"])), key=lambda number: abs(band["v"][number] - v))
        ends = (band["lower"][place], band["upper"][place]) if "lower" in band else None
        readings.append(Reading(swatch, band["estimate"][place], ends))
    return readings
