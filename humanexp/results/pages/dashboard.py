"""The dashboard, and the cards of charts on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from pydantic import JsonValue

from analysis.claims.models import verdict_words
from analysis.figures.page import to_plotly
from analysis.figures.value import Figure, Style, style_of
from analysis.findings.model.agreement import Accuracy
from analysis.findings.model.comparisons import Comparison
from analysis.findings.model.curves import Curve
from analysis.findings.model.entry import HUMANS, Interval
from analysis.findings.model.findings import Findings
from analysis.findings.model.people import SessionCounts, TrialCounts
from humanexp.results.charts.chart import (
    Chart,
    Choice,
    FigureName,
    conditions_of,
    corruptions_of,
    curves_of,
    figure_names,
    is_over_conditions,
    observers_of,
)
from humanexp.results.charts.registry import FAMILIES, family_of
from humanexp.results.headline import Headline, headline_of
from humanexp.studies.models import Origin, Study

#: A figure for plotly.js: `data`, `layout`, and what the page's scripts and screen readers need.
FigureJson: TypeAlias = dict[str, JsonValue]
#: Families of the charts in each room, from top to bottom.
ROOMS: dict[str, tuple[str, ...]] = {
    "findings": ("discrimination", "validation"),
    "models": ("leaderboard", "benchmark", "indices", "fragility", "difficulty", "agreement", "levels", "shape-bias"),
    "corruptions": ("similarity", "discrimination"),
    "people": ("validation", "coverage", "participants", "recruiters", "confusion", "times", "sensitivity"),
    "who": ("who-answered",),
}


@dataclass(frozen=True)
class ChoiceGroup:
    label: str
    choices: tuple[Choice, ...]


#: From so many charts on the group is chosen first, and then the chart in it.
MANY = 60


@dataclass(frozen=True)
class Card:
    """One chart, and what else could stand in its place."""

    family: str
    chart: Chart
    choices: Sequence[Choice]

    @cached_property
    def groups(self) -> list[ChoiceGroup]:
        by_label: dict[str, list[Choice]] = {}
        for choice in self.choices:
            by_label.setdefault(choice.group, []).append(choice)
        return [ChoiceGroup(label, tuple(choices)) for label, choices in by_label.items()]

    @property
    def is_large(self) -> bool:
        return len(self.choices) > MANY and len(self.groups) > 1

    @cached_property
    def group(self) -> ChoiceGroup:
        """The group of the chart that is shown."""
        return next(group for group in self.groups if any(one.key == self.chart.key for one in group.choices))

    @cached_property
    def figure(self) -> FigureJson | None:
        """The figure as the page draws it."""
        figure = self.chart.figure
        return None if figure is None else figure_value(self.chart.key, figure)


def figure_value(key: str, figure: Figure) -> FigureJson:
    """A figure as plotly's JSON, with what the page's scripts and screen readers need."""
    described = {"key": key, "description": figure.description, "bands": list(figure.band_meanings)}
    return to_plotly(figure) | described


def cards_of(findings: Findings, room: str, chosen: Mapping[str, str]) -> list[Card]:
    """The room's cards; `chosen` holds keys of charts by family. Families without a chart are left out."""
    cards = []
    for family in (FAMILIES[name] for name in ROOMS[room]):
        choices = family.choices(findings)
        if choices:
            keys = [choice.key for choice in choices]
            key = chosen.get(family.name, "")
            cards.append(Card(family.name, family.build(findings, key if key in keys else keys[0]), choices))
    return cards


def card_of(findings: Findings, key: str) -> Card:
    """The card that shows this chart."""
    family = family_of(findings, key)
    return Card(family.name, family.build(findings, key), family.choices(findings))


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
    entry: Comparison

    @property
    def bar(self) -> float:
        """Length of the bar in the table's drawing, of 100."""
        return 100 * self.entry.shown.hmri

    @property
    def verdict(self) -> str:
        """The verdict on accuracy in a few words; empty without one."""
        one = self.entry.verdict
        if one is None:
            return ""
        return verdict_words(
            matches=one.matches, differs=one.differs, direction=one.direction, difference=one.difference
        )


@dataclass(frozen=True)
class CurveRow:
    """The area under one curve."""

    swatch: Swatch
    curve: Curve


@dataclass(frozen=True)
class Panel:
    """All that is said about one figure of performance."""

    name: FigureName
    swatches: tuple[Swatch, ...]
    curves: tuple[CurveRow, ...]
    models: tuple[ModelRow, ...]
    over_conditions: bool
    #: people's curve as found; None where only classifiers have one
    people: Curve | None

    @property
    def is_judged(self) -> bool:
        return any(row.entry.verdict for row in self.models)

    @property
    def margin(self) -> float:
        """Of the mean difference, for models to match."""
        return next(row.entry.verdict.margin for row in self.models if row.entry.verdict)

    @property
    def window_margin(self) -> float:
        """Of the difference over windows."""
        return next(row.entry.verdict.window_margin for row in self.models if row.entry.verdict)

    @property
    def fragile(self) -> tuple[ModelRow, ...]:
        """Models of whose verdicts it was sought what they hang on."""
        return tuple(row for row in self.models if row.entry.verdict and row.entry.verdict.fragility)

    @property
    def individuals(self) -> str:
        """What single people would be called; empty where it was not asked."""
        known = (row.entry.verdict.individuals for row in self.models if row.entry.verdict)
        return next((one.statement for one in known if one), "")

    @property
    def axis(self) -> str:
        """Short name of the abscissa."""
        return "condition" if self.over_conditions else "Δv"


@dataclass(frozen=True)
class AccuracyRow:
    """One condition of an imported study: people's mean, then every observer."""

    condition: str
    mean: float | None
    cells: tuple[Accuracy | None, ...]


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
    sessions: SessionCounts
    #: how many rows went in, by kind
    trials: TrialCounts | None

    @property
    def figures(self) -> int:
        return sum(len(group.names) for group in self.groups)

    @property
    def excluded(self) -> int:
        return sum(self.sessions.excluded.values())


def dashboard_of(findings: Findings, *, imported: bool = False) -> Dashboard:
    """What the page prints of all figures; published trials also show every observer's accuracy by condition."""
    names = figure_names(findings)
    return Dashboard(
        headline=headline_of(findings),
        alike=Counter(one.verdict for one in findings.similarity if one.property == "accuracy"),
        groups=tuple(
            FigureGroup(measure, tuple(name for name in names if name.measure == measure))
            for measure in dict.fromkeys(name.measure for name in names)
        ),
        observers=tuple(one.name for one in findings.observers),
        accuracy=tuple(_accuracy(findings)) if imported else (),
        sessions=findings.sessions or SessionCounts(),
        trials=findings.trials,
    )


def panel_of(findings: Findings, name: FigureName) -> Panel:
    swatches = {
        population: Swatch.of(observer.name, style_of(observer), is_human=population == HUMANS)
        for population, observer in observers_of(findings).items()
    }
    curves = curves_of(findings, name)
    populations = [curve.population for curve in curves] if curves else list(swatches)
    models = [
        ModelRow(swatches[entry.classifier], entry)
        for entry in findings.comparisons
        if (entry.property, entry.corruption) == (name.measure, name.corruption)
    ]
    return Panel(
        name=name,
        swatches=tuple(swatches[population] for population in populations),
        curves=tuple(CurveRow(swatches[curve.population], curve) for curve in curves),
        models=tuple(sorted(models, key=lambda row: -row.entry.shown.hmri)),
        over_conditions=is_over_conditions(findings, name.corruption),
        people=next((curve for curve in curves if curve.population == HUMANS), None),
    )


def _accuracy(findings: Findings) -> list[AccuracyRow]:
    """Observers' accuracies by condition."""
    cells = {(cell.condition, cell.observer): cell for cell in findings.accuracy}
    means = {cell.condition: cell.mean_over_observers for cell in findings.human_accuracy}
    names = [one.name for one in findings.observers]
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
        grid, band = curve.band.v, curve.band.of_kind("pointwise")
        place = min(range(len(grid)), key=lambda number: abs(grid[number] - v))
        ends = (band.lower[place], band.upper[place]) if band else None
        readings.append(Reading(swatch, curve.band.estimate[place], ends))
    return readings


@dataclass(frozen=True)
class Question:
    """What a study asked, in a few words."""

    task: str
    #: e.g. "200 ms"; empty where pictures stay
    exposure: str
    corruptions: int
    models: int


def question_of(study: Study, findings: Findings) -> Question:
    configuration = study.configuration or {}
    design = configuration.get("design") or {}
    if design.get("validation"):
        task = "Does the picture show it, and could it be used as one?"
    elif design.get("discrimination") and not design.get("main_trials"):
        task = "Same corruption or another?"
    else:
        task = "Which of 16 categories?"
    shown_ms = (configuration.get("protocol") or {}).get("stimulus_ms")
    timed = shown_ms is not None and not design.get("validation") and study.origin == Origin.COLLECTED
    return Question(
        task=task,
        exposure=f"{shown_ms:g} ms" if timed else "",
        corruptions=len(corruptions_of(findings)),
        models=len(observers_of(findings)) - 1,
    )
