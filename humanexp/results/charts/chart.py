"""A chart, and how observers look in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from analysis.figures.table import Table
from analysis.figures.value import Figure, Observer
from analysis.findings.model.curves import Curve
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from analysis.observers.kinds import observers_by_kind
from analysis.observers.protocol import VIEWING
from humanexp.core.errors import existing


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Everything that stands around one picture."""

    key: str
    title: str
    #: None where the table is all there is
    figure: Figure | None
    tables: tuple[Table, ...]
    #: what is drawn and how it is computed
    definition: tuple[str, ...]
    #: what a reader must not conclude
    caveats: tuple[str, ...] = ()
    #: what was found about the picture itself, and stands beside it
    found: tuple[str, ...] = ()
    #: name of the sheet on which the figure stands beside others of its kind; empty where it is the only one
    sheet: str = ""

    def table(self, key: str) -> Table:
        found = next((table for table in self.tables if table.key == key), None)
        return existing(found, f"The figure {self.key!r} has no table {key!r}.")


@dataclass(frozen=True)
class ChartChoice:
    """A chart that can be chosen in its family's card."""

    key: str
    label: str
    #: heading under which it stands in a long list
    group: str = ""


@dataclass(frozen=True)
class Family:
    """Charts of one kind: which of them a study has, and how one is built."""

    name: str
    choices: Callable[[Findings], list[ChartChoice]]
    build: Callable[[Findings, str], Chart]


def with_viewing(figure: Figure, findings: Findings) -> Figure:
    """The figure, which says of models that were asked in words how long they could look."""
    shown = [one.observer for one in findings.asked if figure.shows(one.observer)]
    return replace(figure, notes=(*figure.notes, *(f"{name}: {VIEWING}." for name in shown)))


def with_curve_kind(chart: Chart, findings: Findings) -> Chart:
    """The chart, whose figure and tables say that their curves are published ones, where they are."""
    note = findings.curve_note
    if not note:
        return chart
    figure = chart.figure
    if figure is not None and note not in figure.notes:
        figure = replace(figure, notes=(*figure.notes, note))
    tables = tuple(replace(table, notes=(*table.notes, note)) for table in chart.tables)
    return replace(chart, figure=figure, tables=tables)


def only_chart(
    key: str, label: str, is_there: Callable[[Findings], object], build: Callable[[Findings, str], Chart]
) -> Family:
    """A family of a single chart, of the same name, which a study has or has not."""
    return Family(key, lambda findings: [ChartChoice(key, label)] if is_there(findings) else [], build)


#: Clean pictures among the corruptions.
CLEAN = "none"
CONDITIONS = "conditions"
#: Label of people in figures and tables.
PEOPLE = "people"


@dataclass(frozen=True)
class FigureName:
    """A figure of performance that can be shown. Its key is `<property>--<corruption>`, or `conditions` for imported
    trials without a visual change."""

    key: str
    corruption: str
    measure: str

    @property
    def label(self) -> str:
        return readable(self.corruption)

    @property
    def is_conditions(self) -> bool:
        """Rates by named condition instead of curves."""
        return self.key == CONDITIONS


def observers_of(findings: Findings) -> dict[str, Observer]:
    """How every population looks, networks by kind where they have one: the same in every figure."""
    return {HUMANS: Observer(PEOPLE, "human"), **observers_by_kind(_classifiers(findings), findings.network_kinds)}


def population_keys(findings: Findings) -> dict[str, str]:
    """Names of populations in addresses: `humans`, or `m` and the classifier's place in the findings."""
    return {HUMANS: HUMANS} | {name: f"m{place}" for place, name in enumerate(_classifiers(findings))}


def _classifiers(findings: Findings) -> list[str]:
    names = [curve.population for curve in findings.curves]
    names += [one.name for one in findings.observers if one.kind == "classifier"]
    return [name for name in dict.fromkeys(names) if name != HUMANS]


def population_label(population: str) -> str:
    return PEOPLE if population == HUMANS else population


def figure_names(findings: Findings) -> list[FigureName]:
    """In the order in which they are offered: accuracy before consistency, corruptions as they come."""
    pairs = dict.fromkeys((curve.property, curve.corruption) for curve in findings.curves)
    names = [FigureName(f"{measure}--{corruption}", corruption, measure) for measure, corruption in pairs]
    names.sort(key=lambda name: name.measure != "accuracy")
    if not names and findings.accuracy:
        names.append(FigureName(CONDITIONS, CONDITIONS, "accuracy"))
    return names


def curves_of(findings: Findings, name: FigureName) -> list[Curve]:
    """The curves of one figure, people's first, then those of networks as `observers_of` orders them."""
    curves = [
        curve for curve in findings.curves if (curve.property, curve.corruption) == (name.measure, name.corruption)
    ]
    places = list(observers_of(findings))
    return sorted(curves, key=lambda curve: places.index(curve.population))


def corruptions_of(findings: Findings) -> list[str]:
    """Corruptions with a curve, in the findings' order."""
    return list(dict.fromkeys(curve.corruption for curve in findings.curves))


def is_over_conditions(findings: Findings, corruption: str) -> bool:
    """Whether a corruption's curves stand over published conditions instead of visual change."""
    return any(curve.abscissa == "condition" for curve in findings.curves if curve.corruption == corruption)


def axis_label(findings: Findings, corruption: str) -> str:
    """What stands below the curves of a corruption."""
    return "condition" if is_over_conditions(findings, corruption) else "visual change Δv"


def conditions_of(findings: Findings) -> list[str]:
    """Conditions in the findings' own order."""
    return list(dict.fromkeys(cell.condition for cell in findings.accuracy))


def ranges_words(ranges: Iterable[tuple[float, float]]) -> str:
    """Ranges of the axis; a condition is one place."""
    return " and ".join(f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}" for low, high in ranges)


def readable(name: str) -> str:
    return "clean" if name == CLEAN else name.replace("_", " ")
