"""Models beside people on sets of pictures: every number of the page, the JSON, the PDF and the CSV by picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import JsonValue

from analysis.claims.agreement import benchmark_caveats, benchmark_definitions
from analysis.documents.value import Block, Document, Facts, FigureBlock, Paragraph, Section, TableBlock
from analysis.figures.performance import condition_figure
from analysis.figures.table import Cell, Column, Estimate, Table, estimate
from analysis.figures.value import Figure, Observer
from analysis.findings.answers import confusion_of, response_columns
from analysis.findings.benchmark import benchmark_table as standings_of
from analysis.findings.factors import MOST_VALUES
from analysis.findings.model.agreement import AverageObserver
from analysis.findings.model.entry import HUMANS
from analysis.findings.observations import Observations, curve_predictions, read_predictions, read_trials
from analysis.sets.scores import CHANCE, Drop, SetAnswers, SetScores, drops, set_scores
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.selectors import HowDecided, completed_runs, decisions_on, predictions_for
from humanexp.results.charts.agreement import benchmark_table
from humanexp.results.charts.answers import confusion_figure
from humanexp.results.charts.chart import population_label, readable
from humanexp.results.published_sets import ScoredSet
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
        one.name: (found.people, found.models)
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
    rules = {run.name: _rule(run, decided) for run in completed_runs(one.stimulus_set)}
    return SetAnswers(
        name=one.name,
        people=read_trials(trials),
        models=curve_predictions(read_predictions(predictions)[0], trials),
        space=space,
        rules=rules,
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
        return f"asked in words by the protocol {protocol['name']} ({protocol['digest'][:8]})"
    how = decided[run.name]
    return f"{how.rule}, {_DECIDED[how.decide]}"


def score_table(card: Scorecard) -> Table:
    """Share of right answers: an observer a row, a set a column."""
    many = len(card.sets) > 1
    order: dict[tuple[str, str], None] = {}
    for one in card.sets:
        order |= {(score.kind, score.observer): None for score in one.scores if not (many and score.kind == "human")}
    kinds = ("chance", "humans", "human", "classifier")
    rows = []
    for kind, observer in sorted(order, key=lambda key: kinds.index(key[0])):
        cells: list[Cell] = [_label(observer)]
        for one in card.sets:
            found = next((score for score in one.scores if (score.kind, score.observer) == (kind, observer)), None)
            cells += [*((estimate(found.accuracy, found.interval), found.n or None) if found else (None, None))]
        rows.append(tuple(cells))
    columns = [Column("observer", "Observer")]
    for one in card.sets:
        columns += [Column(one.set, one.set, "estimate"), Column(f"{one.set}_n", "n", "count")]
    notes = (
        "Missed, refused and unreadable answers are wrong. Intervals: for new pictures; of people together for new "
        "people, too. Models have no limit of viewing time.",
    )
    return Table("scores", "Right answers", tuple(columns), tuple(rows), notes)


def drop_table(card: Scorecard) -> Table:
    """From every reference set to the sets that name it."""
    columns = (
        Column("observer", "Observer"),
        Column("set", "Set"),
        Column("reference", "Reference"),
        Column("labels", "Labels", "count"),
        Column("reference_accuracy", "On the reference", "number"),
        Column("accuracy", "On the set", "number"),
        Column("drop", "Drop", "estimate"),
        Column("withheld", "Not compared, because"),
    )
    rows = tuple(
        (
            _label(one.observer), one.set, one.reference, one.labels, one.reference_accuracy, one.accuracy,
            estimate(one.drop, one.interval), one.withheld,
        )
        for one in card.drops
    )  # fmt: skip
    note = "Both accuracies are of the labels that both sets have pictures of, and compared under one rule alone."
    return Table("drops", "Drop from the reference", columns, rows, (note,))


def factor_tables(card: Scorecard) -> Iterator[Table]:
    """Right answers by the values of each factor and in total, a table a set and factor; with drops, where there are.

    ImageNet-D's Table 1: a row an observer, a column a value of the factor and one for all pictures, and behind each
    the drop from the reference set, as the paper has it: accuracy there, on the labels of both sets, minus that here.
    """
    reference = {(one.set, one.observer): one.reference_accuracy for one in card.drops}
    for one in card.sets:
        total = {score.observer: estimate(score.accuracy, score.interval) for score in one.scores}
        for factor in dict.fromkeys(entry.factor for entry in one.factors):
            entries = [entry for entry in one.factors if entry.factor == factor]
            values = list(dict.fromkeys(entry.value for entry in entries))
            observers = list(dict.fromkeys(entry.observer for entry in entries))
            cells = {(entry.observer, entry.value): estimate(entry.accuracy, entry.interval) for entry in entries}
            cells |= {(name, _TOTAL): total[name] for name in observers if name in total}
            before = {name: reference.get((one.set, name)) for name in observers}
            has_drops = any(value is not None for value in before.values())
            columns = [Column("observer", "Observer")]
            rows: list[list[Cell]] = [[_label(name)] for name in observers]
            for value in (*values, _TOTAL):
                columns.append(Column(value, value, "estimate"))
                for row, name in zip(rows, observers, strict=True):
                    row.append(cells.get((name, value)))
                if has_drops:
                    columns.append(Column(f"{value}_drop", "drop", "number"))
                    for row, name in zip(rows, observers, strict=True):
                        row.append(_fallen(before.get(name), cells.get((name, value))))
            notes = ("Drops are from the set's reference, for the numbers as they stand: without intervals.",)
            yield Table(
                f"{one.set}-{factor}",
                f"Right answers by {factor}: {one.set}",
                tuple(columns),
                tuple(map(tuple, rows)),
                notes if has_drops else (),
            )


#: Column for all pictures of a set.
_TOTAL = "total"


def _fallen(before: float | None, now: Estimate | None) -> float | None:
    return None if before is None or now is None or now[0] is None else before - now[0]


def condition_figures(card: Scorecard) -> Iterator[tuple[SetScores, Figure]]:
    """People and models by condition, of sets with several conditions and not too many."""
    for one in card.sets:
        names = list(dict.fromkeys(score.condition for score in one.conditions))
        if not 1 < len(names) <= MOST_CONDITIONS:
            continue
        rates: dict[str, dict[str, tuple[float, int]]] = {}
        for score in one.conditions:
            rates.setdefault(score.observer, {})[score.condition] = (score.accuracy, score.n)
        models = [name for name in rates if name != HUMANS]
        observers = {HUMANS: Observer("people", "human")} | {
            name: Observer(name, "classifier", place) for place, name in enumerate(models)
        }
        chance = next((score.accuracy for score in one.scores if score.kind == "chance"), None)
        yield (
            one,
            condition_figure(
                [(observers[name], by_condition) for name, by_condition in rates.items()],
                conditions=[readable(name) for name in names],
                title=f"Right answers by condition: {one.set}",
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


def _label(observer: str) -> str:
    return "chance" if observer == CHANCE else population_label(observer)


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
