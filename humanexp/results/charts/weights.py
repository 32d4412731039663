"""Areas, HMRI and MRSI under the plan's weights over visual change, beside those under equal weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from analysis.figures.table import Column, Table, estimate
from analysis.findings.model.curves import Curve
from analysis.findings.model.findings import Findings
from humanexp.results.charts.chart import FigureName, population_label, readable


def weighted_areas(findings: Findings, name: FigureName, curves: Sequence[Curve]) -> Iterator[Table]:
    """One row a population; nothing without weights."""
    known = [(curve, curve.weighted) for curve in curves if curve.weighted]
    if not known:
        return
    yield Table(
        "weighted",
        f"Mean {name.measure} by weights over visual change, {name.label}",
        (
            Column("observer", "Observer"),
            Column("weighted", f"R̂, {findings.weights_name}", "estimate"),
            Column("equal", "R̂, equal weights", "estimate"),
            Column("extrapolated", "Extrapolated share of the weight", "number"),
        ),
        tuple(
            (
                population_label(curve.population),
                estimate(one.value, one.interval),
                estimate(curve.area, curve.interval),
                one.extrapolated,
            )
            for curve, one in known
        ),
        (findings.weights_note,),
    )


def weighted_indices(findings: Findings, measure: str, corruption: str) -> Iterator[Table]:
    """One row a model beside people's curve of one corruption, on the whole axis; nothing without weights."""
    entries = [one for one in findings.comparisons if (one.property, one.corruption) == (measure, corruption)]
    known = [(one, one.weighted) for one in entries if one.weighted]
    if not known:
        return
    yield Table(
        "weighted",
        f"Models against people by weights over visual change, {measure}, {readable(corruption)}",
        (
            Column("model", "Model"),
            Column("people_s_curve", "People’s curve"),
            *_index_columns(findings, "number"),
        ),
        tuple(
            (
                one.classifier,
                readable(one.human_curve) + (" (borrowed)" if one.borrowed else ""),
                weighted.hmri,
                one.hmri,
                weighted.mrsi,
                one.mrsi,
            )
            for one, weighted in sorted(known, key=lambda pair: -pair[1].hmri)
        ),
        (findings.weights_note, "Over the whole axis; of one corruption intervals stand in the JSON alone."),
    )


def weighted_means(findings: Findings, measure: str) -> Iterator[Table]:
    """One row a model, means over corruptions; nothing without weights."""
    known = [(one, one.weighted) for one in findings.leaderboard if one.property == measure and one.weighted]
    if not known:
        return
    yield Table(
        f"weighted-{measure}",
        f"Models against people by weights over visual change, means over corruptions, {measure}",
        (
            Column("model", "Model"),
            *_index_columns(findings, "estimate"),
            Column("model_area", f"R̂ model, {findings.weights_name}", "estimate"),
            Column("human_area", f"R̂ people, {findings.weights_name}", "estimate"),
        ),
        tuple(
            (
                one.classifier,
                estimate(weighted.hmri, weighted.hmri_interval),
                estimate(one.hmri, one.hmri_interval),
                estimate(weighted.mrsi, weighted.mrsi_interval),
                estimate(one.mrsi, one.mrsi_interval),
                estimate(weighted.classifier_area, weighted.classifier_area_interval),
                estimate(weighted.human_area, weighted.human_area_interval),
            )
            for one, weighted in known
        ),
        (findings.weights_note,),
    )


def _index_columns(findings: Findings, kind: Literal["number", "estimate"]) -> tuple[Column, ...]:
    return tuple(
        Column(f"{index.lower()}_{key}", f"{index}, {weights}", kind)
        for index in ("HMRI", "MRSI")
        for key, weights in (("weighted", findings.weights_name), ("equal", "equal weights"))
    )
