"""The charts of a room: in each card one chart of its family, chosen by the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from pydantic import JsonValue

from analysis.figures.page import to_plotly
from analysis.figures.value import Figure
from analysis.findings.model.findings import Findings
from humanexp.results.charts import FAMILIES, Chart, Choice, family_of
from humanexp.results.charts.chart import Text

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
    label: Text
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
        by_label: dict[Text, list[Choice]] = {}
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
