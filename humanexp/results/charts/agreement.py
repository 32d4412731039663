"""Do observers err on the same pictures, and do they name the shape or the texture?"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.claims.agreement import (
    benchmark_caveats,
    benchmark_definitions,
    caveats,
    ceiling_notes,
    definitions,
    differences_note,
    no_pairs_note,
    pairs_note,
    shape_bias_definitions,
    soft_caveats,
    soft_definitions,
    soft_words,
)
from analysis.claims.models import rank_words
from analysis.figures.table import Cell, Column, Estimate, Table, estimate
from analysis.findings.model.agreement import Agreement, AverageObserver, PooledMean
from analysis.findings.model.comparisons import RankSet
from analysis.findings.model.findings import Findings
from humanexp.results.charts.chart import Chart, only_chart, population_label, readable

#: Pairs of observers beyond the first so many are left to the JSON.
MOST_PAIRS = 120
#: Pairs of models likewise.
MOST_DIFFERENCES = 40


def _means(findings: Findings) -> Table:
    unstratified = any(_is_unstratified(entry) for entry in findings.agreement)
    # Without pictures that everybody sees no two observers share enough of them for means over pairs.
    paired = any(entry.pairs for entry in findings.agreement)
    of_pairs = (
        Column("accuracy_difference", "Squared difference of accuracy", "number"),
        Column("observed_consistency", "Observed consistency", "number"),
        Column("error_consistency", "κ, mean of pairs", "number"),
        Column("pairs", "Pairs", "count"),
    )

    ranked = any(entry.ranks for entry in findings.agreement)

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
            *((Column("unstratified_kappa", "κ, includes shared difficulty", "number"),) if unstratified else ()),
            *((Column("consistency_rank", "Rank by κ"),) if ranked else ()),
            Column("n", "Pictures in common", "count"),
        ),
        tuple(
            (
                population_label(entry.observer),
                entry.ood_accuracy,
                *(means_of_pairs(entry) if paired else ()),
                *_kappas(entry, unstratified),
                *((_places(entry.ranks),) if ranked else ()),
                entry.n,
            )
            for entry in findings.agreement
        ),
        (
            *ceiling_notes(
                people_are_stratified=any(
                    entry.kind == "humans" and entry.pooled is not None and entry.pooled.is_stratified
                    for entry in findings.agreement
                ),
                some_are_not=unstratified,
                left_out=max((entry.pooled.left_out for entry in findings.agreement if entry.pooled), default=0),
            ),
            *(() if paired else (no_pairs_note(),)),
        ),
    )


def _is_unstratified(entry: Agreement) -> bool:
    return entry.pooled is not None and not entry.pooled.is_stratified


def _kappas(entry: Agreement, has_unstratified: bool) -> tuple[Cell, ...]:
    """Pooled kappa, and in its own column the one that includes shared difficulty."""
    kappa = None if entry.pooled is None else entry.pooled.kappa
    if not has_unstratified:
        return (estimate(kappa, entry.interval),)
    return (estimate(None, None), kappa) if _is_unstratified(entry) else (estimate(kappa, entry.interval), None)


def _places(ranks: RankSet | None) -> str:
    return rank_words(ranks.best, ranks.worst) if ranks else ""


def _differences(findings: Findings) -> Table:
    """Pairs that surely differ first, then by the size of the difference."""
    entries = sorted(findings.consistency_differences, key=lambda entry: (not entry.differ, -entry.difference))
    differ = sum(entry.differ for entry in entries)
    return Table(
        "consistency-differences",
        "Which of two models errs more as people do?",
        (
            Column("first", "First"),
            Column("second", "Second"),
            Column("first_kappa", "κ of the first", "number"),
            Column("second_kappa", "κ of the second", "number"),
            Column("difference", "Difference", "estimate"),
            Column("p", "p, corrected", "p"),
            Column("differ", "Differ"),
            Column("n", "Pictures", "count"),
        ),
        tuple(
            (
                *entry.pair,
                *entry.kappas,
                estimate(entry.difference, entry.interval),
                entry.p,
                "yes" if entry.differ else "not shown",
                entry.n,
            )
            for entry in entries[:MOST_DIFFERENCES]
        ),
        (differences_note(len(entries), differ, MOST_DIFFERENCES),),
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
            Column("copied", "Copied", "estimate", 2),
            Column("p", "p", "p"),
        ),
        tuple(
            (
                *entry.pair,
                readable(entry.condition),
                entry.n,
                estimate(entry.kappa, entry.interval),
                estimate(entry.copied, entry.copied_interval),
                entry.p,
            )
            for entry in entries[:MOST_PAIRS]
        ),
        (pairs_note(MOST_PAIRS),),
    )


def _build_agreement(findings: Findings, key: str) -> Chart:
    return Chart(
        key=key,
        title="Do observers err on the same pictures?",
        figure=None,
        tables=tuple(table for table in (_means(findings), _differences(findings), _pairs(findings)) if table.rows),
        definition=definitions(),
        caveats=caveats(),
    )


AGREEMENT = only_chart(
    "agreement",
    "all observers",
    lambda findings: findings.agreement or any(entry.shown for entry in findings.error_consistency),
    _build_agreement,
)


def benchmark_table(standings: Sequence[AverageObserver]) -> Table:
    """Every observer next to people: of one study, or on average over several."""
    experiments = {name for one in standings for name in one.experiments}
    pooled = len(experiments) > 1
    biased = any(one.shape_bias for one in standings)
    ranked = any(one.ranks for one in standings)
    likened = any(one.mean_rank is not None for one in standings)
    placed = any(one.consistency_ranks for one in standings)
    led = any(one.accuracy_lead for one in standings)
    corrected = any(one.corrected_accuracy_difference for one in standings)
    columns = (
        Column("observer", "Observer"),
        *((Column("rank", "Rank"),) if ranked else ()),
        Column("ood_accuracy", "OOD accuracy", "estimate"),
        *((Column("accuracy_lead", "People's lead", "estimate"),) if led else ()),
        Column("accuracy_difference", "Squared difference of accuracy", "number"),
        *((Column("corrected_accuracy_difference", "The same, corrected", "estimate"),) if corrected else ()),
        Column("observed_consistency", "Observed consistency", "estimate"),
        Column("error_consistency", "κ", "estimate"),
        *((Column("consistency_rank", "Rank by κ"),) if placed else ()),
        *((Column("mean_rank", "Mean rank", "number", 2),) if likened else ()),
        *((Column("shape_bias", "Shape bias", "estimate"),) if biased else ()),
        *((Column("experiments", "Experiments", "count"),) if pooled else ()),
    )
    rows = tuple(
        (
            population_label(one.observer),
            *((_places(one.ranks),) if ranked else ()),
            _mean(one.ood_accuracy),
            *((_mean(one.accuracy_lead),) if led else ()),
            one.accuracy_difference.value if one.accuracy_difference else None,
            *((_mean(one.corrected_accuracy_difference),) if corrected else ()),
            _mean(one.observed_consistency),
            _mean(one.error_consistency),
            *((_places(one.consistency_ranks),) if placed else ()),
            *((one.mean_rank,) if likened else ()),
            *((_mean(one.shape_bias),) if biased else ()),
            *((len(one.experiments),) if pooled else ()),
        )
        for one in standings
    )
    notes = ["The row of people is the human ceiling: people among themselves."]
    if pooled:
        notes.append(
            f"Means over the experiments that an observer answered, of {', '.join(sorted(experiments))}: compare rows "
            "of the same experiments. Means of pairs rest on those in which people saw the same pictures."
        )
    return Table("benchmark", "Observers next to people in published experiments", columns, rows, tuple(notes))


def published_tables(standings: Sequence[AverageObserver]) -> tuple[Table, Table]:
    """Models as the model-vs-human toolbox prints them: likeness to people, best mean rank first, and OOD accuracy."""
    models = [one for one in standings if one.kind == "classifier"]
    likened = sorted(models, key=lambda one: (one.mean_rank is None, one.mean_rank or 0.0, one.observer))
    right = sorted(models, key=lambda one: (-(one.ood_accuracy.value if one.ood_accuracy else 0.0), one.observer))
    return (
        Table(
            "humanlike",
            "Most human-like behaviour",
            (
                Column("model", "model"),
                Column("accuracy_difference", "accuracy diff. ↓", "number"),
                Column("observed_consistency", "obs. consistency ↑", "number"),
                Column("error_consistency", "error consistency ↑", "number"),
                Column("mean_rank", "mean rank ↓", "number"),
            ),
            tuple(
                (
                    one.observer,
                    one.accuracy_difference.value if one.accuracy_difference else None,
                    one.observed_consistency.value if one.observed_consistency else None,
                    one.error_consistency.value if one.error_consistency else None,
                    one.mean_rank,
                )
                for one in likened
            ),
        ),
        Table(
            "accuracy",
            "Highest out-of-distribution accuracy",
            (
                Column("model", "model"),
                Column("accuracy", "OOD accuracy ↑", "number"),
                Column("rank", "rank ↓", "number"),
            ),
            tuple(
                (one.observer, one.ood_accuracy.value if one.ood_accuracy else None, float(place))
                for place, one in enumerate(right, start=1)
            ),
        ),
    )


def _mean(one: PooledMean | None) -> Estimate:
    return estimate(one.value, one.interval) if one else (None, None, None)


BENCHMARK = only_chart(
    "benchmark",
    "all observers",
    lambda findings: findings.benchmark,
    lambda findings, key: Chart(
        key=key,
        title="Who is most like people?",
        figure=None,
        tables=(benchmark_table(findings.benchmark),),
        definition=benchmark_definitions(),
        caveats=benchmark_caveats(),
    ),
)


def _build_soft(findings: Findings, key: str) -> Chart:
    entries = findings.soft_agreement
    return Chart(
        key=key,
        title="Are people's answers as probable as the model says?",
        figure=None,
        tables=(
            Table(
                key,
                "How well people's answers are predicted, bits an answer",
                (
                    Column("observer", "Predicted by"),
                    Column("cross_entropy", "Cross-entropy", "estimate"),
                    Column("beyond_people", "Beyond people", "estimate"),
                    Column("words", "Said"),
                    Column("pictures", "Pictures", "count"),
                    Column("answers", "Answers", "count"),
                ),
                tuple(
                    (
                        "the rest of people" if one.kind == "humans" else one.observer,
                        estimate(one.cross_entropy, one.interval),
                        estimate(one.beyond_people, one.beyond_interval),
                        soft_words(*one.beyond_interval) if one.beyond_interval else "the ceiling",
                        one.pictures,
                        one.answers,
                    )
                    for one in entries
                ),
                (f"A guesser reaches {entries[0].guessing:.3f} bits.",),
            ),
        ),
        definition=soft_definitions(),
        caveats=soft_caveats(),
    )


SOFT_AGREEMENT = only_chart("soft-agreement", "all observers", lambda findings: findings.soft_agreement, _build_soft)


def _build_shape_bias(findings: Findings, key: str) -> Chart:
    return Chart(
        key=key,
        title="Shape or texture?",
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


SHAPE_BIAS = only_chart("shape-bias", "all observers", lambda findings: findings.shape_bias, _build_shape_bias)
