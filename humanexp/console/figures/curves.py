"""Figures of curves: people under several functions, leads between people and models, and the definitions drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from analysis.corruptions import CORRUPTIONS
from analysis.figures.functions import (
    area_figure,
    definition_areas,
    definitions,
    functions_figure,
    leads_figure,
)
from analysis.figures.paper import draw_sheet
from analysis.figures.table import Column, Table
from analysis.figures.value import PEOPLE, Figure, Observer
from analysis.findings.model.curves import Curve
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from humanexp.console.figures.figure import Drawn, Wanted, chosen
from humanexp.console.figures.pictures import OTHERS, classes_of as published_classes_of
from humanexp.console.figures.subjects import Analysed
from humanexp.core.errors import InputRefused
from humanexp.results.charts.chart import axis_label, observers_of, readable
from humanexp.results.charts.curves import plotted

#: Curves in one axes at most: more cannot be told apart.
_MOST = 8
#: Panels of leads at most, which is what a page holds.
_PANELS = 12
_BANDS_OF_OURS = "The bands are those of the default curve of the same answers, which a published curve may leave."


def people_by_function(analysed: Analysed, wanted: Wanted) -> Drawn:
    """People's curves of several functions in one axes, a panel a class or a family, with their 83 % bands."""
    found, measure = analysed.found, wanted.property
    drawn = [one for one in found.human_curves if one.property == measure and one.abscissa == "visual_change"]
    if not drawn:
        raise InputRefused(
            f"The study {analysed.study.slug} has no curve of people's {measure} over visual change: it needs answers "
            "to corrupted pictures whose visual change was measured."
        )
    curves = [_with_band(one) for one in drawn]
    if any(one.band.of_kind("simultaneous") is None for one in curves):
        curve = "" if found.curve_kind == "spline" else f" --curve {found.curve_kind}"
        raise InputRefused(
            f"The analysis of {analysed.study.slug} has no bands: analyse it again, with refits, “humanexp analyse "
            f"{analysed.study.slug}{curve} --bootstrap 1000”."
        )
    level = max(one.band.simultaneous_level or 0.0 for one in curves)
    by_name = {one.corruption: one for one in curves}
    classes = panels_of(found, measure, list(by_name), wanted.panels)
    # No two functions look alike, also in different panels: there is one legend.
    places = {name: place for place, name in enumerate(name for _, names in classes for name in names)}
    rows: list[tuple[Any, ...]] = []
    panels = []
    for title, names in classes:
        shown = [by_name[name] for name in names]
        panels.append(
            (
                title,
                functions_figure(
                    [
                        plotted(one, Observer(readable(one.corruption), "function", places[one.corruption]))
                        for one in shown
                    ],
                    title=f"{title}: {measure}",
                    measure=measure,
                    level=level,
                    chance=max(one.chance for one in shown) if measure == "accuracy" else None,
                ),
            )
        )
        rows += [(title, one.corruption, *point) for one in shown for point in _points(one)]
    table = Table(
        "functions",
        f"People's {measure} by function",
        (
            Column("class", "Class"),
            Column("function", "Function"),
            Column("visual_change", "Δv", "number"),
            Column("estimate", measure.capitalize(), "number"),
            Column("lower", "Lower", "number"),
            Column("upper", "Upper", "number"),
        ),
        tuple(rows),
    )
    overlaps = [one for one in found.similarity if one.property == measure]
    caption = (
        f"{sum(one.overlap_83 for one in overlaps)} of {len(overlaps)} pairs of bands overlap wherever both were "
        "measured; overlap alone shows no two functions to be alike.",
        *([_verdicts_within(found, measure, classes)] if wanted.panels == "published" else []),
        *([found.curve_note, _BANDS_OF_OURS] if found.curve_note else []),
        *found.about_people,
    )
    title = f"People's {measure} under {len(curves)} corruption functions"
    return Drawn.of_panels(panels, table, title=title, caption=caption)


def _with_band(curve: Curve) -> Curve:
    """The curve; as published, it has the simultaneous band of the default curve of the same answers."""
    ours = curve.own.band if curve.own else None
    if ours is None:
        return curve
    band = {name: getattr(ours, name) for name in ("simultaneous_lower", "simultaneous_upper", "simultaneous_level")}
    return curve.model_copy(update={"band": curve.band.model_copy(update=band)})


def panels_of(found: Findings, measure: str, names: list[str], by: str = "found") -> list[tuple[str, list[str]]]:
    """Title and functions of every panel.

    Classes that were found alike, then those like none, and without any class families; or families; or the published
    classes.
    """
    entry = next((one for one in found.classes if one.population == HUMANS and one.property == measure), None)
    groups: list[tuple[str, list[str]]] = []
    if by == "published":
        groups = published_classes_of(names)
    elif entry is not None and by == "found":
        alike = [[name for name in members if name in names] for members in entry.classes]
        groups = [(f"Alike: {_family(members)}", members) for members in alike if len(members) > 1]
    left = [name for name in names if all(name not in members for _, members in groups)]
    if groups:
        groups += [(OTHERS, left)] if left else []
    else:
        families = dict.fromkeys(_family([name]) for name in left)
        groups = [(family, [name for name in left if _family([name]) == family]) for family in families]
    return [
        (title if len(members) <= _MOST else f"{title} ({1 + start // _MOST})", members[start : start + _MOST])
        for title, members in groups
        for start in range(0, len(members), _MOST)
    ]


def _verdicts_within(found: Findings, measure: str, classes: list[tuple[str, list[str]]]) -> str:
    """What is found here of pairs within the published classes."""
    inside = [set(members) for title, members in classes if not title.startswith(OTHERS)]
    verdicts = Counter(
        one.verdict
        for one in found.similarity
        if one.property == measure and any(set(one.pair) <= members for members in inside)
    )
    counted = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()) or "none compared"
    return f"Panels: classes as published (VCR, section 4.4). Pairs within these classes, by these answers: {counted}."


def _family(names: list[str]) -> str:
    """Families of functions, as one name."""
    families = dict.fromkeys(CORRUPTIONS[name].family if name in CORRUPTIONS else "other" for name in names)
    return " and ".join(families)


def _points(curve: Curve) -> list[tuple[float, float, float, float]]:
    band = curve.band
    lower, upper = band.simultaneous_lower or (), band.simultaneous_upper or ()
    return list(zip(band.v, band.estimate, lower, upper, strict=True))


def leads(analysed: Analysed, wanted: Wanted) -> Drawn:
    """Curves of people and models with both leads as regions, a panel a model, or of one model a panel a function."""
    found, measure = analysed.found, wanted.property
    entries = [
        one
        for one in found.own_comparisons(measure)
        if _curve(found, one.classifier, one.corruption, measure) and _curve(found, HUMANS, one.corruption, measure)
    ]
    if not entries:
        raise InputRefused(
            f"No model has a curve of {measure} beside people's own in {analysed.study.slug}: evaluate a model on its "
            "stimulus set, and analyse again."
        )
    if wanted.model:
        chosen(list(dict.fromkeys(one.classifier for one in entries)), wanted.model, "model with such a curve:")
        entries = [one for one in entries if one.classifier == wanted.model]
    if wanted.function or not wanted.model:
        names = list(dict.fromkeys(one.corruption for one in entries))
        function = chosen(names, wanted.function, "function with such curves:")
        entries = [one for one in entries if one.corruption == function]
    entries = sorted(entries, key=lambda one: -one.shown.hmri)
    shown, observers = entries[:_PANELS], observers_of(found)
    panels: list[tuple[str, Figure]] = []
    rows: list[tuple[Any, ...]] = []
    for one in shown:
        human = _curve(found, HUMANS, one.corruption, measure)
        model = _curve(found, one.classifier, one.corruption, measure)
        assert human is not None and model is not None  # noqa: S101 - asked above
        name = readable(one.corruption) if wanted.model and not wanted.function else one.classifier
        numbers = f"A(h>m) {one.shown.human_lead:.3f}, A(m>h) {one.shown.classifier_lead:.3f}"
        figure = leads_figure(
            (observers[HUMANS], human.band.estimate),
            (observers[one.classifier], model.band.estimate),
            human.band.v,
            title=f"{one.classifier}, {readable(one.corruption)}: {measure}",
            measure=measure,
            between=one.shown_range or (0.0, 1.0),
            chance=human.chance if measure == "accuracy" else None,
            x_label=axis_label(found, one.corruption),
        )
        panels.append((f"{name}\n{numbers}", figure))
        rows += [
            (one.classifier, one.corruption, *point)
            for point in zip(human.band.v, human.band.estimate, model.band.estimate, strict=True)
        ]
    areas = Table(
        "areas",
        f"Areas and leads, {measure}",
        (
            Column("model", "Model"),
            Column("function", "Function"),
            Column("human_area", "A(h)", "number"),
            Column("model_area", "A(m)", "number"),
            Column("human_lead", "A(h>m)", "number"),
            Column("model_lead", "A(m>h)", "number"),
            Column("hmri", "HMRI", "number"),
            Column("mrsi", "MRSI", "number"),
        ),
        tuple(
            (
                one.classifier,
                one.corruption,
                one.shown.human_area,
                one.shown.classifier_area,
                one.shown.human_lead,
                one.shown.classifier_lead,
                one.shown.hmri,
                one.shown.mrsi,
            )
            for one in entries
        ),
    )
    table = Table(
        "leads",
        f"Curves of people and models, {measure}",
        (
            Column("model", "Model"),
            Column("function", "Function"),
            Column("visual_change", "Δv", "number"),
            Column("people", "People", "number"),
            Column("model_curve", "Model's curve", "number"),
        ),
        tuple(rows),
    )
    caption = [*found.about_people]
    if len(entries) > len(shown):
        caption.insert(0, f"The {len(shown)} of {len(entries)} with the highest HMRI.")
    where = wanted.model if wanted.model and not wanted.function else readable(shown[0].corruption)
    return Drawn.of_panels(panels, table, areas, title=f"Leads of people and models: {where}", caption=tuple(caption))


def _curve(found: Findings, population: str, corruption: str, measure: str) -> Curve | None:
    wanted = (population, corruption, measure)
    return next((one for one in found.curves if (one.population, one.corruption, one.property) == wanted), None)


def drawn_definitions(_subject: object, _wanted: Wanted) -> Drawn:
    """What R̂ of either property, the leads, HMRI and MRSI are: a row of panels a property."""
    other = Observer("model", "classifier")
    panels: list[tuple[str, Figure]] = []
    points: list[tuple[Any, ...]] = []
    values: list[tuple[Any, ...]] = []
    for measure, letter in (("accuracy", "a"), ("consistency", "p")):
        v, people, model = definitions(measure)
        areas = definition_areas(measure)
        hmri = f"HMRI{letter} = (A(h) − A(h>m)) / A(h) = {areas['hmri']:.2f}"
        mrsi = f"MRSI{letter} = A(m>h) / A(m) = {areas['mrsi']:.2f}"
        for who, curve, name, area in (
            (PEOPLE, people, "people: R̂{} = A(h) = {:.2f}", areas["human_area"]),
            (other, model, "model: R̂{} = A(m) = {:.2f}", areas["classifier_area"]),
        ):
            title = name.format(letter, area)
            panels.append((title, area_figure(who, v, curve, title=title, measure=measure)))
        leads_of = leads_figure((PEOPLE, people), (other, model), v, title=f"Leads, {measure}", measure=measure)
        panels.append((f"{hmri}\n{mrsi}", leads_of))
        points += [(measure, *point) for point in zip(v, people, model, strict=True)]
        values += [(measure, *row) for row in areas.items()]
    of_any = "Rγ is the mean of a property γ over visual change, from 0 to 1; R̂γ is the area under its curve."
    # In one column two panels are side by side: then each row has a panel of either property.
    turned = [panel for pair in zip(panels[:3], panels[3:], strict=True) for panel in pair]
    of = Column("property", "Property")
    columns = (Column("visual_change", "Δv", "number"), Column("people", "People", "number"))
    drawn = Drawn.of_panels(
        panels,
        Table(
            "definitions", "Curves of the drawing", (of, *columns, Column("model", "Model", "number")), tuple(points)
        ),
        Table(
            "areas",
            "Areas of the drawing",
            (of, Column("what", "What"), Column("value", "Value", "number")),
            tuple(values),
        ),
        title="What is measured",
        caption=(
            of_any,
            "R̂a is that of accuracy (answers are right), R̂p that of consistency (answers are as without corruption).",
        ),
    )
    return replace(
        drawn, draw=lambda width: draw_sheet(turned if width == "column" else panels, width=width, heading=of_any)
    )
