"""Performance over visual change (or over published conditions), with the tables behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from analysis.claims.curves import (
    BANDS,
    DRAWN,
    MEAN_OVER,
    ON_AXIS,
    WITHOUT_INTERVALS,
    below_chance_sentence,
    category_gaps_sentence,
)
from analysis.figures.performance import PlottedCurve, condition_figure, curve_figure
from analysis.figures.table import Cell, Column, Estimate, Table, estimate
from analysis.figures.value import Figure, Observer
from analysis.findings.model.curves import Curve
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from analysis.labels.files import default_labels
from analysis.study.analysis_plan import CurveKind
from humanexp.core.errors import existing
from humanexp.results.charts.chart import (
    Chart,
    ChartChoice,
    Family,
    FigureName,
    axis_label,
    conditions_of,
    curves_of,
    figure_names,
    is_over_conditions,
    observers_of,
    population_label,
    with_viewing,
)
from humanexp.results.charts.weights import weighted_areas

_DOTS = (
    "Dots: people's answers in {bins} bins of visual change, two or four of them together where they hold few answers; "
    "the area of a dot is proportional to its answers."
)
_AREA = "R̂: area under the curve on [0, 1]. Grey: hardly any answers, the curve is a guess."
_CONSISTENCY = (
    "Consistency of people: agreement of an answer with a random other person's answer to the clean original, because "
    "no one sees an original twice. Of models: the same answer as to the clean original."
)
CONSISTENCY_CAVEAT = (
    "Models are compared with themselves, people with others: a positive MRSI of consistency at low visual change is "
    "partly by construction."
)
_CURVE_CAVEATS = (
    "Two curves that touch within their bands are not shown to be alike: see the test of similarity.",
    "Visual change is measured on luminance: changes of hue alone score near 0.",
)
#: Of columns that are there where guessing is not that of the 16 categories.
_ABOVE_CHANCE = (
    "Above chance: (p − c) / (1 − c) at chance c, if whoever does not know guesses. d′: of an observer without bias "
    "among as many labels. Both are for display; no verdict uses them."
)

#: Bins of equal width that curves are drawn through.
N_BINS: Mapping[CurveKind, int] = {"spline": 40, "paper": 39, "paper-code": 20}


def name_of(findings: Findings, key: str) -> FigureName:
    found = next((name for name in figure_names(findings) if name.key == key), None)
    return existing(found, f"This study has no figure called {key!r}.")


def figure_of(findings: Findings, name: FigureName) -> Figure:
    if name.is_conditions:
        return _conditions(findings)
    observers = observers_of(findings)
    curves = curves_of(findings, name)
    chance = _chance(findings, curves)
    figure = curve_figure(
        [plotted(curve, observers[curve.population]) for curve in curves],
        title=f"{name.label.capitalize()}: {name.measure}",
        measure=name.measure,
        chance=chance if name.measure == "accuracy" else None,
        x_label=axis_label(findings, name.corruption),
        bin_width=1 / N_BINS[findings.curve_kind],
    )
    if not findings.curve_note:
        return figure
    label = f"{figure.y.label}{ON_AXIS[findings.curve_kind]}"
    return replace(figure, notes=(*figure.notes, findings.curve_note), y=replace(figure.y, label=label))


def _chance(findings: Findings, curves: Sequence[Curve]) -> float:
    """Share right of whoever guesses: the largest of these curves, or of the labels where there is no curve."""
    of_labels = 1 / findings.labels.n if findings.labels else default_labels().chance
    return max((curve.chance for curve in curves), default=of_labels)


def sheet_names(findings: Findings) -> list[str]:
    """Measures with curves over several corruptions, which stand on one sheet."""
    measures = [name.measure for name in figure_names(findings) if not name.is_conditions]
    return [measure for measure in dict.fromkeys(measures) if measures.count(measure) > 1]


def sheet_of(findings: Findings, measure: str) -> list[tuple[str, Figure]]:
    """Label and figure of every corruption, in their order."""
    existing(measure if measure in sheet_names(findings) else None, f"This study has no sheet called {measure!r}.")
    names = [name for name in figure_names(findings) if name.measure == measure]
    return [(name.label, with_viewing(figure_of(findings, name), findings)) for name in names]


def _build(findings: Findings, key: str) -> Chart:
    name = name_of(findings, key)
    if name.is_conditions:
        return Chart(
            key=key,
            title="Accuracy by condition",
            figure=figure_of(findings, name),
            tables=(_condition_table(findings),),
            definition=("Share of right answers by condition; people: mean over people.",),
        )
    curves = curves_of(findings, name)
    is_consistency = name.measure == "consistency"
    over_conditions = is_over_conditions(findings, name.corruption)
    return Chart(
        key=key,
        title=f"{name.label.capitalize()}: {name.measure}",
        figure=figure_of(findings, name),
        tables=(
            areas_table(name, curves, findings, axis="condition" if over_conditions else "Δv"),
            *weighted_areas(findings, name, curves),
            bins_table(name, curves, N_BINS[findings.curve_kind]),
            grid_table(name, curves),
        ),
        definition=(
            DRAWN[findings.curve_kind],
            *([MEAN_OVER[findings.settings.estimand]] if findings.settings else []),
            *(BANDS if findings.curve_kind == "spline" else (WITHOUT_INTERVALS,)),
            _DOTS.format(bins=N_BINS[findings.curve_kind]),
            _AREA,
            *([_CONSISTENCY] if is_consistency else []),
        ),
        caveats=(
            *_missing(curves),
            *(_CURVE_CAVEATS[:1] if over_conditions else _CURVE_CAVEATS),
            *([CONSISTENCY_CAVEAT] if is_consistency else []),
        ),
        found=tuple(
            f"{population_label(curve.population)}: {curve.rise.statement}"
            for curve in curves
            if curve.rise is not None
        )
        + tuple(
            f"{population_label(curve.population)}: {below_chance_sentence(curve.below_chance, curve.chance)}"
            for curve in curves
            if curve.below_chance is not None
        ),
        sheet=name.measure if name.measure in sheet_names(findings) else "",
    )


def _missing(curves: list[Curve]) -> Iterator[str]:
    """Which categories were not shown everywhere, curve by curve."""
    for curve in curves:
        if curve.category_gaps:
            told = category_gaps_sentence([(one.category, one.range) for one in curve.category_gaps])
            yield f"{population_label(curve.population)}: {told}"


def areas_table(name: FigureName, curves: list[Curve], findings: Findings, *, axis: str) -> Table:
    """One row a population: area, thresholds, counts; beside a published curve the default curve's area."""
    has_own = any(curve.own for curve in curves)
    return Table(
        "areas",
        f"Area under the curve, {name.measure}, {name.label}",
        (
            Column("observer", "Observer"),
            Column("answers", "Answers", "count"),
            Column("area", "R̂", "estimate"),
            Column("v75", f"{axis} at 75 %", "estimate"),
            Column("v50", f"{axis} at 50 %", "estimate"),
            Column("extrapolated", "Extrapolated share", "number"),
            Column("mean_measured", "Mean on the measured range", "estimate"),
            *([Column("own_area", "R̂, default curve", "estimate")] if has_own else []),
        ),
        tuple(
            (
                population_label(curve.population),
                curve.n,
                estimate(curve.area, curve.interval),
                *_thresholds(curve),
                curve.extrapolated,
                estimate(curve.measured.mean, curve.measured.interval),
                *([estimate(curve.own.area, curve.own.interval) if curve.own else _NOTHING] if has_own else []),
            )
            for curve in curves
        ),
        (
            f"{100 * curves[0].level:g} % intervals{' of the default curve' if has_own else ''}.",
            *(findings.about_people if any(curve.population == HUMANS for curve in curves) else ()),
        ),
    )


def bins_table(name: FigureName, curves: list[Curve], n_bins: int) -> Table:
    """Rates and counts in bins of visual change, populations side by side."""
    labels = [population_label(curve.population) for curve in curves]
    placed = [{min(n_bins - 1, int(one.v * n_bins)): one for one in curve.bins} for curve in curves]
    columns = [Column("low", "from"), Column("high", "to")]
    for label in labels:
        columns += [Column(f"{label}_rate", label, "number", 2), Column(f"{label}_n", "n", "count")]
    rows: list[tuple[Cell, ...]] = []
    for number in sorted(set().union(*placed)):
        cells: list[Cell] = []
        for bins in placed:
            one = bins.get(number)
            cells += [one.rate, one.n] if one else [None, None]
        rows.append((f"{number / n_bins:.3f}", f"{(number + 1) / n_bins:.3f}", *cells))
    return Table(
        "bins",
        f"Rates in bins of visual change, {name.measure}, {name.label}",
        tuple(columns),
        tuple(rows),
        ("Rate and number of answers of each observer in the bin.",),
    )


def grid_table(name: FigureName, curves: list[Curve]) -> Table:
    """The curves and their bands as they are drawn; above chance, too, where chance is not that of the 16."""
    rows: list[tuple[Cell, ...]] = []
    has_own_chance = name.measure == "accuracy" and any(
        not math.isclose(curve.chance, default_labels().chance) for curve in curves
    )
    for curve in curves:
        above, d_prime = (curve.above_chance, curve.d_prime) if has_own_chance else ((), None)
        near, wide = curve.band.of_kind("pointwise"), curve.band.of_kind("simultaneous")
        for place, (v, height) in enumerate(zip(curve.band.v, curve.band.estimate, strict=True)):
            rows.append(
                (
                    population_label(curve.population),
                    v,
                    (height, near.lower[place] if near else None, near.upper[place] if near else None),
                    wide.lower[place] if wide else None,
                    wide.upper[place] if wide else None,
                    *((above[place], d_prime[place] if d_prime else None) if has_own_chance else ()),
                )
            )
    return Table(
        "curve",
        f"Curves and bands, {name.measure}, {name.label}",
        (
            Column("observer", "Observer"),
            Column("visual_change", "Δv", "number", 2),
            Column("estimate", "Estimate (pointwise band)", "estimate"),
            Column("simultaneous_lower", "Simultaneous, lower", "number"),
            Column("simultaneous_upper", "Simultaneous, upper", "number"),
            *(
                (Column("above_chance", "Above chance", "number"), Column("d_prime", "d′", "number"))
                if has_own_chance
                else ()
            ),
        ),
        tuple(rows),
        (_ABOVE_CHANCE,) if has_own_chance else (),
    )


def _thresholds(curve: Curve) -> tuple[Estimate, Estimate]:
    found = {one.rate: estimate(one.v, one.interval) for one in curve.thresholds}
    return found.get(0.75, _NOTHING), found.get(0.5, _NOTHING)


_NOTHING: Estimate = (None, None, None)


def plotted(curve: Curve, observer: Observer) -> PlottedCurve:
    start, end = curve.measured.range
    # Earlier versions kept no gaps, and only the ends of what was measured are known.
    ends = tuple((low, high) for low, high in ((0.0, start), (end, 1.0)) if high > low)
    return PlottedCurve(
        observer=observer,
        v=curve.band.v,
        estimate=curve.band.estimate,
        bands=curve.band.bands,
        bins=tuple((one.v, one.n, one.rate) for one in curve.bins),
        gaps=curve.gaps or ends,
        area=curve.area,
    )


def _conditions(findings: Findings) -> Figure:
    observers = observers_of(findings)
    means = {cell.condition: cell.mean_over_observers for cell in findings.human_accuracy}
    people = {one.name for one in findings.observers if one.kind == "human"}
    answers: dict[str, int] = dict.fromkeys(means, 0)
    rates: dict[str, dict[str, tuple[float, int]]] = {}
    for cell in findings.accuracy:
        if cell.observer in people:
            answers[cell.condition] += cell.trials
        else:
            rates.setdefault(cell.observer, {})[cell.condition] = (cell.accuracy, cell.trials)
    series: list[tuple[Observer, dict[str, tuple[float, int]]]] = [
        (observers[name], by_condition) for name, by_condition in rates.items()
    ]
    if means:
        series.insert(0, (observers[HUMANS], {name: (rate, answers[name]) for name, rate in means.items()}))
    return condition_figure(
        series,
        conditions=conditions_of(findings),
        title="Accuracy by condition",
        chance=_chance(findings, findings.human_curves),
    )


#: The row of which the headline speaks: each person counts once, whatever they answered.
_MEAN = "people, mean"


def _condition_table(findings: Findings) -> Table:
    return Table(
        "accuracy",
        "Accuracy by condition",
        (
            Column("observer", "Observer"),
            Column("condition", "Condition"),
            Column("trials", "Trials", "count"),
            Column("correct", "Right", "count"),
            Column("accuracy", "Accuracy", "number"),
        ),
        (
            *((_MEAN, cell.condition, None, None, cell.mean_over_observers) for cell in findings.human_accuracy),
            *((cell.observer, cell.condition, cell.trials, cell.correct, cell.accuracy) for cell in findings.accuracy),
        ),
        findings.about_people if findings.human_accuracy else (),
    )


def _choices(findings: Findings) -> list[ChartChoice]:
    return [ChartChoice(name.key, name.label, name.measure) for name in figure_names(findings)]


FAMILY = Family("curves", _choices, _build)
