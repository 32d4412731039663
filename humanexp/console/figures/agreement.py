"""Figures of how observers err: consistency of errors, shape against texture by category, and confusions."""

from __future__ import annotations

from collections import Counter

from analysis.figures.matrices import draw_matrices, draw_with_block
from analysis.figures.rows import Names, matrix_figure
from analysis.figures.table import Cell, Column, Table, estimate
from analysis.figures.value import Axis, Figure, Mark, Points
from analysis.findings.model.agreement import Agreement, CategoryBias, Confusion
from analysis.findings.model.entry import HUMANS
from analysis.labels.space import NO_ANSWER
from humanexp.console.figures.figure import Drawn, Wanted, chosen
from humanexp.console.figures.subjects import Analysed
from humanexp.core.errors import InputRefused
from humanexp.results.charts.chart import is_over_conditions, observers_of, population_label, readable

_RATES, _TICKS = (-0.03, 1.03), (0.0, 0.25, 0.5, 0.75, 1.0)
#: Kappas are printed in the cells of matrices of at most so many observers.
_PRINTED = 14
#: Observers of a matrix at most: it still fits on a page.
_MOST = 40


def consistency(analysed: Analysed, wanted: Wanted) -> Drawn:
    """Error consistency with people against accuracy, and the ceiling: people among themselves."""
    found = analysed.found
    known = [
        (one, one.pooled.kappa, one.ood_accuracy)
        for one in found.agreement
        if one.pooled is not None and one.pooled.is_stratified and one.ood_accuracy is not None
    ]
    if all(one.kind == "humans" for one, *_ in known):
        raise InputRefused(
            f"No model of {analysed.study.slug} answered enough pictures that people answered: evaluate a model on its "
            "stimulus set, let people answer 20 pictures of a condition or more, and analyse again."
        )
    observers = observers_of(found)
    ordered = sorted(known, key=lambda one: one[0].kind != "humans")
    traces = tuple(
        Points(
            observers[HUMANS] if one.kind == "humans" else observers[one.observer],
            (accuracy,),
            (kappa,),
            (1,),
            intervals=() if one.interval is None else (one.interval,),
        )
        for one, kappa, accuracy in ordered
    )
    ceiling = next((kappa for one, kappa, _ in known if one.kind == "humans"), None)
    ends = [end for one, kappa, _ in known for end in (one.interval or (kappa,))]
    lowest, highest = min(0.0, *ends), max(ends)
    title = "Error consistency against accuracy"
    figure = Figure(
        title=title,
        description="; ".join(f"{population_label(one.observer)}: κ {kappa:.2f}" for one, kappa, _ in ordered) + ".",
        x=Axis("accuracy", _RATES, _TICKS),
        y=Axis("κ with people", (lowest - 0.03, 1.1 * highest + 0.03)),
        traces=traces,
        marks=(
            Mark(0.0, "independent errors"),
            *(() if ceiling is None else (Mark(ceiling, "people among themselves"),)),
        ),
        notes=(f"Lines: {100 * found.level:g} % intervals over pictures.",),
    )
    left_out = len(found.agreement) - len(known)
    caption = (f"{left_out} observers share too few pictures with people in any condition.",) if left_out else ()
    table = Table(
        "consistency",
        title,
        (
            Column("observer", "Observer"),
            Column("accuracy", "Accuracy", "number"),
            Column("kappa", "κ", "estimate"),
            Column("pictures", "Pictures", "count"),
        ),
        tuple(_row(one, kappa, accuracy) for one, kappa, accuracy in ordered),
    )
    return Drawn.of_figure(figure, table, caption=(*caption, *found.about_people))


def _row(one: Agreement, kappa: float, accuracy: float) -> tuple[Cell, ...]:
    return population_label(one.observer), accuracy, estimate(kappa, one.interval), one.n


def kappas(analysed: Analysed, wanted: Wanted) -> Drawn:
    """Error consistency of every two observers in one condition, people first and framed."""
    found = analysed.found
    entries = [one for one in found.error_consistency if one.shown]
    if not entries:
        raise InputRefused(
            f"No two observers of {analysed.study.slug} answered enough pictures of one condition: let several people "
            "see each picture, or evaluate two models on the stimulus set, and analyse again."
        )
    is_person = {one.name: one.kind == "human" for one in found.observers}
    # Unless one is asked for, the condition with the most pairs, first of people.
    counted = Counter(one.condition for one in entries)
    of_people = Counter(one.condition for one in entries if any(is_person.get(name) for name in one.pair))
    conditions = sorted(counted, key=lambda name: (-of_people[name], -counted[name]))
    condition = chosen(conditions, wanted.condition, "condition with such pairs:")
    entries = [one for one in entries if one.condition == condition]
    met = Counter(name for one in entries for name in one.pair)
    most = [name for name, _ in met.most_common(_MOST)]
    places = {name: place for place, name in enumerate(is_person)}
    names = sorted(most, key=lambda name: (not is_person.get(name, False), places.get(name, 0)))
    kappa = {frozenset(one.pair): one for one in entries}
    pairs = [[kappa.get(frozenset((row, column))) if row != column else None for column in names] for row in names]
    values = [[None if one is None else one.kappa for one in row] for row in pairs]
    title = f"Error consistency, {readable(condition)}"
    people = sum(is_person.get(name, False) for name in names)
    printed = len(names) <= _PRINTED
    figure = matrix_figure(
        Names(names),
        Names(names),
        values,
        title=title,
        name="kappa",
        description=f"{title}: {len(names)} observers, {people} of them people.",
        largest=max((value for row in values for value in row if value is not None), default=1.0) or 1.0,
        details=[["" if one is None else f"{' · '.join(one.pair)}: κ {one.kappa:.3f}" for one in row] for row in pairs],
        texts=[["" if value is None or not printed else f"{value:.2f}" for value in row] for row in values],
        notes=("Cells: κ of two observers; white: too few pictures in common. Frame: people.",),
    )
    table = Table(
        "kappas",
        title,
        (
            Column("first", "First"),
            Column("second", "Second"),
            Column("condition", "Condition"),
            Column("n", "Pictures in common", "count"),
            Column("kappa", "κ", "estimate"),
        ),
        tuple((*one.pair, one.condition, one.n, estimate(one.kappa, one.interval)) for one in entries),
    )
    left_out = len(met) - len(names)
    return Drawn(
        title=title,
        draw=lambda width: draw_with_block(figure, people, width=width),
        tables=lambda: (table,),
        caption=(*figure.notes, *((f"{left_out} more observers are in the table.",) if left_out else ())),
        said=figure.description,
    )


def shape_bias(analysed: Analysed, wanted: Wanted) -> Drawn:
    """Shape bias of people and models by the category of the shape, and over all categories."""
    found = analysed.found
    entries = [one for one in found.shape_bias if one.by_category]
    if not entries:
        again = " The analysis is of an earlier version: analyse again." if found.shape_bias else ""
        raise InputRefused(
            f"The study {analysed.study.slug} has no pictures with the shape of one category and the texture of "
            f"another: add cue conflicts to its stimulus set, or import published ones.{again}"
        )
    observers = observers_of(found)
    there = {own.category for one in entries for own in one.by_category}
    order = list(dict.fromkeys(own.category for one in entries for own in one.by_category))
    categories = [name for name in order if name in there]
    traces = []
    for one in sorted(entries, key=lambda one: one.kind != "humans"):
        observer = observers[HUMANS] if one.kind == "humans" else observers[one.observer]
        bias = {own.category: own for own in one.by_category if own.bias is not None}
        shown = [(float(place), bias[name]) for place, name in enumerate(categories) if name in bias]
        rows = [(place, own.bias, own.interval) for place, own in shown if own.bias is not None]
        if one.bias is not None:
            rows.append((float(len(categories)), one.bias, one.interval))
        traces.append(
            Points(
                observer,
                tuple(place for place, *_ in rows),
                tuple(value for _, value, _ in rows),
                (1,) * len(rows),
                intervals=tuple(ends for *_, ends in rows) if observer.role == "human" else (),
            )
        )
    title = "Shape bias by category"
    figure = Figure(
        title=title,
        description="; ".join(
            f"{population_label(one.observer)}: {one.bias:.2f}" for one in entries if one.bias is not None
        )
        + ".",
        x=Axis("category of the shape", (-0.5, len(categories) + 0.5), categories=(*categories, "all")),
        y=Axis("shape bias", _RATES, _TICKS),
        traces=tuple(traces),
        marks=(Mark(0.5, ""),),
        notes=(
            "Share of shape among answers that name shape or texture; dotted: as often as texture. Lines: people's "
            f"{100 * found.level:g} % intervals.",
        ),
    )
    table = Table(
        "shape-bias",
        title,
        (
            Column("observer", "Observer"),
            Column("category", "Category"),
            Column("bias", "Shape bias", "estimate"),
            Column("shape", "Shape", "count"),
            Column("texture", "Texture", "count"),
            Column("other", "Neither", "count"),
        ),
        tuple(
            (population_label(one.observer), own.category, estimate(own.bias, own.interval), *_counts(own))
            for one in entries
            for own in one.by_category
        )
        + tuple(
            (population_label(one.observer), "all", estimate(one.bias, one.interval), one.shape, one.texture, one.other)
            for one in entries
        ),
    )
    return Drawn.of_figure(figure, table, caption=found.about_people)


def _counts(own: CategoryBias) -> tuple[int, int, int]:
    return own.shape, own.texture, own.other


def confusions(analysed: Analysed, wanted: Wanted) -> Drawn:
    """What people and a model answer instead, each in the range of visual change where about as many are right."""
    found = analysed.found
    ranges = [one for one in found.confusion if one.low is not None]
    by_function = {one.corruption: [other for other in ranges if other.corruption == one.corruption] for one in ranges}
    usable = {name: own for name, own in by_function.items() if {one.population for one in own} > {HUMANS}}
    if not usable:
        raise InputRefused(
            f"No function of {analysed.study.slug} has answers of people and of a model by ranges of visual change: "
            "evaluate a model on its stimulus set, and analyse again."
        )
    function = chosen(list(usable), wanted.function, "function with such answers:")
    own = usable[function]
    models = [name for name in dict.fromkeys(one.population for one in own) if name != HUMANS]
    model = chosen(models, wanted.model, "model with such answers:")
    over_conditions = is_over_conditions(found, function)
    axis = "condition" if over_conditions else "Δv"
    panels: list[tuple[str, Figure]] = []
    rows: list[tuple[str | int | float | None, ...]] = []
    for population in (HUMANS, model):
        entry = min(
            (one for one in own if one.population == population),
            key=lambda one: abs(_share_right(one) - wanted.accuracy),
        )
        name = (
            f"{population_label(population)}, {axis} {entry.low:.2f} to {entry.high:.2f}: "
            f"{_share_right(entry):.2f} right"
        )
        panels.append((name, _matrix(entry, name)))
        rows += [
            (population_label(population), entry.low, entry.high, category, answer, count)
            for category, counts in zip(entry.categories, entry.counts, strict=True)
            for answer, count in zip(entry.responses, counts, strict=True)
        ]
    title = f"Answers at matched accuracy, {readable(function)}"
    table = Table(
        "confusions",
        title,
        (
            Column("observer", "Observer"),
            Column("from", f"{axis} from", "number"),
            Column("to", "to", "number"),
            Column("category", "Picture"),
            Column("answer", "Answer"),
            Column("count", "Answers", "count"),
        ),
        tuple(rows),
    )
    return Drawn(
        title=title,
        draw=lambda width: draw_matrices(panels, width=width),
        tables=lambda: (table,),
        caption=(
            f"Ranges of {'the condition' if over_conditions else 'visual change'} in which the share right is nearest "
            f"to {wanted.accuracy:g}. Cells: per cent of a row's answers"
            + ("; none: no answer in time." if any(NO_ANSWER in one.responses for one in own) else "."),
            *found.about_people,
        ),
        said="; ".join(name for name, _ in panels) + ".",
    )


def _share_right(entry: Confusion) -> float:
    """Of all answers of the entry, misses among them."""
    total = sum(map(sum, entry.counts))
    right = sum(
        counts[entry.responses.index(name)]
        for name, counts in zip(entry.categories, entry.counts, strict=True)
        if name in entry.responses
    )
    return right / total if total else 0.0


def _matrix(entry: Confusion, title: str) -> Figure:
    shares = [[count / max(sum(row), 1) for count in row] for row in entry.counts]
    return matrix_figure(
        Names(entry.categories, "picture"),
        Names(tuple("none" if name == NO_ANSWER else name for name in entry.responses), "answer"),
        shares,
        title=title,
        name="share",
        description=title,
        largest=1.0,
        details=[["" for _ in row] for row in shares],
    )
