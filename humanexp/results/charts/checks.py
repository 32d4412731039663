"""The headline under other choices of sessions and trials, and pictures judged without a time limit."""

from __future__ import annotations

from statistics import fmean

from analysis.claims.models import models_sentence
from analysis.figures.table import Cell, Column, Table
from analysis.findings.model.checks import Choice as Chosen
from analysis.findings.model.findings import Findings
from analysis.wording import quoted
from humanexp.core.errors import existing
from humanexp.results.charts.chart import Chart, only_chart, readable


def _build_sensitivity(findings: Findings, key: str) -> Chart:
    models = list(dict.fromkeys(one.classifier for entry in findings.sensitivity for one in entry.comparisons))
    return Chart(
        key=key,
        title="What the choices change",
        figure=None,
        tables=(
            Table(
                "sensitivity",
                "Headline numbers under other choices, accuracy, means over corruptions",
                (
                    Column("choice", "Choice"),
                    Column("sessions", "Sessions", "count"),
                    Column("answers", "Answers", "count"),
                    Column("human_area", "R̂ people", "number"),
                    *(Column(f"hmri_{name}", f"HMRI {name}", "number") for name in models),
                ),
                tuple(_choice_row(entry, models) for entry in findings.sensitivity),
            ),
            *_headlines(findings),
        ),
        definition=("The same numbers under other choices of sessions and trials; the first line is as reported.",),
        caveats=("A choice that is made after looking at this table is no planned analysis: say so.",),
    )


def _choice_row(entry: Chosen, models: list[str]) -> tuple[Cell, ...]:
    areas = [one.area for one in entry.curves if one.property == "accuracy"]
    cells: list[Cell] = [entry.choice, entry.sessions, entry.answers, fmean(areas) if areas else None]
    for name in models:
        found = [one.hmri for one in entry.comparisons if (one.classifier, one.property) == (name, "accuracy")]
        cells.append(fmean(found) if found else None)
    return tuple(cells)


def _headlines(findings: Findings) -> list[Table]:
    """What is said of the models under each choice: no rule, the plan's rules, the strictest ones."""
    judged = [entry for entry in findings.sensitivity if entry.verdicts]
    if not judged:
        return []
    #: choice under which a headline stands first
    first: dict[str, str] = {}
    rows = []
    for entry in judged:
        said = _headline(entry)
        rows.append((entry.choice, f"the same as “{first[said]}”" if said in first else said))
        first.setdefault(said, entry.choice)
    return [
        Table(
            "headlines",
            "The headline under other choices",
            (Column("choice", "Choice"), Column("headline", "Models against people")),
            tuple(rows),
        )
    ]


def _headline(entry: Chosen) -> str:
    said = {
        word: [quoted(one.classifier) for one in entry.verdicts if one.word == word]
        for word in ("matches", "differs", "undecided")
    }
    corruptions = {one.corruption for one in entry.comparisons if one.property == "accuracy"}
    where = f"on {readable(*corruptions)}" if len(corruptions) == 1 else f"over {len(corruptions)} corruptions"
    return models_sentence(said["matches"], said["differs"], said["undecided"], where=where)


SENSITIVITY = only_chart(
    "sensitivity", "all choices", lambda findings: len(findings.sensitivity) > 1, _build_sensitivity
)


_OVERALL = {
    "people": "people who answered",
    "qualified": "of them qualified",
    "answers": "answers of qualified people",
    "agreement": "agreement on both questions",
    "agreement_shows": "agreement on what is shown",
    "agreement_usable": "agreement on what it can be used as",
    "mean_image_agreement": "mean agreement of a picture",
    "accepted_share": "share of pictures accepted",
    "accepted_share_one_coin": "share accepted, people weighed by one-coin EM",
    "decided_otherwise": "pictures on which the two decide otherwise",
}


def _build_validation(findings: Findings, key: str) -> Chart:
    found = existing(findings.validation, "No pictures were judged in this study.")
    return Chart(
        key=key,
        title="What people agree on",
        figure=None,
        tables=(
            Table(
                "overall",
                "Agreement of qualified people",
                (Column("what", "What"), Column("value", "Value", "number")),
                tuple(
                    (_OVERALL[name], value) for name, value in found.overall if name in _OVERALL and value is not None
                ),
                (
                    f"A picture is accepted where more than {found.overall.threshold:g} of the answers say yes "
                    "to both.",
                    *findings.about_people,
                ),
            ),
            Table(
                "pictures",
                "Agreement by picture",
                (
                    Column("stimulus", "Picture"),
                    Column("wanted", "Wanted"),
                    Column("n", "Answers", "count"),
                    Column("shows", "Shows it", "number", 2),
                    Column("usable", "Could be used", "number", 2),
                    Column("yes_to_both", "Yes to both", "number", 2),
                    Column("agreement", "Agreement", "number", 2),
                    Column("accepted", "Accepted"),
                ),
                tuple(
                    (
                        one.stimulus,
                        one.wanted,
                        one.n,
                        one.shows,
                        one.usable,
                        one.yes_to_both,
                        one.agreement,
                        "yes" if one.accepted else "no",
                    )
                    for one in found.images
                ),
            ),
        ),
        definition=(
            "Agreement: share of the qualified answers that equal the majority. Qualified: the session counts.",
            "One-coin EM estimates each person's reliability and the pictures' truth together.",
        ),
    )


VALIDATION = only_chart(
    "validation", "all pictures", lambda findings: findings.validation and findings.validation.images, _build_validation
)
