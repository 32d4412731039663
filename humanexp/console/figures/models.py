"""Figures of networks: HMRI and MRSI with their curves, fixed levels beside areas, and a network before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.claims.robustness import THESE_WEIGHTS
from analysis.figures.bars import BarColumn, draw_bars, places_of
from analysis.figures.functions import V_AXIS
from analysis.figures.performance import curve_figure
from analysis.figures.table import Column, Table, estimate
from analysis.figures.value import PEOPLE, Axis, Figure, Line, Observer
from analysis.findings.model.findings import Findings
from humanexp.console.figures.figure import Drawn, Wanted, chosen
from humanexp.console.figures.subjects import Analysed
from humanexp.core.errors import InputRefused
from humanexp.evaluations.models import Retraining
from humanexp.results.charts.chart import FigureName, axis_label, curves_of, observers_of, readable
from humanexp.results.charts.curves import plotted
from humanexp.results.charts.indices import standings_of

#: What stands for all functions together.
ALL = "all"


def indices(analysed: Analysed, wanted: Wanted) -> Drawn:
    """HMRI and MRSI of every model, and below them the curves; over all functions the means with intervals."""
    found, measure = analysed.found, wanted.property
    entries = found.own_comparisons(measure)
    if not entries:
        raise InputRefused(
            f"No model is compared with people's own curve of {measure} in {analysed.study.slug}: evaluate a model on "
            "its stimulus set, and analyse again."
        )
    functions = list(dict.fromkeys(one.corruption for one in entries))
    standings = standings_of(found, measure)
    if wanted.function == ALL:
        joint = [leader for _, leader in standings if leader is not None]
        if not joint:
            raise InputRefused(
                f"{analysed.study.slug} has no means over functions: they need the same pictures for people and "
                "models, two functions or more, and refits. Name a function, or analyse again."
            )
        rows = [(one.classifier, one.hmri, one.hmri_interval, one.mrsi, one.mrsi_interval) for one in joint]
        where = f"mean of {max(one.corruptions for one in joint)} functions"
        curves = None
    else:
        function = chosen(functions, wanted.function, "function with models beside people:")
        own = [one for one in entries if one.corruption == function]
        rows = [(one.classifier, one.shown.hmri, None, one.shown.mrsi, None) for one in own]
        where = readable(function)
        curves = _curves(found, FigureName(f"{measure}--{function}", function, measure))
    rows = _ordered(found, rows)
    observers = observers_of(found)
    title = f"HMRI and MRSI, {measure}, {where}"
    table = Table(
        "indices",
        title,
        (Column("model", "Model"), Column("hmri", "HMRI", "estimate"), Column("mrsi", "MRSI", "estimate")),
        tuple((name, estimate(hmri, first), estimate(mrsi, second)) for name, hmri, first, mrsi, second in rows),
    )
    columns = (
        BarColumn("HMRI", tuple(row[1] for row in rows), tuple(row[2] for row in rows)),
        BarColumn("MRSI", tuple(row[3] for row in rows), tuple(row[4] for row in rows), largest=_end(rows)),
    )
    return Drawn(
        title=title,
        draw=lambda width: draw_bars([observers[row[0]] for row in rows], columns, width=width, curves=curves),
        tables=lambda: (table,),
        caption=(f"{where.capitalize()}, {measure}. Lines: {100 * found.level:g} % intervals.", *found.about_people),
        said="; ".join(f"{row[0]}: HMRI {row[1]:.3f}, MRSI {row[3]:.3f}" for row in rows) + ".",
    )


def _end(rows: Sequence[tuple[Any, ...]]) -> float:
    """Where the axis of MRSI ends: it is small, and its bars would not be seen on an axis to 1."""
    longest = max(row[4][1] if row[4] else row[3] for row in rows)
    return next((end for end in (0.05, 0.1, 0.2, 0.5) if end >= longest), 1.0)


def _ordered(found: Findings, rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Highest HMRI first, networks of one kind together where they have one."""
    kinds = {name: observer.kind for name, observer in observers_of(found).items()}
    order = {name: kind.order if kind else 0 for name, kind in kinds.items()}
    return sorted(rows, key=lambda row: (order[row[0]], -row[1]))


def _curves(found: Findings, name: FigureName) -> Figure:
    """Lines alone: bands and dots of many networks hide each other."""
    observers = observers_of(found)
    figure = curve_figure(
        [plotted(one, observers[one.population]) for one in curves_of(found, name)],
        title=f"{name.label.capitalize()}: {name.measure}",
        measure=name.measure,
        x_label=axis_label(found, name.corruption),
    )
    lines = tuple(trace for trace in figure.traces if isinstance(trace, Line))
    return Figure(title=figure.title, description=figure.description, x=figure.x, y=figure.y, traces=lines)


def levels(analysed: Analysed, wanted: Wanted) -> Drawn:
    """Accuracy at the levels of ImageNet-C beside the areas over visual change, with the places of every model."""
    found = analysed.found.levels
    if found is None or not found.models:
        raise InputRefused(
            f"{analysed.study.slug} has no model at fixed levels: evaluate it on a set of levels of the same pictures "
            "(generate_stimuli --sampling imagenet-c-levels, or import_imagenet_c), and analyse again."
        )
    function = chosen([ALL, *found.functions], wanted.function, "function at fixed levels:")
    rows: list[tuple[str, float, float, float | None]] = []
    for one in found.models:
        if function == ALL:
            rows.append((one.classifier, one.fixed_accuracy, one.area_accuracy, one.area_consistency))
            continue
        own = next(entry for entry in one.by_function if entry.corruption == function)
        rows.append((one.classifier, own.fixed_accuracy, own.area_accuracy, own.area_consistency))
    rows.sort(key=lambda row: -row[1])
    numbers: list[tuple[float | None, ...]] = [
        tuple(row[1] for row in rows),
        tuple(row[2] for row in rows),
        tuple(row[3] for row in rows),
    ]
    places = [places_of(one) for one in numbers]
    titles = ("Accuracy at levels", "R̂a, accuracy", "R̂p, consistency")
    columns = [
        BarColumn(
            title,
            values,
            texts=tuple(_place(place, start) for place, start in zip(own, places[0], strict=True)),
        )
        for title, values, own in zip(titles, numbers, places, strict=True)
        if any(value is not None for value in values)
    ]
    observers = observers_of(analysed.found)
    where = f"{len(found.functions)} functions" if function == ALL else readable(function)
    title = f"Fixed levels beside the whole range, {where}"
    ranked = tuple((*row, *(own[place] for own in places)) for place, row in enumerate(rows))
    table = Table(
        "levels",
        title,
        (
            Column("model", "Model"),
            Column("fixed_accuracy", titles[0], "number"),
            Column("area_accuracy", titles[1], "number"),
            Column("area_consistency", titles[2], "number"),
            Column("rank_fixed", "Rank", "count"),
            Column("rank_accuracy", "Rank", "count"),
            Column("rank_consistency", "Rank", "count"),
        ),
        ranked,
    )
    return Drawn(
        title=title,
        draw=lambda width: draw_bars([observers[row[0]] for row in rows], columns, width=width),
        tables=lambda: (table,),
        caption=(
            "Beside each bar the model's place; ↑ and ↓: higher and lower than by fixed levels. Places take no account "
            "of intervals.",
        ),
        said="; ".join(f"{row[0]}: {row[1]:.3f} at levels, area {row[2]:.3f}" for row in rows) + ".",
    )


def _place(place: int | None, before: int | None) -> str:
    if place is None or before is None:
        return ""
    change = before - place
    return f"{place}" if not change else f"{place} {'↑' if change > 0 else '↓'}{abs(change)}"


def before_and_after(retraining: Retraining, wanted: Wanted) -> Drawn:
    """Curves of a network before and after retraining, and of people, a panel a function."""
    report = retraining.report
    if not report:
        raise InputRefused(f"The retraining {retraining.pk} is not complete yet: let its job finish first.")
    rows = [one for one in report["rows"] if one["property"] == wanted.property]
    if not rows:
        raise InputRefused(f"The retraining {retraining.pk} has no curve of {wanted.property}.")
    if any("curves" not in one for one in rows):
        raise InputRefused(
            f"The retraining {retraining.pk} was made by an earlier version, which kept no curves: retrain again."
        )
    names = list(dict.fromkeys(one["corruption"] for one in rows))
    if wanted.function:
        chosen(names, wanted.function, "function in this retraining:")
        rows = [one for one in rows if one["corruption"] == wanted.function]
    before, after = (
        Observer(f"{retraining.name} before retraining", "classifier", 0),
        Observer("after retraining", "classifier", 1),
    )
    panels = [(_panel_name(one), _retrained(one, before, after, wanted.property)) for one in rows]
    points = Table(
        "curves",
        "Curves before and after retraining",
        (
            Column("function", "Function"),
            Column("visual_change", "Δv", "number"),
            Column("before", "Before", "number"),
            Column("after", "After", "number"),
            Column("people", "People", "number"),
        ),
        tuple(
            (one["corruption"], *point)
            for one in rows
            for point in zip(
                one["curves"]["visual_change"],
                one["curves"]["before"],
                one["curves"]["after"],
                one["curves"]["people"] or [None] * len(one["curves"]["visual_change"]),
                strict=True,
            )
        ),
    )
    title = f"{retraining.name} before and after retraining, {wanted.property}"
    return Drawn.of_panels(panels, points, _numbers(rows), title=title, caption=(THESE_WEIGHTS,))


def _panel_name(row: dict[str, Any]) -> str:
    """The function, whether it was trained on, and its indices where there are people."""
    name = readable(row["corruption"]) + ("" if row["trained_on"] else " (not trained on)")
    quantity = "hmri" if "hmri" in row["before"] else "area"
    words = "HMRI" if quantity == "hmri" else "R̂"
    return f"{name}\n{words} {row['before'][quantity]:.3f} → {row['after'][quantity]:.3f}"


def _retrained(row: dict[str, Any], before: Observer, after: Observer, measure: str) -> Figure:
    curves = row["curves"]
    v = tuple(curves["visual_change"])
    lines = [Line(before, v, tuple(curves["before"])), Line(after, v, tuple(curves["after"]))]
    if curves["people"] is not None:
        lines.append(Line(PEOPLE, v, tuple(curves["people"])))
    return Figure(
        title=readable(row["corruption"]),
        description=f"R̂ {row['before']['area']:.3f} before, {row['after']['area']:.3f} after.",
        x=V_AXIS,
        y=Axis(measure, (-0.03, 1.03), (0.0, 0.25, 0.5, 0.75, 1.0)),
        traces=tuple(lines),
    )


def _numbers(rows: list[dict[str, Any]]) -> Table:
    """The six numbers of every function, with the intervals of the differences."""
    return Table(
        "numbers",
        "Before and after retraining",
        (
            Column("function", "Function"),
            Column("quantity", "Quantity"),
            Column("before", "Before", "number"),
            Column("after", "After", "number"),
            Column("difference", "Difference", "estimate"),
        ),
        tuple(
            (
                one["corruption"],
                name,
                one["before"][name],
                one["after"][name],
                estimate(one["difference"][name], (one["interval"] or {}).get(name)),
            )
            for one in rows
            for name in one["before"]
        ),
    )
