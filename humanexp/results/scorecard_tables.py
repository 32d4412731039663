"""Tables of what everybody scores on sets of pictures: right answers, drops from a reference, answers by factor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from analysis.figures.table import Cell, Column, Estimate, Table, estimate
from analysis.sets.scores import CHANCE, SetScores
from humanexp.results.charts.chart import population_label

if TYPE_CHECKING:
    from humanexp.results.scorecard import Scorecard


def score_table(card: Scorecard) -> Table:
    """Share of right answers: an observer a row, a set a column."""
    many = len(card.sets) > 1
    order: dict[tuple[str, str], None] = {}
    for one in card.sets:
        order |= {(score.kind, score.observer): None for score in one.scores if not (many and score.kind == "human")}
    kinds = ("chance", "humans", "human", "classifier")
    rows = []
    places = [(one, number) for one in card.sets for number in numbers_offered(one)]
    for kind, observer in sorted(order, key=lambda key: kinds.index(key[0])):
        cells: list[Cell] = [row_label(observer)]
        for one, number in places:
            wanted = (kind, observer, number)
            found = next((own for own in one.scores if (own.kind, own.observer, own.alternatives) == wanted), None)
            cells += [*((estimate(found.accuracy, found.interval), found.n or None) if found else (None, None))]
        rows.append(tuple(cells))
    columns = [Column("observer", "Observer")]
    for one, number in places:
        columns += [
            Column(_key(one, number), one.set + among(number), "estimate"),
            Column(f"{_key(one, number)}_n", "n", "count"),
        ]
    notes = [
        "Missed, refused and unreadable answers are wrong. Intervals: for new pictures; of people together for new "
        "people, too. Models have no limit of viewing time."
    ]
    if any(number for _, number in places):
        notes.append(_FEWER)
    return Table("scores", "Right answers", tuple(columns), tuple(rows), tuple(notes))


#: Beside columns of models that were offered fewer labels than the pictures have.
_FEWER = (
    "Columns \u201camong k\u201d: each question offered the right label and k - 1 others, so that a guess is right in "
    "1 of k; these shares compare with no other column."
)


def numbers_offered(one: SetScores) -> list[int | None]:
    """How many labels were offered: all (None) first, as far as anybody answered so."""
    there = {own.alternatives for own in one.scores if own.kind != "chance"}
    return [*((None,) if None in there or not there else ()), *sorted(number for number in there if number)]


def among(number: int | None) -> str:
    return f", among {number}" if number else ""


def _key(one: SetScores, number: int | None) -> str:
    return f"{one.set}_among_{number}" if number else one.set


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
            row_label(one.observer), one.set, one.reference, one.labels, one.reference_accuracy, one.accuracy,
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
    for one, number in [(own, number) for own in card.sets for number in numbers_offered(own)]:
        total = {own.observer: estimate(own.accuracy, own.interval) for own in one.scores if own.alternatives == number}
        for factor in dict.fromkeys(entry.factor for entry in one.factors):
            entries = [entry for entry in one.factors if entry.factor == factor and entry.observer in total]
            values = list(dict.fromkeys(entry.value for entry in entries))
            observers = list(dict.fromkeys(entry.observer for entry in entries))
            cells = {(entry.observer, entry.value): estimate(entry.accuracy, entry.interval) for entry in entries}
            cells |= {(name, _TOTAL): total[name] for name in observers if name in total}
            before = {name: reference.get((one.set, name)) for name in observers}
            has_drops = any(value is not None for value in before.values())
            columns = [Column("observer", "Observer")]
            rows: list[list[Cell]] = [[row_label(name)] for name in observers]
            for value in (*values, _TOTAL):
                columns.append(Column(value, value, "estimate"))
                for row, name in zip(rows, observers, strict=True):
                    row.append(cells.get((name, value)))
                if has_drops:
                    columns.append(Column(f"{value}_drop", "drop", "number"))
                    for row, name in zip(rows, observers, strict=True):
                        row.append(_fallen(before.get(name), cells.get((name, value))))
            notes = [
                "Drops are from the set's reference, for the numbers as they stand: without intervals."
            ] * has_drops
            yield Table(
                f"{_key(one, number)}-{factor}",
                f"Right answers by {factor}: {one.set}{among(number)}",
                tuple(columns),
                tuple(map(tuple, rows)),
                (*notes, *((_FEWER,) if number else ())),
            )


#: Column for all pictures of a set.
_TOTAL = "total"


def _fallen(before: float | None, now: Estimate | None) -> float | None:
    return None if before is None or now is None or now[0] is None else before - now[0]


def row_label(observer: str) -> str:
    return "chance" if observer == CHANCE else population_label(observer)
