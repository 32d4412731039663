"""Classifiers beside people: HMRI and MRSI on one corruption, and the leaderboard over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Literal

from analysis.claims.curves import ON_AXIS
from analysis.claims.models import (
    ORDER_BY_ACCURACY,
    ORDER_BY_HMRI,
    RANKS_NOTE,
    mean_accuracy_note,
    measured_words,
    order_sentence,
    rank_words,
)
from analysis.figures.rows import IndexRow, index_figure
from analysis.figures.table import Column, Estimate, Table, estimate
from analysis.findings.model.comparisons import Comparison, Leader, ModelVerdict
from analysis.findings.model.entry import Twin
from analysis.findings.model.findings import Findings
from analysis.wording import quoted
from humanexp.results.charts.chart import Chart, ChartChoice, Family, observers_of, ranges_words, readable
from humanexp.results.charts.curves import CONSISTENCY_CAVEAT
from humanexp.results.charts.weights import weighted_indices, weighted_means

_INDICES = (
    "HMRI: the share of the area under people's curve that the model's curve reaches; 1 = nowhere below people.",
    "MRSI: the share of the area under the model's curve that lies above people's; 0 = nowhere above.",
    (
        "Intervals of HMRI and MRSI are of means over corruptions, from the same resamples of originals for people and "
        "models where both saw the same pictures; of one corruption there are none."
    ),
    (
        "Matches: the mean accuracies of model and people over everything measured differ by less than the margin, and "
        "those over every window of 0.15, or condition, by less than theirs, shown by 90 % intervals. Differs: "
        "shown at level 0.05 over all models, corruptions and windows together. Undecided: neither."
    ),
)
_INDEX_CAVEATS = (
    (
        "MRSI is positive, and HMRI below 1, by noise alone. Whether a model matches people or differs from them is "
        "what the verdict says."
    ),
)
_LEADERBOARD = (
    *_INDICES[:2],
    _INDICES[3],
    "Means over the corruptions on which a model is compared with people; each corruption counts once.",
    (
        "Rank: the places that the data leave open to a model by its mean accuracy, from the differences of all pairs "
        "of models together (Mogstad et al. 2024). Models that share a place are not ordered."
    ),
)
_LEADERBOARD_CAVEATS = (
    "A mean over corruptions hides where a model fails: its lowest corruption is shown next to it.",
    "No rank rests on HMRI or MRSI: noise alone moves them from their edge.",
)


def standings_of(findings: Findings, measure: str) -> list[tuple[list[Comparison], Leader | None]]:
    """Each classifier beside people's own curves, and its means where they were resampled.

    Highest mean accuracy first where it is known beside people's; highest mean HMRI first, where it is not.
    """
    joint = {entry.classifier: entry for entry in findings.leaderboard if entry.property == measure}
    by_classifier: dict[str, list[Comparison]] = {}
    for entry in findings.own_comparisons(measure):
        by_classifier.setdefault(entry.classifier, []).append(entry)
    return sorted(((own, joint.get(name)) for name, own in by_classifier.items()), key=lambda one: _place(*one))


def _place(own: Sequence[Comparison], joint: Leader | None) -> tuple[bool, float]:
    if joint and joint.verdict:
        return False, -joint.verdict.difference
    return True, -(_mean("hmri", own, joint)[0] or 0.0)


def _mean(index: Literal["hmri", "mrsi"], own: Sequence[Comparison], joint: Leader | None) -> Estimate:
    """Mean over corruptions; its interval needs joint resamples, and of one corruption none is declared as a claim."""
    if joint is None:
        return estimate(fmean(getattr(entry.shown, index) for entry in own), None)
    return estimate(getattr(joint, index), getattr(joint, f"{index}_interval") if joint.corruptions > 1 else None)


def _verdict_on_all(own: Sequence[Comparison], joint: Leader | None) -> str:
    """What is said over all corruptions; nothing, but that, where one of them has no verdict."""
    withheld = sum(bool(entry.no_verdict) for entry in own)
    if withheld:
        return f"no verdict on {withheld} of {len(own)} corruptions" if len(own) > 1 else own[0].no_verdict
    return joint.verdict.statement if joint and joint.verdict else ""


def _verdict_on_one(entry: Comparison) -> str:
    """What is said on one corruption, with the ranges where the model is shown to be above people, and below."""
    verdict = entry.verdict
    if verdict is None:
        return entry.no_verdict
    axis = "conditions" if verdict.has_conditions else "Δv"
    shown = [one.difference for one in verdict.windows if one.significant]
    where = [
        # Where no window is shown but the mean is, the range is all that was measured.
        f"{word} people {'at' if has_windows else 'on average over'} {axis} {ranges_words(ranges)}"
        for word, ranges, has_windows in (
            ("above", entry.exceeds, any(one > 0.0 for one in shown)),
            ("below", entry.falls_short, any(one < 0.0 for one in shown)),
        )
        if ranges
    ]
    return f"{verdict.statement} ({', '.join(where)})" if where else verdict.statement


def _difference(verdict: ModelVerdict | None) -> Estimate:
    return estimate(verdict.difference, verdict.interval) if verdict else (None, None, None)


def _rank(joint: Leader | None) -> str:
    return rank_words(joint.ranks.best, joint.ranks.worst) if joint and joint.ranks else ""


def leaderboard_table(findings: Findings, measure: str) -> Table:
    standings = standings_of(findings, measure)
    alike = len({len(own) for own, _ in standings}) == 1
    judged = any(_verdict_on_all(*one) for one in standings)
    ranked = any(_rank(joint) for _, joint in standings)
    notes = [f"Means over {f'{len(standings[0][0])} ' if alike else ''}corruptions, each counting once."]
    if ranked:
        named = {quoted(name): places for name, places in findings.ranks.items()}
        notes.append(f"{order_sentence(named)}. {RANKS_NOTE}")
    notes.append(ORDER_BY_ACCURACY if judged else ORDER_BY_HMRI)
    notes.extend(_mean_accuracy(findings.own_comparisons(measure)))
    notes.extend(findings.about_people)
    notes.extend(_ceilings(one.twin for one in findings.leaderboard if one.property == measure))
    return Table(
        f"leaderboard-{measure}",
        f"Models against people over all corruptions, {measure}",
        (
            Column("model", "Model"),
            *([Column("rank", "Rank")] if ranked else []),
            *([Column("difference", "Mean accuracy minus people’s", "estimate")] if judged else []),
            Column("verdict", "Against people"),
            Column("hmri", "HMRI", "estimate"),
            Column("mrsi", "MRSI", "estimate"),
            Column("corruption_error", "Errors per human error", "estimate", 2),
            *([] if alike else [Column("corruptions", "Corruptions", "count")]),
        ),
        tuple(
            (
                own[0].classifier,
                *([_rank(joint)] if ranked else []),
                *([_difference(joint.verdict if joint else None)] if judged else []),
                _verdict_on_all(own, joint),
                _mean("hmri", own, joint),
                _mean("mrsi", own, joint),
                estimate(joint.corruption_error, joint.corruption_error_interval) if joint else (None, None, None),
                *([] if alike else [len(own)]),
            )
            for own, joint in standings
        ),
        tuple(notes),
    )


def extremes_table(findings: Findings, measure: str) -> Table:
    """Behind the leaderboard: areas, and the corruptions on which each model does worst and best."""
    return Table(
        f"leaderboard-extremes-{measure}",
        f"Mean areas, and where each model does worst and best, {measure}",
        (
            Column("model", "Model"),
            Column("human_area", "R̂ people", "number"),
            Column("model_area", "R̂ model", "number"),
            Column("lowest_hmri", "Lowest HMRI", "number"),
            Column("lowest_on", "on"),
            Column("highest_hmri", "Highest HMRI", "number"),
            Column("highest_on", "on"),
        ),
        tuple(
            (
                own[0].classifier,
                fmean(entry.shown.human_area for entry in own),
                fmean(entry.shown.classifier_area for entry in own),
                *min(_by_hmri(own)),
                *max(_by_hmri(own)),
            )
            for own, _ in standings_of(findings, measure)
        ),
    )


def _by_hmri(own: Sequence[Comparison]) -> list[tuple[float, str]]:
    return [(entry.shown.hmri, readable(entry.corruption)) for entry in own]


def comparisons_table(findings: Findings, measure: str, corruption: str) -> Table:
    entries = [one for one in findings.comparisons if (one.property, one.corruption) == (measure, corruption)]
    level = entries[0].level if entries else findings.level
    return Table(
        "indices",
        f"Models against people, {measure}, {readable(corruption)}",
        (
            Column("model", "Model"),
            Column("people_s_curve", "People’s curve"),
            Column("verdict", "Against people"),
            Column("difference", "Mean accuracy minus people’s", "estimate"),
            Column("hmri", "HMRI", "estimate"),
            Column("mrsi", "MRSI", "estimate"),
            Column("human_area", "R̂ people", "number"),
            Column("model_area", "R̂ model", "number"),
            Column("human_lead", "Lead of people", "number"),
            Column("model_lead", "Lead of the model", "number"),
            Column("from", "Δv from", "number", 2),
            Column("to", "to", "number", 2),
        ),
        tuple(
            (
                entry.classifier,
                readable(entry.human_curve) + (" (borrowed)" if entry.borrowed else ""),
                _verdict_on_one(entry),
                _difference(entry.verdict),
                estimate(entry.shown.hmri, None),
                estimate(entry.shown.mrsi, None),
                entry.shown.human_area,
                entry.shown.classifier_area,
                entry.shown.human_lead,
                entry.shown.classifier_lead,
                *(entry.shown_range or (0.0, 1.0)),
            )
            for entry in sorted(entries, key=lambda entry: -entry.shown.hmri)
        ),
        (
            f"{100 * level:g} % intervals of mean accuracy. Where more than a fifth of a curve is extrapolated, "
            "numbers are for the range that both measured.",
            *_mean_accuracy(entries),
            *findings.about_people,
            *_ceilings(
                one.ceiling.twin
                for one in findings.human_curves
                if (one.property, one.corruption) == (measure, corruption) and one.ceiling
            ),
            ORDER_BY_HMRI,
        ),
    )


def _mean_accuracy(entries: Sequence[Comparison]) -> list[str]:
    """What the verdicts average, beside the areas; nothing where there are none."""
    judged = [one.verdict for one in entries if one.verdict is not None]
    if not judged:
        return []
    return [mean_accuracy_note(measured_words(one.has_conditions for one in judged))]


def _ceilings(twins: Iterable[Twin | None]) -> list[str]:
    """What a simulated twin of people reaches; once, where it is the same for all models."""
    return [f"{said}." for said in dict.fromkeys(one.statement for one in twins if one is not None)]


def _pairs(findings: Findings) -> list[tuple[str, str]]:
    """(property, corruption), accuracy first."""
    pairs = dict.fromkeys((entry.property, entry.corruption) for entry in findings.comparisons)
    return sorted(pairs, key=lambda pair: pair[0] != "accuracy")


def _choices(findings: Findings) -> list[ChartChoice]:
    return [
        ChartChoice(f"indices--{one}--{corruption}", readable(corruption), one) for one, corruption in _pairs(findings)
    ]


def _build(findings: Findings, key: str) -> Chart:
    _family, measure, corruption = key.split("--")
    observers = observers_of(findings)
    rows = [
        IndexRow(
            observer=observers[entry.classifier],
            hmri=entry.shown.hmri,
            hmri_interval=None,
            mrsi=entry.shown.mrsi,
            mrsi_interval=None,
        )
        for entry in findings.own_comparisons(measure)
        if entry.corruption == corruption
    ]
    title = f"{readable(corruption).capitalize()}: models against people, {measure}"
    figure = index_figure(rows, title=title) if rows else None
    if figure is not None:
        figure = replace(figure, x=replace(figure.x, label=f"{figure.x.label}{ON_AXIS[findings.curve_kind]}"))
    return Chart(
        key=key,
        title=title,
        figure=figure,
        tables=(
            comparisons_table(findings, measure, corruption),
            *weighted_indices(findings, measure, corruption),
        ),
        definition=_INDICES,
        caveats=(*_INDEX_CAVEATS, *([CONSISTENCY_CAVEAT] if measure == "consistency" else [])),
    )


def _leaderboards(findings: Findings) -> list[ChartChoice]:
    measures = dict.fromkeys(measure for measure, _corruption in _pairs(findings))
    return [ChartChoice(f"leaderboard--{one}", one) for one in measures if findings.own_comparisons(one)]


def _build_leaderboard(findings: Findings, key: str) -> Chart:
    measure = key.split("--")[1]
    return Chart(
        key=key,
        title="Leaderboard",
        figure=None,
        tables=(
            leaderboard_table(findings, measure),
            extremes_table(findings, measure),
            *weighted_means(findings, measure),
        ),
        definition=_LEADERBOARD,
        caveats=_LEADERBOARD_CAVEATS,
    )


FAMILY = Family("indices", _choices, _build)
LEADERBOARD = Family("leaderboard", _leaderboards, _build_leaderboard)
