"""Do observers err on the same pictures, and do they name the shape or the texture?"""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.claims.agreement import caveats, definitions, no_pairs_note, pairs_note, shape_bias_definitions
from analysis.figures import Column, Table
from analysis.figures.table import Cell, estimate
from analysis.findings.model import Agreement, Findings
from humanexp.results.charts.chart import Chart, only_chart
from humanexp.results.charts.observer_styles import population_label, readable

#: Pairs of observers beyond the first so many are left to the JSON.
MOST_PAIRS = 120


def _means(findings: Findings) -> Table:
    # Without pictures that everybody sees no two observers share enough of them for means over pairs.
    paired = any(entry.pairs for entry in findings.agreement)
    of_pairs = (
        Column("accuracy_difference", "Squared difference of accuracy", "number"),
        Column("observed_consistency", "Observed consistency", "number"),
        Column("error_consistency", "κ, mean of pairs", "number"),
        Column("pairs", "Pairs", "count"),
    )

    def means_of_pairs(entry: Agreement) -> tuple[Cell, ...]:
        return entry.accuracy_difference, entry.observed_consistency, entry.error_consistency, entry.pairs

    return Table(
        "agreement",
        "Accuracy and error consistency with people",
        (
            Column("observer", "Observer"),
            Column("ood_accuracy", "Accuracy", "number"),
            *(of_pairs if paired else ()),
            Column("pooled_kappa", "κ, pooled", "estimate"),
            Column("n", "Pictures in common", "count"),
        ),
        tuple(
            (
                population_label(entry.observer),
                entry.ood_accuracy,
                *(means_of_pairs(entry) if paired else ()),
                estimate(None if entry.pooled is None else entry.pooled.kappa, entry.interval),
                entry.n,
            )
            for entry in findings.agreement
        ),
        (
            "The row of people is the human ceiling.",
            *(() if paired else (no_pairs_note(),)),
        ),
    )


def _pairs(findings: Findings) -> Table:
    """The pairs with the most pictures in common first, at most as many as a page can hold; the JSON has them all."""
    entries = [entry for entry in findings.error_consistency if entry.shown]
    entries.sort(key=lambda entry: -entry.n)
    return Table(
        "error-consistency",
        "Error consistency of pairs of observers",
        (
            Column("first", "First"),
            Column("second", "Second"),
            Column("condition", "Condition"),
            Column("n", "Pictures in common", "count"),
            Column("kappa", "κ", "estimate", 2),
            Column("copied", "Copied", "number", 2),
        ),
        tuple(
            (
                *entry.pair,
                readable(entry.condition),
                entry.n,
                estimate(entry.kappa, entry.interval),
                entry.copied,
            )
            for entry in entries[:MOST_PAIRS]
        ),
        (pairs_note(MOST_PAIRS),),
    )


def _build_agreement(findings: Findings, key: str) -> Chart:
    return Chart(
        key=key,
        title=_("Do observers err on the same pictures?"),
        figure=None,
        tables=tuple(table for table in (_means(findings), _pairs(findings)) if table.rows),
        definition=definitions(),
        caveats=caveats(),
    )


AGREEMENT = only_chart(
    "agreement",
    _("all observers"),
    lambda findings: findings.agreement or any(entry.shown for entry in findings.error_consistency),
    _build_agreement,
)


def _build_shape_bias(findings: Findings, key: str) -> Chart:
    return Chart(
        key=key,
        title=_("Shape or texture?"),
        figure=None,
        tables=(
            Table(
                "shape-bias",
                "Shape bias",
                (
                    Column("observer", "Observer"),
                    Column("bias", "Shape bias", "estimate"),
                    Column("shape", "Shape", "count"),
                    Column("texture", "Texture", "count"),
                    Column("other", "Neither", "count"),
                ),
                tuple(
                    (
                        population_label(one.observer),
                        estimate(one.bias, one.interval if one.bias is not None else None),
                        one.shape,
                        one.texture,
                        one.other,
                    )
                    for one in findings.shape_bias
                ),
            ),
        ),
        definition=shape_bias_definitions(),
    )


SHAPE_BIAS = only_chart("shape-bias", _("all observers"), lambda findings: findings.shape_bias, _build_shape_bias)
