"""Classifiers beside people: HMRI and MRSI on one corruption, and the leaderboard over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, IndexRow, Table, index_figure
from analysis.figures.table import Estimate
from humanexp.results.charts import words
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.names import Entry, Findings, observers_of, readable


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A classifier over all corruptions on which it stands beside people's own curves."""

    classifier: str
    corruptions: int
    hmri: Estimate
    mrsi: Estimate
    human_area: float
    classifier_area: float
    #: errors of the classifier for each of people's
    corruption_error: Estimate
    #: (HMRI, corruption) where it does worst and best
    lowest: tuple[float, str]
    highest: tuple[float, str]


def own_comparisons(findings: Findings, measure: str) -> list[Entry]:
    """Comparisons with people's own curves, not borrowed ones."""
    return [
        entry
        for entry in findings.get("comparisons", ())
        if entry["property"] == measure and not entry.get("borrowed", False)
    ]


def shown(entry: Entry) -> Entry:
    """The whole axis, or the common measured range where too much of the whole axis is extrapolated."""
    common: Entry | None = entry.get("common_range")
    return common if entry.get("withheld") and common else entry


def standings_of(findings: Findings, measure: str) -> list[Standing]:
    """Highest mean HMRI first."""
    joint = {entry["classifier"]: entry for entry in findings.get("leaderboard", ()) if entry["property"] == measure}
    by_classifier: dict[str, list[Entry]] = {}
    for entry in own_comparisons(findings, measure):
        by_classifier.setdefault(entry["classifier"], []).append(entry)
    standings = [_standing(name, own, joint.get(name, {})) for name, own in by_classifier.items()]
    return sorted(standings, key=lambda standing: -(standing.hmri[0] or 0.0))


def _standing(name: str, own: Sequence[Entry], joint: Entry) -> Standing:
    ordered = sorted((float(shown(entry)["hmri"]), readable(entry["corruption"])) for entry in own)
    return Standing(
        classifier=name,
        corruptions=len(own),
        hmri=_mean(own, "hmri", joint),
        mrsi=_mean(own, "mrsi", joint),
        human_area=fmean(shown(entry)["human_area"] for entry in own),
        classifier_area=fmean(shown(entry)["classifier_area"] for entry in own),
        corruption_error=_joint(joint, "corruption_error"),
        lowest=ordered[0],
        highest=ordered[-1],
    )


def _mean(own: Sequence[Entry], index: str, joint: Entry) -> Estimate:
    """Mean over corruptions; its interval needs the joint resamples of the analysis, or there is but one corruption."""
    interval: Any = joint.get(f"{index}_interval")
    if interval is None and len(own) == 1:
        interval = shown(own[0]).get(f"{index}_interval")
    value = joint[index] if index in joint else fmean(shown(entry)[index] for entry in own)
    return (value, interval[0], interval[1]) if interval else (value, None, None)


def _joint(joint: Entry, name: str) -> Estimate:
    interval = joint.get(f"{name}_interval") or (None, None)
    return (joint.get(name), interval[0], interval[1])


def leaderboard_table(findings: Findings, measure: str) -> Table:
    return Table(
        f"leaderboard-{measure}",
        f"Models against people over all corruptions, {measure}",
        (
            Column("model", "Model"),
            Column("hmri", "HMRI", "estimate"),
            Column("mrsi", "MRSI", "estimate"),
            Column("human_area", "R̂ people", "number"),
            Column("model_area", "R̂ model", "number"),
            Column("corruption_error", "Errors per human error", "estimate", 2),
            Column("lowest_hmri", "Lowest HMRI", "number"),
            Column("lowest_on", "on"),
            Column("highest_hmri", "Highest HMRI", "number"),
            Column("highest_on", "on"),
            Column("corruptions", "Corruptions", "count"),
        ),
        tuple(
            (
                one.classifier,
                one.hmri,
                one.mrsi,
                one.human_area,
                one.classifier_area,
                one.corruption_error,
                *one.lowest,
                *one.highest,
                one.corruptions,
            )
            for one in standings_of(findings, measure)
        ),
        ("Means over corruptions, each counting once.",),
    )


def comparisons_table(findings: Findings, measure: str, corruption: str) -> Table:
    entries = [
        entry
        for entry in findings.get("comparisons", ())
        if (entry["property"], entry["corruption"]) == (measure, corruption)
    ]
    level = entries[0].get("level", 0.95) if entries else 0.95
    return Table(
        "indices",
        f"Models against people, {measure}, {readable(corruption)}",
        (
            Column("model", "Model"),
            Column("people_s_curve", "People’s curve"),
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
                entry["classifier"],
                readable(entry.get("human_curve", corruption)) + (" (borrowed)" if entry.get("borrowed") else ""),
                _estimate(shown(entry), "hmri"),
                _estimate(shown(entry), "mrsi"),
                *(shown(entry)[name] for name in ("human_area", "classifier_area", "human_lead", "classifier_lead")),
                *(entry["common_range"]["range"] if shown(entry) is not entry else (0.0, 1.0)),
            )
            for entry in sorted(entries, key=lambda entry: -shown(entry)["hmri"])
        ),
        (
            f"{100 * level:g} % intervals. Where more than a fifth of a curve is extrapolated, numbers are for the "
            "range that both measured.",
        ),
    )


def _estimate(entry: Entry, index: str) -> Estimate:
    interval = entry.get(f"{index}_interval")
    return (entry[index], interval[0], interval[1]) if interval else (entry[index], None, None)


def _pairs(findings: Findings) -> list[tuple[str, str]]:
    """(property, corruption), accuracy first."""
    pairs = dict.fromkeys((entry["property"], entry["corruption"]) for entry in findings.get("comparisons", ()))
    return sorted(pairs, key=lambda pair: pair[0] != "accuracy")


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(f"indices--{one}--{corruption}", readable(corruption), one) for one, corruption in _pairs(findings)]


def _build(findings: Findings, key: str) -> Chart:
    _family, measure, corruption = key.split("--")
    observers = observers_of(findings)
    entries = [entry for entry in own_comparisons(findings, measure) if entry["corruption"] == corruption]
    rows = [
        IndexRow(
            observer=observers[entry["classifier"]],
            hmri=shown(entry)["hmri"],
            hmri_interval=_interval(shown(entry).get("hmri_interval")),
            mrsi=shown(entry)["mrsi"],
            mrsi_interval=_interval(shown(entry).get("mrsi_interval")),
        )
        for entry in entries
    ]
    title = f"{readable(corruption).capitalize()}: models against people, {measure}"
    return Chart(
        key=key,
        title=title,
        figure=index_figure(rows, title=title) if rows else None,
        tables=(comparisons_table(findings, measure, corruption),),
        definition=words.INDICES,
        caveats=(*words.INDEX_CAVEATS, *([words.CONSISTENCY_CAVEAT] if measure == "consistency" else [])),
    )


def _interval(values: Sequence[float] | None) -> tuple[float, float] | None:
    return None if values is None else (values[0], values[1])


def _leaderboards(findings: Findings) -> list[Choice]:
    measures = dict.fromkeys(measure for measure, _corruption in _pairs(findings))
    return [Choice(f"leaderboard--{one}", one) for one in measures if own_comparisons(findings, one)]


def _build_leaderboard(findings: Findings, key: str) -> Chart:
    measure = key.split("--")[1]
    return Chart(
        key=key,
        title=_("Leaderboard"),
        figure=None,
        tables=(leaderboard_table(findings, measure),),
        definition=words.LEADERBOARD,
        caveats=words.LEADERBOARD_CAVEATS,
    )


FAMILY = Family("indices", _choices, _build)
LEADERBOARD = Family("leaderboard", _leaderboards, _build_leaderboard)
