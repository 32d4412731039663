"""The dashboard, and the cards of charts on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from pydantic import JsonValue

from analysis.figures.page import to_plotly
from analysis.figures.value import Figure, Observer
from analysis.findings.model.agreement import Accuracy
from analysis.findings.model.comparisons import Comparison, VerdictOnOne
from analysis.findings.model.curves import Curve
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from analysis.labels.files import default_labels
from humanexp.results.charts.chart import (
    Chart,
    ChartChoice,
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
    "models": (
        "leaderboard",
        "means",
        "benchmark",
        "indices",
        "fragility",
        "difficulty",
        "agreement",
        "soft-agreement",
        "levels",
        "shape-bias",
        "factors",
    ),
    "corruptions": ("similarity", "discrimination"),
    "people": ("validation", "coverage", "participants", "recruiters", "confusion", "groups", "times", "sensitivity"),
    "who": ("who-answered",),
    "pictures": (),
}


#: From so many charts on the group is chosen first, and then the chart in it.
MANY = 60


@dataclass(frozen=True)
class Card:
    """One chart, and what else could stand in its place."""

    family: str
    chart: Chart
    choices: Sequence[ChartChoice]

    @cached_property
    def groups(self) -> dict[str, list[ChartChoice]]:
        by_label: dict[str, list[ChartChoice]] = {}
        for choice in self.choices:
            by_label.setdefault(choice.group, []).append(choice)
        return by_label

    @property
    def is_large(self) -> bool:
        return len(self.choices) > MANY and len(self.groups) > 1

    @cached_property
    def group(self) -> str:
        """The group of the chart that is shown."""
        return next(one.group for one in self.choices if one.key == self.chart.key)

    @property
    def offered(self) -> dict[str, list[ChartChoice]]:
        """What else can be chosen; of many charts those of this group, without its name."""
        return {"": self.groups[self.group]} if self.is_large else self.groups

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
class Panel:
    """All that is said about one figure of performance, as found."""

    name: FigureName
    curves: tuple[Curve, ...]
    #: the highest HMRI first
    models: tuple[Comparison, ...]
    over_conditions: bool
    #: how every population looks
    observers: Mapping[str, Observer]

    @property
    def series(self) -> list[tuple[Observer, Curve | None]]:
        """Whose series are drawn; without curves there are rates of all observers."""
        if not self.curves:
            return [(observer, None) for observer in self.observers.values()]
        return [(self.observers[curve.population], curve) for curve in self.curves]

    @property
    def people(self) -> Curve | None:
        """People's curve; None where only classifiers have one."""
        return next((curve for curve in self.curves if curve.population == HUMANS), None)

    @property
    def verdicts(self) -> list[VerdictOnOne]:
        """Those that there are."""
        return [entry.verdict for entry in self.models if entry.verdict]

    @property
    def is_fragile(self) -> bool:
        """Whether it was sought what the verdicts hang on."""
        return any(verdict.fragility for verdict in self.verdicts)

    @property
    def individuals(self) -> str:
        """What single people would be called; empty where it was not asked."""
        return next((one.individuals.statement for one in self.verdicts if one.individuals), "")

    @property
    def axis(self) -> str:
        """Short name of the abscissa."""
        return "condition" if self.over_conditions else "Δv"


#: One condition of an imported study: people's mean, then every observer.
AccuracyRow: TypeAlias = tuple[str, float | None, list[Accuracy | None]]


@dataclass(frozen=True)
class Dashboard:
    headline: Headline
    #: how many pairs of corruptions people find equivalent, different, undecided; empty where none was tested
    alike: Mapping[str, int]
    #: of each measure, which stand together in the switch
    groups: Mapping[str, list[FigureName]]
    accuracy: list[AccuracyRow]

    @property
    def figures(self) -> list[FigureName]:
        return [name for names in self.groups.values() for name in names]


def dashboard_of(findings: Findings, *, imported: bool = False) -> Dashboard:
    """What the page prints of all figures; published trials also show every observer's accuracy by condition."""
    groups: dict[str, list[FigureName]] = {}
    for name in figure_names(findings):
        groups.setdefault(name.measure, []).append(name)
    return Dashboard(
        headline=headline_of(findings),
        alike=Counter(one.verdict for one in findings.similarity if one.property == "accuracy"),
        groups=groups,
        accuracy=_accuracy(findings) if imported else [],
    )


def panel_of(findings: Findings, name: FigureName) -> Panel:
    models = [one for one in findings.comparisons if (one.property, one.corruption) == (name.measure, name.corruption)]
    return Panel(
        name=name,
        curves=tuple(curves_of(findings, name)),
        models=tuple(sorted(models, key=lambda entry: -entry.shown.hmri)),
        over_conditions=is_over_conditions(findings, name.corruption),
        observers=observers_of(findings),
    )


def _accuracy(findings: Findings) -> list[AccuracyRow]:
    """Observers' accuracies by condition."""
    cells = {(cell.condition, cell.observer): cell for cell in findings.accuracy}
    means = {cell.condition: cell.mean_over_observers for cell in findings.human_accuracy}
    return [
        (condition, means.get(condition), [cells.get((condition, one.name)) for one in findings.observers])
        for condition in conditions_of(findings)
    ]


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
        n_labels = findings.labels.n if findings.labels else len(default_labels())
        offered = design.get("alternatives") or n_labels
        task = f"Which of {offered if offered == n_labels else f'{offered} offered, of {n_labels}'} categories?"
    shown_ms = (configuration.get("protocol") or {}).get("stimulus_ms")
    timed = shown_ms is not None and not design.get("validation") and study.origin == Origin.COLLECTED
    return Question(
        task=task,
        exposure=f"{shown_ms:g} ms" if timed else "",
        corruptions=len(corruptions_of(findings)),
        models=len(observers_of(findings)) - 1,
    )
