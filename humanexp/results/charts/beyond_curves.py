"""Models and people otherwise than by curves: over difficulty, and under other choices of trials."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from analysis.claims.difficulty import note
from analysis.claims.models import models_sentence
from analysis.figures.performance import difficulty_figure
from analysis.figures.table import Cell, Column, Table
from analysis.findings.model.checks import Choice as Chosen
from analysis.findings.model.comparisons import ModelVerdict
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from analysis.wording import quoted
from humanexp.core.errors import existing
from humanexp.results.charts.chart import Chart, observers_of, only_chart, readable

_DIFFICULTY = (
    "Across: how often people are right, from answers that did not place them; up: the model on the same pictures.",
    (
        "An answer is placed by other people's answers to other originals of its corruption and tenth of "
        "visual change: placed by itself, luck would put an observer like people off the diagonal."
    ),
)
_DIFFICULTY_CAVEATS = (
    "Pictures that are equally hard for people may be hard for different reasons; this chart combines corruptions.",
)


def _build_difficulty(findings: Findings, key: str) -> Chart:
    shown = [one for one in findings.difficulty if one.shown]
    observers = observers_of(findings)
    title = "Accuracy over human difficulty"
    return Chart(
        key=key,
        title="How hard is it for people?",
        figure=difficulty_figure(
            [
                (observers[name], [one for one in shown if one.classifier == name])
                for name in dict.fromkeys(one.classifier for one in shown)
            ],
            people=observers[HUMANS],
            title=title,
            notes=(note(),),
        ),
        tables=(
            Table(
                "difficulty",
                title,
                (
                    Column("model", "Model"),
                    Column("placed_from", "Others right from", "number", 1),
                    Column("placed_to", "to", "number", 1),
                    Column("people", "People’s accuracy", "number"),
                    Column("accuracy", "Model’s accuracy", "number"),
                    Column("difference", "Difference", "estimate"),
                    Column("answers", "Answers", "count"),
                    Column("participants", "People", "count"),
                    Column("originals", "Originals", "count"),
                ),
                tuple(
                    (
                        one.classifier,
                        *one.placed,
                        one.people,
                        one.accuracy,
                        (one.difference, *one.interval),
                        one.n,
                        one.participants,
                        one.originals,
                    )
                    for one in shown
                ),
                (f"{100 * findings.level:g} % intervals, each for itself.",),
            ),
        ),
        definition=_DIFFICULTY,
        caveats=_DIFFICULTY_CAVEATS,
    )


DIFFICULTY = only_chart(
    "difficulty", "all models", lambda findings: any(one.shown for one in findings.difficulty), _build_difficulty
)


ALL = "all corruptions"


def _verdicts(findings: Findings) -> Iterator[tuple[str, str, ModelVerdict]]:
    """Model, corruption and verdict: over all corruptions first, then one by one."""
    for leader in findings.leaderboard:
        own = [
            (readable(one.corruption), one.verdict)
            for one in findings.comparisons
            if one.classifier == leader.classifier and one.verdict is not None
        ]
        if leader.verdict is not None and len(own) != 1:
            yield leader.classifier, ALL, leader.verdict
        if leader.verdict is not None:
            for corruption, verdict in own:
                yield leader.classifier, corruption, verdict


def _build_fragility(findings: Findings, key: str) -> Chart:
    rows = list(_verdicts(findings))
    told: dict[str, list[str]] = {}
    for _model, corruption, one in rows:
        if one.individuals and corruption not in told.setdefault(one.individuals.statement, []):
            told[one.individuals.statement].append(corruption)
    return Chart(
        key=key,
        title="How fragile is this?",
        figure=None,
        tables=(
            Table(
                "fragility",
                "The smallest set found whose removal gives another verdict",
                (
                    Column("model", "Model"),
                    Column("corruption", "Corruption"),
                    Column("verdict", "Against people"),
                    Column("sessions", "Sessions"),
                    Column("pictures", "Pictures"),
                    Column("categories", "Categories"),
                ),
                tuple(_row(*row) for row in rows),
                tuple(f"{'; '.join(where).capitalize()}: {statement}." for statement, where in told.items()),
            ),
        ),
        definition=(
            (
                "Sessions, pictures or categories are left out and every verdict is computed again, with the same "
                "random numbers for whoever remains; a change that they alone make does not count."
            ),
            (
                "With at most 100 of a kind each is left out by itself, with at most 16 also every pair, if time "
                "allows. Larger sets are sought step by step, so that a smaller one may exist: at most so many."
            ),
        ),
        caveats=(
            ("That a verdict hangs on few answers does not make it wrong; that none was found does not make it right."),
            "A person gives far fewer answers than a model: undecided of people does not say that they are alike.",
        ),
    )


def _row(classifier: str, corruption: str, verdict: ModelVerdict) -> tuple[Cell, ...]:
    told = {one.unit: one.statement for one in verdict.fragility}
    return (
        classifier,
        corruption,
        verdict.word,
        *(told.get(unit, "") for unit in ("sessions", "pictures", "categories")),
    )


FRAGILITY = only_chart(
    "fragility",
    "all verdicts",
    lambda findings: any(one.fragility for *_, one in _verdicts(findings)),
    _build_fragility,
)


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
    "agreement_by_guessing": "agreement on both questions, if everybody guessed",
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
                    (words, value)
                    for name, words in _OVERALL.items()
                    if (value := getattr(found.overall, name)) is not None
                ),
                (
                    f"A picture is accepted where more than {found.overall.threshold:g} of the answers say yes "
                    "to both.",
                    *findings.about_people,
                ),
            ),
            *(
                [
                    Table(
                        "labels",
                        "Agreement by wanted label",
                        (
                            Column("wanted", "Wanted"),
                            Column("pictures", "Pictures", "count"),
                            Column("answers", "Answers", "count"),
                            Column("shows", "Shows it", "number", 2),
                            Column("usable", "Could be used", "number", 2),
                            Column("yes_to_both", "Yes to both", "number", 2),
                            Column("agreement", "Agreement", "number", 2),
                            Column("accepted", "Accepted", "count"),
                        ),
                        tuple(tuple(one.model_dump().values()) for one in found.labels),
                    )
                ]
                if found.labels
                else []
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
            "Guessing: every answer as likely as any other; the most frequent of few answers is frequent by itself.",
            "One-coin EM estimates each person's reliability and the pictures' truth together.",
        ),
    )


VALIDATION = only_chart(
    "validation", "all pictures", lambda findings: findings.validation and findings.validation.images, _build_validation
)
