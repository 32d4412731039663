"""Models beside people on sets of pictures: every number of the page, the JSON, the PDF and the CSV by picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pydantic import JsonValue

from analysis.claims.agreement import benchmark_caveats, benchmark_definitions
from analysis.documents.value import Block, Document, Facts, FigureBlock, Paragraph, Section, TableBlock
from analysis.figures.performance import condition_figure
from analysis.figures.value import Figure, Observer
from analysis.findings.answers import confusion_of, response_columns
from analysis.findings.benchmark import benchmark_table as standings_of
from analysis.findings.factors import MOST_VALUES
from analysis.findings.model.agreement import AverageObserver
from analysis.findings.model.entry import HUMANS
from analysis.findings.observations import Observations, curve_predictions, read_predictions, read_trials
from analysis.observers.methods import alternatives_words
from analysis.sets.scores import Drop, SetAnswers, SetScores, drops, set_scores
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.selectors import HowDecided, completed_runs, decisions_on, predictions_for
from humanexp.results.charts.agreement import benchmark_table
from humanexp.results.charts.answers import confusion_figure
from humanexp.results.charts.chart import population_label, readable
from humanexp.results.published_sets import ScoredSet
from humanexp.results.scorecard_tables import among, drop_table, factor_tables, numbers_offered, score_table
from humanexp.results.tables import predictions_of, trials_of
from humanexp.studies.models import Origin
from humanexp.studies.selectors import configuration_of

if TYPE_CHECKING:
    import pandas as pd

#: Conditions that a figure has room for.
MOST_CONDITIONS = 12
#: Labels for which a matrix of answers can be read in print, across a page and in one column; models that have one.
MOST_LABELS, MOST_IN_COLUMN, MOST_MATRICES = 30, 16, 12
_CONFUSION = (
    "{}. Rows: what the picture showed; columns: what was answered, in per cent of the row; last column: no answer in "
    "time."
)
_DECIDED = {
    "among": "the labels' outputs competed",
    "open": "all outputs competed",
    "own": "among the network's own labels",
}


@dataclass(frozen=True)
class Heading:
    """What is said of a set before its numbers: of the pictures, of people, and of each model."""

    set: str
    title: str
    facts: tuple[tuple[str, str], ...]
    models: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Scorecard:
    """Every observer on every set.

    Attributes
    ----------
    headings : tuple of Heading
    sets : tuple of SetScores
    drops : tuple of Drop
    standings : tuple of AverageObserver
        Next to the people of published trials.
    answers : tuple of SetAnswers
    """

    headings: tuple[Heading, ...]
    sets: tuple[SetScores, ...]
    drops: tuple[Drop, ...]
    standings: tuple[AverageObserver, ...]
    answers: tuple[SetAnswers, ...]

    def to_json(self) -> dict[str, JsonValue]:
        """Every number, unrounded."""
        return {
            "sets": [
                {"about": dict(heading.facts), "models": dict(heading.models), **one.to_json()}
                for heading, one in zip(self.headings, self.sets, strict=True)
            ],
            "drops": [one.to_json() for one in self.drops],
            "beside_people": [one.to_json() for one in self.standings],
        }

    def by_picture(self) -> pd.DataFrame:
        """A row for each set and picture: people's right answers, and the answer of every model."""
        import pandas as pd

        return pd.concat([_by_picture(one) for one in self.answers], ignore_index=True)


def scorecard(sets: Sequence[ScoredSet], *, seed: int = 0) -> Scorecard:
    """The numbers of all who answered these sets.

    Parameters
    ----------
    sets : sequence of ScoredSet
    seed : int
        Of the joint draws behind ranks.
    """
    # Sets name each other without a version; here they are called with it.
    called = {one.file.name: one.name for one in sets if one.file is not None}
    answers = tuple(_answers(one, called) for one in sets)
    published = {
        one.name: (found.people, _among_all(found))
        for one, found in zip(sets, answers, strict=True)
        if one.study is not None and one.study.origin == Origin.IMPORTED
    }
    left_out = {
        one.name: {*one.file.conditions.control, *one.file.conditions.excluded}
        for one in sets
        if one.file is not None and one.name in published and one.file.conditions.model_fields_set
    }
    return Scorecard(
        headings=tuple(_heading(one, found) for one, found in zip(sets, answers, strict=True)),
        sets=tuple(set_scores(one) for one in answers),
        drops=drops(answers),
        standings=standings_of(published, seed=seed, left_out=left_out) if published else (),
        answers=answers,
    )


def _among_all(answers: SetAnswers) -> Observations:
    """Answers of models that chose among all labels: others stand beside no people who did."""
    return answers.models.select(~np.isin(answers.models.observer, list(answers.alternatives)))


def _answers(one: ScoredSet, called: Mapping[str, str]) -> SetAnswers:
    """People and models of a set; over conditions, also where visual change was measured."""
    from analysis.tables.trials import TRIALS

    space = one.study.space if one.study is not None else one.stimulus_set.source_set.space
    decided = decisions_on(one.stimulus_set)
    if one.study is not None:
        trials, predictions = trials_of(one.study), predictions_of(one.study)
    else:
        trials, predictions = TRIALS.frame([]), predictions_for(one.stimulus_set)
    if one.study is not None and one.study.origin == Origin.IMPORTED:
        for frame in (trials, predictions):
            frame["visual_change"] = frame["visual_change"].where(frame["condition"].isna())
    runs = list(completed_runs(one.stimulus_set))
    return SetAnswers(
        name=one.name,
        people=read_trials(trials),
        models=curve_predictions(read_predictions(predictions)[0], trials),
        space=space,
        rules={run.name: _rule(run, decided) for run in runs},
        alternatives={run.name: run.alternatives for run in runs if run.alternatives},
        reference=called.get(one.file.reference, "") if one.file is not None else "",
        factors=_factors(one),
    )


def _factors(one: ScoredSet) -> dict[str, dict[str, str]]:
    """The value of each original, of factors that name groups of pictures rather than pictures."""
    found: dict[str, dict[str, str]] = {}
    for key, factors in one.stimulus_set.source_set.images.exclude(factors={}).values_list("key", "factors"):
        for name, value in factors.items():
            if value:
                found.setdefault(name, {})[key] = value
    return {name: known for name, known in sorted(found.items()) if len(set(known.values())) <= MOST_VALUES}


def _heading(one: ScoredSet, answers: SetAnswers) -> Heading:
    file, about = one.file, one.stimulus_set.source_set
    trials = file.trials if file is not None else None
    people = len(set(answers.people.observer.tolist()))
    exposure = trials.exposure_ms if trials is not None else None
    if one.study is not None and one.study.configuration:
        exposure = configuration_of(one.study).protocol.stimulus_ms
    facts = {
        "Version": file.version if file is not None else "",
        "Citation": file.citation if file is not None else about.provenance,
        "Licence": about.licence,
        "May be used": _USES[file.use] if file is not None else "",
        "Pictures": f"{one.stimulus_set.stimuli.count():,} of {one.stimulus_set.size_px} px, "
        f"{len(answers.space):,} labels ({answers.space.name})",
        "People": f"{people:,}{f', {trials.people}' if trials is not None and trials.people else ''}" if people else "",
        "People's task": trials.task if trials is not None else "",
        "People saw a picture for": f"{exposure:g} ms" if exposure else "",
        "Visual angle": f"{trials.visual_angle_deg:g}°" if trials is not None and trials.visual_angle_deg else "",
        "Mask": trials.mask if trials is not None else "",
        "Models saw a picture for": "no limit of viewing time",
        "Contamination": file.contamination if file is not None else "",
    }
    answered = sorted(set(answers.models.observer.tolist()))
    how = {run.name: _how(run, answers) for run in completed_runs(one.stimulus_set) if run.name in answered}
    elsewhere = [name for name in answered if name not in how]
    return Heading(
        set=one.name,
        title=file.title if file is not None and file.title else one.name,
        facts=tuple((name, value) for name, value in facts.items() if value),
        models=(*how.items(), *([("Answered elsewhere", ", ".join(elsewhere))] if elsewhere else [])),
    )


_USES = {"any": "for any purpose", "test-only": "for tests alone", "no-redistribution": "without passing it on"}


def _how(run: EvaluationRun, answers: SetAnswers) -> str:
    """What a model saw, and how its outputs became answers."""
    return "; ".join(part for part in (run.preprocessing, answers.rules.get(run.name, "")) if part)


def _rule(run: EvaluationRun, decided: Mapping[str, HowDecided]) -> str:
    """How outputs became answers: models are compared over sets under one rule alone, or one protocol of questions."""
    protocol = run.asking.get("protocol")
    if protocol:
        rule = f"asked in words by the protocol {protocol['name']} ({protocol['digest'][:8]})"
        if not run.alternatives:
            return rule
        return f"{rule}, offered {alternatives_words(run.alternatives, run.asking['foils'])}"
    how = decided[run.name]
    return f"{how.rule}, {_DECIDED[how.decide]}"


def condition_figures(card: Scorecard) -> Iterator[tuple[SetScores, Figure]]:
    """People and models by condition, of sets with several conditions and not too many."""
    for one in card.sets:
        names = list(dict.fromkeys(score.condition for score in one.conditions))
        if not 1 < len(names) <= MOST_CONDITIONS:
            continue
        rates: dict[str, dict[str, tuple[float, int]]] = {}
        number = numbers_offered(one)[0]
        alike = {own.observer for own in one.scores if own.alternatives == number}
        for score in one.conditions:
            if score.observer not in alike:
                continue
            rates.setdefault(score.observer, {})[score.condition] = (score.accuracy, score.n)
        models = [name for name in rates if name != HUMANS]
        observers = {HUMANS: Observer("people", "human")} | {
            name: Observer(name, "classifier", place) for place, name in enumerate(models)
        }
        chance = next((own.accuracy for own in one.scores if own.kind == "chance" and own.alternatives == number), None)
        yield (
            one,
            condition_figure(
                [(observers[name], by_condition) for name, by_condition in rates.items()],
                conditions=[readable(name) for name in names],
                title=f"Right answers by condition: {one.set}{among(number)}",
                chance=chance,
            ),
        )


def confusion_figures(answers: SetAnswers) -> Iterator[Figure]:
    """What people together and the best models answered to each label, of sets with few labels."""
    if len(answers.space) > MOST_LABELS:
        return
    columns = response_columns(answers.people, answers.models, answers.space)
    own = [(name, answers.models.select(answers.models.observer == name)) for name in _names(answers.models)]
    best = sorted(own, key=lambda pair: -float(pair[1].correct.mean()))[:MOST_MATRICES]
    for name, rows in ((HUMANS, answers.people), *best):
        if len(rows) and set(rows.category.tolist()) | set(rows.response.tolist()) <= set(columns):
            entry = confusion_of(name, answers.name, rows, None, answers.space, columns)
            yield confusion_figure(entry, title=f"Answers of {population_label(name)}: {answers.name}")


def _names(rows: Observations) -> list[str]:
    return sorted(set(rows.observer.tolist()))


def scorecard_document(card: Scorecard, *, title: str, with_matrices: bool = False) -> Document:
    """The whole on paper; with a matrix of the answers of people and of each model, which take long to draw."""
    figures = {one.set: figure for one, figure in condition_figures(card)}
    sections = [Section("Right answers", (TableBlock(score_table(card).for_print()),))]
    if card.drops:
        sections.append(Section("From a reference to another set", (TableBlock(drop_table(card).for_print()),)))
    if card.standings:
        said = (*benchmark_definitions(), *benchmark_caveats())
        table = TableBlock(benchmark_table(card.standings).for_print())
        blocks: tuple[Block, ...] = (table, *(Paragraph(text, is_note=True) for text in said))
        sections.append(Section("Observers next to people", blocks))
    by_factor = [TableBlock(table.for_print()) for table in factor_tables(card)]
    if by_factor:
        sections.append(Section("By factor", tuple(by_factor)))
    for heading, answers in zip(card.headings, card.answers, strict=True):
        parts: list[Block] = [Facts(heading.facts)]
        if heading.models:
            parts.append(Facts(heading.models))
        if heading.set in figures:
            parts.append(FigureBlock(figures[heading.set], "People and models by condition."))
        if with_matrices:
            width = "column" if len(answers.space) <= MOST_IN_COLUMN else "text"
            parts += [FigureBlock(one, _CONFUSION.format(one.title), width) for one in confusion_figures(answers)]
        sections.append(Section(heading.title, tuple(parts)))
    return Document(title=title, subtitle="", abstract=(), sections=tuple(sections))


def _by_picture(answers: SetAnswers) -> pd.DataFrame:
    import pandas as pd

    from analysis.findings.agreement import conditions_of, pictures_of

    columns = ["set", "picture", "original", "category", "condition"]
    people, models = (
        pd.DataFrame(
            {
                "set": answers.name,
                "picture": pictures_of(rows),
                "original": rows.original,
                "category": rows.category,
                "condition": conditions_of(rows),
                "observer": rows.observer,
                "response": rows.response,
                "right": rows.correct == 1.0,
            }
        )
        for rows in (answers.people, answers.models)
    )
    named = pd.concat([people, models]).drop_duplicates("picture")[columns].set_index("picture", drop=False)
    counted = people.groupby("picture")["right"].agg(["size", "sum"])
    named["people"] = counted["size"].reindex(named.index).fillna(0).astype(int)
    named["people_right"] = counted["sum"].reindex(named.index).fillna(0).astype(int)
    for name, rows in models.groupby("observer", sort=True):
        first = rows.drop_duplicates("picture").set_index("picture")
        named[str(name)] = first["response"].reindex(named.index)
        named[f"{name}: right"] = first["right"].reindex(named.index).astype("boolean")
    return named.reset_index(drop=True).sort_values(["condition", "picture"], ignore_index=True)
