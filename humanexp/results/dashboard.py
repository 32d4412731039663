"""The dashboard's rows, made from stored findings: what is printed and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.figures import Style, style_of
from humanexp.results.charts import HUMANS, FigureName, conditions_of, figure_names, is_over_conditions, observers_of
from humanexp.results.headline import Headline, headline_of

Findings = Mapping[str, Any]
Interval = tuple[float, float]
#: Pairs of observers with fewer pictures in common are left to the JSON, and so are those beyond the first so many.
LEAST_COMMON, MOST_PAIRS = 20, 120


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
    corruption: str
    measure: str
    human_curve: str
    borrowed: bool
    withheld: bool
    common: Mapping[str, Any] | None
    same_stimuli: bool
    hmri: float
    hmri_interval: Interval | None
    mrsi: float
    mrsi_interval: Interval | None
    human_area: float
    classifier_area: float
    human_lead: float
    classifier_lead: float
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
    level: float
    extrapolated: float
    withheld: bool
    #: {"range", "mean", "interval"} on the measured range
    measured: Mapping[str, Any] | None
    answers: int
    thresholds: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class BinRow:
    """One bin of visual change; one cell ({"v", "n", "rate"} or None) an observer, people first."""

    low: float
    high: float
    cells: tuple[Mapping[str, Any] | None, ...]


@dataclass(frozen=True)
class Panel:
    """All that is said about one figure."""

    name: FigureName
    swatches: tuple[Swatch, ...]
    curves: tuple[CurveRow, ...]
    models: tuple[ModelRow, ...]
    bins: tuple[BinRow, ...]
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
class PanelGroup:
    """Panels of one property, which stand together in the switch."""

    measure: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class ConsistencyRow:
    """Error consistency of two observers in one condition."""

    first: str
    second: str
    condition: str
    n: int
    kappa: float


@dataclass(frozen=True)
class Dashboard:
    headline: Headline
    panels: tuple[Panel, ...]
    observers: tuple[str, ...]
    accuracy: tuple[AccuracyRow, ...]
    models: tuple[ModelRow, ...]
    #: property -> pairs of corruptions
    similarity: Mapping[str, tuple[Mapping[str, Any], ...]]
    discrimination: tuple[Mapping[str, Any], ...]
    consistency_pairs: tuple[ConsistencyRow, ...]
    sessions: Mapping[str, Any]
    notes: tuple[str, ...]
    #: how many rows went in, by kind
    trials: Mapping[str, int]

    @property
    def margin(self) -> float | None:
        """Margin of equivalence of areas."""
        return next((entry.get("margin") for entries in self.similarity.values() for entry in entries), None)

    @property
    def panel_groups(self) -> list[PanelGroup]:
        measures = dict.fromkeys(panel.name.measure for panel in self.panels)
        return [
            PanelGroup(measure, tuple(panel for panel in self.panels if panel.name.measure == measure))
            for measure in measures
        ]

    @property
    def excluded(self) -> int:
        return sum(self.sessions.get("excluded", {}).values())


def dashboard_of(findings: Findings, *, imported: bool = False) -> Dashboard:
    """Everything that the page prints; published trials also show every observer's accuracy by condition."""
    swatches = {
        name: Swatch.of(observer.name, style_of(observer), is_human=name == HUMANS)
        for name, observer in observers_of(findings).items()
    }
    models = tuple(_model_row(entry, swatches) for entry in findings.get("comparisons", ()))
    return Dashboard(
        headline=headline_of(findings),
        panels=tuple(_panel(name, findings, swatches, models) for name in figure_names(findings)),
        observers=tuple(entry["name"] for entry in findings.get("observers", ())),
        accuracy=tuple(_accuracy(findings)) if imported else (),
        models=models,
        similarity=_similarity(findings),
        discrimination=tuple(findings.get("discrimination", ())),
        consistency_pairs=tuple(_consistency_rows(findings)),
        sessions=findings.get("sessions", {}),
        notes=tuple(findings.get("notes", ())),
        trials=findings.get("trials", {}),
    )


def _model_row(entry: Mapping[str, Any], swatches: Mapping[str, Swatch]) -> ModelRow:
    return ModelRow(
        swatch=swatches[entry["classifier"]],
        corruption=entry["corruption"],
        measure=entry["property"],
        human_curve=entry.get("human_curve", entry["corruption"]),
        borrowed=bool(entry.get("borrowed", False)),
        withheld=bool(entry.get("withheld", False)),
        common=entry.get("common_range"),
        same_stimuli=bool(entry.get("same_stimuli", True)),
        hmri=entry["hmri"],
        hmri_interval=_interval(entry.get("hmri_interval")),
        mrsi=entry["mrsi"],
        mrsi_interval=_interval(entry.get("mrsi_interval")),
        human_area=entry["human_area"],
        classifier_area=entry["classifier_area"],
        human_lead=entry["human_lead"],
        classifier_lead=entry["classifier_lead"],
        exceeds=tuple((span[0], span[1]) for span in entry.get("exceeds") or ()),
    )


def _interval(values: Sequence[float] | None) -> Interval | None:
    return None if values is None else (values[0], values[1])


def _panel(name: FigureName, findings: Findings, swatches: Mapping[str, Swatch], models: Sequence[ModelRow]) -> Panel:
    curves = [
        curve
        for curve in findings.get("curves", ())
        if (curve["property"], curve["corruption"]) == (name.measure, name.corruption)
    ]
    curves.sort(key=lambda curve: curve["population"] != HUMANS)
    people = next((curve for curve in curves if curve["population"] == HUMANS), None)
    shown = [curve["population"] for curve in curves] if curves else list(swatches)
    return Panel(
        name=name,
        swatches=tuple(swatches[population] for population in shown),
        curves=tuple(_curve_row(curve, swatches) for curve in curves),
        models=tuple(row for row in models if (row.measure, row.corruption) == (name.measure, name.corruption)),
        bins=tuple(_bin_rows(curves)),
        over_conditions=is_over_conditions(findings, name.corruption),
        people=people,
    )


def _curve_row(curve: Mapping[str, Any], swatches: Mapping[str, Swatch]) -> CurveRow:
    return CurveRow(
        swatch=swatches[curve["population"]],
        area=curve["area"],
        interval=_interval(curve.get("interval")),
        level=curve.get("level", 0.95),
        extrapolated=curve["extrapolated"],
        withheld=bool(curve.get("withheld", False)),
        measured=curve.get("measured"),
        answers=curve.get("n", sum(one["n"] for one in curve["bins"])),
        thresholds=tuple(curve.get("thresholds", ())),
    )


def _bin_rows(curves: Sequence[Mapping[str, Any]], n_bins: int = 40) -> list[BinRow]:
    """Bins of all populations side by side; people come first."""
    if not curves:
        return []
    placed = [{min(n_bins - 1, int(one["v"] * n_bins)): one for one in curve["bins"]} for curve in curves]
    occupied = sorted(set().union(*placed))
    return [
        BinRow(
            low=number / n_bins,
            high=(number + 1) / n_bins,
            cells=tuple(bins.get(number) for bins in placed),
        )
        for number in occupied
    ]


def _accuracy(findings: Findings) -> list[AccuracyRow]:
    """Observers' accuracies by condition."""
    cells = {(cell["condition"], cell["observer"]): cell for cell in findings.get("accuracy", ())}
    means = {cell["condition"]: cell["mean_over_observers"] for cell in findings.get("human_accuracy", ())}
    names = [entry["name"] for entry in findings.get("observers", ())]
    return [
        AccuracyRow(condition, means.get(condition), tuple(cells.get((condition, name)) for name in names))
        for condition in conditions_of(findings)
    ]


def _similarity(findings: Findings) -> dict[str, tuple[Mapping[str, Any], ...]]:
    """Pairs by property, accuracy first."""
    entries = findings.get("similarity", ())
    measures = sorted({entry["property"] for entry in entries}, key=lambda measure: measure != "accuracy")
    return {measure: tuple(entry for entry in entries if entry["property"] == measure) for measure in measures}


def _consistency_rows(findings: Findings) -> list[ConsistencyRow]:
    """The pairs with the most pictures in common first, at most as many as a page can hold; the JSON has them all."""
    entries = [entry for entry in findings.get("error_consistency", ()) if entry["n"] >= LEAST_COMMON]
    entries.sort(key=lambda entry: -entry["n"])
    return [
        ConsistencyRow(entry["pair"][0], entry["pair"][1], entry["condition"], entry["n"], entry["kappa"])
        for entry in entries[:MOST_PAIRS]
    ]
