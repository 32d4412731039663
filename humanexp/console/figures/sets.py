"""Where two stimulus sets have their stimuli, function by function: for example one beside ImageNet-C."""

from __future__ import annotations

from analysis.figures.coverage import draw_comparison
from analysis.figures.table import Column, Table
from analysis.generation.imagenet_c import function_label
from analysis.visual_change.coverage import FunctionSide, SetComparison, compare_sets
from humanexp.console.figures.figure import Drawn, Wanted
from humanexp.core.errors import InputRefused, InvalidRequest
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.sets import counted_changes, stimulus_set_by_name, stimulus_sets


def histograms(stimulus_set: StimulusSet, wanted: Wanted) -> Drawn:
    """Histograms of visual change of two sets on the functions that both have."""
    other = _other(stimulus_set, wanted.beside)
    comparison = compare_sets(counted_changes(stimulus_set), counted_changes(other))
    if not comparison.functions:
        raise InputRefused(
            f"{stimulus_set.name} and {other.name} share no function: choose a set with one of "
            f"{', '.join(stimulus_set.corruptions) or 'any corruption'} by beside."
        )
    names = stimulus_set.name, other.name
    labels = {one.name: function_label(one.name) for one in comparison.functions}
    return Drawn(
        title=f"Visual change in {names[0]} and {names[1]}",
        draw=lambda width: draw_comparison(comparison, names=names, labels=labels, width=width),
        tables=lambda: _tables(comparison, names),
        caption=(
            f"Bars: shares of a set's stimuli in bins of visual change, {names[0]} above the line, {names[1]} below; "
            "faint: too few to count as covered. Below them the levels: median, middle half, middle nine tenths.",
            *cautions(stimulus_set, other),
        ),
        said="; ".join(f"{one.name}: {one.a.covered} and {one.b.covered} of 40 bins" for one in comparison.functions),
    )


def _other(stimulus_set: StimulusSet, name: str) -> StimulusSet:
    """The set beside which it is drawn: the one that is named, or the only other one that has levels."""
    if name == stimulus_set.name:
        raise InvalidRequest("Choose two different stimulus sets.")
    if name:
        return stimulus_set_by_name(name)
    others = [
        one
        for one in stimulus_sets()
        if one.pk != stimulus_set.pk and set(one.corruptions) & set(stimulus_set.corruptions)
    ]
    if len(others) != 1:
        known = ", ".join(one.name for one in others) or "none: import ImageNet-C, or make its levels"
        raise InputRefused(
            f"Say by beside with which set {stimulus_set.name} is compared; with the same functions: {known}."
        )
    return others[0]


def _tables(comparison: SetComparison, names: tuple[str, str]) -> tuple[Table, ...]:
    sides = [
        (function, name, side)
        for function in comparison.functions
        for name, side in zip(names, (function.a, function.b), strict=True)
    ]
    of = (Column("function", "Function"), Column("set", "Set"))
    return (
        Table(
            "histograms",
            "Stimuli in bins of visual change",
            (
                *of,
                Column("from", "Δv from", "number"),
                Column("to", "to", "number"),
                Column("count", "Stimuli", "count"),
            ),
            tuple((function.name, name, *one) for function, name, side in sides for one in _bins(side)),
        ),
        Table(
            "coverage",
            "Covered bins",
            (
                *of,
                Column("n", "Stimuli", "count"),
                Column("covered", "Covered of 40", "count"),
                Column("covered_at_equal_number", "At equal numbers", "count"),
            ),
            tuple(
                (function.name, name, side.n, side.covered, function.covered_at_equal_number[name != names[0]])
                for function, name, side in sides
            ),
        ),
        Table(
            "levels",
            "Visual change of levels",
            (
                *of,
                Column("level", "Level", "count"),
                Column("n", "Stimuli", "count"),
                Column("median", "Median", "number"),
                *(Column(name, name, "number") for name in ("quartile_1", "quartile_3", "from_5", "to_95")),
            ),
            tuple(
                (function.name, name, one.level, one.n, one.median, *one.quartiles, *one.nine_tenths)
                for function, name, side in sides
                for one in side.levels
            ),
        ),
    )


def _bins(side: FunctionSide) -> list[tuple[float, float, int]]:
    n = len(side.counts)
    return [(place / n, (place + 1) / n, count) for place, count in enumerate(side.counts)]


def cautions(a: StimulusSet, b: StimulusSet) -> list[str]:
    """What keeps two sets from being compared without a second thought, one sentence each."""
    said = [
        (
            a.size_px != b.size_px,
            f"The sets have different sizes ({a.size_px} and {b.size_px} px). Visual change depends on the size, so "
            "their values cannot be compared.",
        ),
        (
            a.size_px == b.size_px and a.enlarged != b.enlarged,
            f"The sets were corrupted at different sizes ({a.native_px} and {b.native_px} px), so their parameters "
            "cannot be compared.",
        ),
        (
            a.metric != b.metric,
            f"The sets were measured differently ({a.metric} and {b.metric}); their values cannot be compared.",
        ),
        (
            a.source_set_id != b.source_set_id,
            f"The sets come from different pictures ({a.source_set.name} and {b.source_set.name}), which differ in how "
            "robust they are.",
        ),
        (
            a.source_set_id == b.source_set_id and a.framing != b.framing,
            f"The sets cut their pictures differently ({a.framing} and {b.framing}).",
        ),
        *((one.completed_at is None, f"{one.name} is still being made; its counts grow.") for one in (a, b)),
    ]
    return [sentence for holds, sentence in said if holds]
