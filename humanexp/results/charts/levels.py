"""VCR's first experiment: accuracy at fixed levels beside areas over visual change, and orders that this reverses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.claims.groups import REVERSALS_NOTE
from analysis.claims.models import LEVEL_RANKS_NOTE
from analysis.figures.rows import PairedRow, paired_figure
from analysis.figures.table import Cell, Column, Table
from analysis.findings.model.checks import Levels, Ranks, Reversal
from analysis.findings.model.findings import Findings
from humanexp.core.errors import existing
from humanexp.results.charts.chart import Chart, ChartChoice, Family, observers_of, readable

ALL = "all functions"


@dataclass(frozen=True)
class _Row:
    """One model, over all functions or on one."""

    model: str
    fixed: float
    accuracy: float
    consistency: float | None
    ranks: Ranks | None


def _rows(levels: Levels, function: str) -> list[_Row]:
    """The best at the levels first."""
    if not function:
        return [
            _Row(one.classifier, one.fixed_accuracy, one.area_accuracy, one.area_consistency, one.ranks)
            for one in levels.models
        ]
    found = [
        _Row(model.classifier, one.fixed_accuracy, one.area_accuracy, one.area_consistency, one.ranks)
        for model in levels.models
        for one in model.by_function
        if one.corruption == function
    ]
    return sorted(found, key=lambda row: -row.fixed)


def _cells(row: _Row) -> tuple[Cell, ...]:
    ranks = row.ranks
    moved = None if ranks is None else ranks.fixed - ranks.accuracy
    moved_too = None if ranks is None or ranks.consistency is None else ranks.fixed - ranks.consistency
    return (
        row.model,
        row.fixed,
        ranks.fixed if ranks else None,
        row.accuracy,
        ranks.accuracy if ranks else None,
        row.consistency,
        ranks.consistency if ranks else None,
        _places(moved),
        _places(moved_too),
    )


def _places(moved: int | None) -> str:
    """Places gained over visual change, or lost."""
    return f"{moved:+d}".replace("-", "−") if moved else ("0" if moved == 0 else "")


def _reversals(found: Sequence[Reversal]) -> Table:
    return Table(
        "reversals",
        "Orders that visual change reverses",
        (
            Column("function", "Function"),
            Column("property", "R̂ of"),
            Column("ahead_at_levels", "Ahead at levels"),
            Column("ahead_by_area", "Ahead over visual change"),
            Column("at_levels", "By, at levels", "estimate"),
            Column("over_change", "By, over visual change", "estimate"),
            Column("p", "p, corrected", "p"),
            Column("shown", "Shown to be reversed"),
        ),
        tuple(
            (
                ALL if one.corruption is None else readable(one.corruption),
                one.property,
                one.ahead_at_levels,
                one.ahead_by_area,
                (one.at_levels, *one.at_levels_interval),
                (one.over_change, *one.over_change_interval),
                one.p,
                "yes" if one.is_shown else "no",
            )
            for one in found
        ),
        (REVERSALS_NOTE,),
    )


def _build(findings: Findings, key: str) -> Chart:
    levels = existing(findings.levels, "No model was evaluated at fixed levels.")
    function = key.partition("--")[2]
    rows, observers = _rows(levels, function), observers_of(findings)
    where = readable(function) if function else ", ".join(map(readable, levels.functions))
    title = "Accuracy at fixed levels and areas over visual change" + (f", {where}" if function else "")
    found = [one for one in levels.reversals if not function or one.corruption == function]
    return Chart(
        key=key,
        title="Fixed levels against the whole range",
        figure=paired_figure(
            [PairedRow(observers[row.model], row.fixed, row.accuracy) for row in rows if row.model in observers],
            title=title,
            meanings=("accuracy at levels", "R̂ accuracy"),
        ),
        tables=(
            Table(
                "levels",
                title,
                (
                    Column("model", "Model"),
                    Column("fixed_accuracy", "Accuracy at levels", "number"),
                    Column("rank_fixed", "Rank", "count"),
                    Column("area_accuracy", "R̂ accuracy", "number"),
                    Column("rank_accuracy", "Rank", "count"),
                    Column("area_consistency", "R̂ consistency", "number"),
                    Column("rank_consistency", "Rank", "count"),
                    Column("places_accuracy", "Places gained by R̂ accuracy"),
                    Column("places_consistency", "by R̂ consistency"),
                ),
                tuple(map(_cells, rows)),
                (f"On {where}." if function else f"Means over {where}.",),
            ),
            *((_reversals(found),) if found else ()),
        ),
        definition=(
            (
                "Accuracy at levels: mean over the five published levels of strength. R̂: area over the whole visual "
                "change."
            ),
            "Ranks differ where a benchmark of fixed levels orders models otherwise than the whole range does.",
            LEVEL_RANKS_NOTE,
        ),
    )


def _choices(findings: Findings) -> list[ChartChoice]:
    if findings.levels is None or not findings.levels.models:
        return []
    alone = [ChartChoice("levels", ALL)]
    if len(findings.levels.functions) < 2:
        return alone
    return alone + [ChartChoice(f"levels--{one}", readable(one)) for one in findings.levels.functions]


LEVELS = Family("levels", _choices, _build)
