"""Tables changed by lot, through everything that reads tables: the same result, or a refusal in a sentence."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from analysis.classifiers.decision import read_labels
from analysis.classifiers.loading import load_classifier
from analysis.classifiers.recorded import PredictionTable
from analysis.errors import AnalysisError
from analysis.labels.files import default_labels
from analysis.published_trials import read_published_trials
from analysis.tables.stimuli import PREDICTIONS
from humanexp.core.errors import InputRefused
from humanexp.recruiters.people import ids_of
from humanexp.stimuli import layouts
from tests.analysis.test_tables import ROW
from tests.labels import label_at

Rows = list[list[str]]
Mutation = Callable[[Rows, np.random.Generator], bytes]
#: Of each kind of table and mutation; the gate takes the first of them.
COUNT, IN_GATE = 25, 3


def saved(rows: Rows, delimiter: str = ",", end: str = "\n", encoding: str = "utf-8") -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator=end).writerows(rows)
    return buffer.getvalue().encode(encoding)


# What is another spelling of the same table -----------------------------------------------------------------------


def another_delimiter(rows: Rows, rng: np.random.Generator) -> bytes:
    return saved(rows, delimiter=str(rng.choice([";", "\t", "|"])))


def another_system(rows: Rows, rng: np.random.Generator) -> bytes:
    return saved(rows, end=str(rng.choice(["\r\n", "\r"])), encoding=str(rng.choice(["utf-8-sig", "utf-16"])))


def capitals_in_the_header(rows: Rows, rng: np.random.Generator) -> bytes:
    return saved([[name.upper() if rng.integers(2) else f" {name} " for name in rows[0]], *rows[1:]])


def empty_ends(rows: Rows, rng: np.random.Generator) -> bytes:
    extra = int(rng.integers(1, 4))
    return saved([*(row + [""] * extra for row in rows), *([[""] * (len(rows[0]) + extra)] * extra)])


def columns_in_another_order(rows: Rows, rng: np.random.Generator) -> bytes:
    order = rng.permutation(len(rows[0]))
    return saved([[row[place] for place in order] for row in rows])


# What means something else, or nothing ----------------------------------------------------------------------------


def doubled_header(rows: Rows, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(len(rows[0])))
    name = rows[0][place]
    again = [name, name.upper(), f"{name} "][int(rng.integers(3))]
    return saved([[*rows[0], again], *([*row, row[place]] for row in rows[1:])])


def shifted_row(rows: Rows, rng: np.random.Generator) -> bytes:
    """The cells of some row stand one column further on; the last becomes the first."""
    place = int(rng.integers(1, len(rows)))
    return saved([row[-1:] + row[:-1] if number == place else row for number, row in enumerate(rows)])


def a_cell_too_many(rows: Rows, rng: np.random.Generator) -> bytes:
    place, column = int(rng.integers(1, len(rows))), int(rng.integers(len(rows[0])))
    return saved([row[:column] + ["x"] + row[column:] if number == place else row for number, row in enumerate(rows)])


def a_cell_too_few(rows: Rows, rng: np.random.Generator) -> bytes:
    place, column = int(rng.integers(1, len(rows))), int(rng.integers(len(rows[0])))
    return saved([row[:column] + row[column + 1 :] if number == place else row for number, row in enumerate(rows)])


def another_unit(rows: Rows, rng: np.random.Generator) -> bytes:
    # A small probability is one among many labels; a short time is none of a person.
    factor = float(rng.choice([1000, 1e6, -1, 0.001] if "rt" in rows[0] else [100, 1000, -1]))
    columns = [place for place, name in enumerate(rows[0]) if name in ("rt", "confidence", *default_labels().ids)]
    changed = [
        [str(float(cell) * factor) if place in columns else cell for place, cell in enumerate(row)] for row in rows[1:]
    ]
    return saved([rows[0], *changed])


# What may be either, but no traceback -----------------------------------------------------------------------------


def bytes_changed(rows: Rows, rng: np.random.Generator) -> bytes:
    content = bytearray(saved(rows))
    for place in rng.integers(0, len(content), int(rng.integers(1, 12))):
        content[place] = int(rng.integers(256))
    return bytes(content)


def torn(rows: Rows, rng: np.random.Generator) -> bytes:
    content = saved(rows)
    return content[: int(rng.integers(len(content)))]


def signs_put_in(rows: Rows, rng: np.random.Generator) -> bytes:
    content = saved(rows).decode()
    for _ in range(int(rng.integers(1, 6))):
        place = int(rng.integers(len(content)))
        content = content[:place] + str(rng.choice(list("\",;\t\n\r'\0|=\ufeff\u2028"))) + content[place:]
    return content.encode()


SAME = (another_delimiter, another_system, capitals_in_the_header, empty_ends, columns_in_another_order)
WRONG = (doubled_header, shifted_row, a_cell_too_many, a_cell_too_few)
EITHER = (bytes_changed, torn, signs_put_in)


@dataclass(frozen=True)
class Kind:
    """A kind of table: one of it, and what is read from it."""

    rows: Rows
    read: Callable[[Path], object]
    has_order: bool = True
    has_units: bool = False


def _trials(path: Path) -> object:
    return read_published_trials([path], study="x").trials.to_csv()


def _recorded(path: Path) -> object:
    table = load_classifier(f"table:{path}")
    assert isinstance(table, PredictionTable)
    found = table.predictions(sorted(table.row_of))
    return found.responses.tolist(), found.confidence.tolist()


def _pictures(path: Path) -> object:
    return layouts.read_table(path.read_bytes(), source=path.name, resolve=str).files


def _own_probabilities() -> Rows:
    rng = np.random.default_rng(4)
    rows = [[f"s{number}", *(f"{share:.6f}" for share in rng.dirichlet(np.ones(16)))] for number in range(6)]
    return [["stimulus", *default_labels().ids], *rows]


KINDS = {
    "trials": Kind(
        [
            ["subj", "session", "trial", "rt", "object_response", "category", "condition", "imagename"],
            *(
                [
                    "subject-01",
                    "1",
                    str(n),
                    f"0.{70 + n}",
                    "cat" if n % 3 else "na",
                    "cat",
                    f"0.{n % 2}",
                    f"{n}_a_b_p{n}.png",
                ]
                for n in range(1, 9)
            ),
        ],
        _trials,
        has_units=True,
    ),
    "responses": Kind(
        [["stimulus", "response", "confidence"], *([f"s{n}", label_at(n), f"0.{n + 2}"] for n in range(7))],
        _recorded,
        has_units=True,
    ),
    "probabilities": Kind(_own_probabilities(), _recorded, has_units=True),
    "pictures": Kind([["path", "category"], *([f"p{n}.png", label_at(n)] for n in range(8))], _pictures),
    "mapping": Kind([["label", "category"], *([f"output {n}", label_at(n)] for n in range(20))], read_labels),
    "predictions": Kind(
        [list(ROW), *([*{**ROW, "stimulus": f"s{n}"}.values()] for n in range(5))],
        lambda path: PREDICTIONS.read(path).to_csv(),
    ),
    "ids": Kind(
        [["Participant id", "Status"], *([f"5f0c0ffee0ddba11deadbee{n}", "ok"] for n in range(6))],
        lambda path: ids_of(path.read_bytes(), source=path.name),
    ),
}
DRAWS = [
    pytest.param(range(IN_GATE), id="first"),
    pytest.param(range(IN_GATE, COUNT), id="others", marks=pytest.mark.verify),
]


def outcome(kind: Kind, path: Path, content: bytes) -> object:
    """What was read, or a refusal; anything else that is raised fails the test."""
    path.write_bytes(content)
    try:
        return kind.read(path)
    except (AnalysisError, InputRefused) as error:
        said = str(error)
        assert said.rstrip().endswith((".", ")")) and len(said) < 2_000, said
        return error


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("name", KINDS)
class TestMutations:
    def test_another_spelling_is_the_same_table(self, name: str, draws: range, tmp_path: Path) -> None:
        kind, path = KINDS[name], tmp_path / "t.csv"
        expected = outcome(kind, path, saved(kind.rows))
        assert not isinstance(expected, Exception)
        for mutation in SAME:
            for draw in draws:
                found = outcome(kind, path, mutation(kind.rows, np.random.default_rng(draw)))
                assert found == expected, (mutation.__name__, draw)

    def test_another_meaning_is_refused(self, name: str, draws: range, tmp_path: Path) -> None:
        kind = KINDS[name]
        for mutation in (*WRONG, another_unit) if kind.has_units else WRONG:
            for draw in draws:
                found = outcome(kind, tmp_path / "t.csv", mutation(kind.rows, np.random.default_rng(draw)))
                assert isinstance(found, Exception), (mutation.__name__, draw, found)

    def test_damage_is_read_or_refused(self, name: str, draws: range, tmp_path: Path) -> None:
        for mutation in EITHER:
            for draw in draws:
                outcome(KINDS[name], tmp_path / "t.csv", mutation(KINDS[name].rows, np.random.default_rng(draw)))
