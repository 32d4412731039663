"""Everything that is wrong with an uploaded table is listed by row and column, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.recorded import MOST_LISTED, TableReport, check_table, examine_table
from analysis.errors import TableRefused
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids

STIMULI = ("s1", "s2", "s3")


def examined(tmp_path: Path, text: str, stimuli: tuple[str, ...] = STIMULI) -> TableReport:
    (tmp_path / "t.csv").write_text(text)
    return examine_table(tmp_path / "t.csv", stimuli)


def test_a_good_table_is_understood(tmp_path: Path) -> None:
    report = examined(tmp_path, "Stimulus,Response,Confidence\ns1,cat,0.5\ns2,dog,\ns3,cat,1\nother,oven,0.1\n")
    assert report.is_usable
    assert (report.kind, report.n_rows, report.n_found, report.n_unknown) == ("responses", 4, 3, 1)
    assert report.has_confidence
    assert (report.counts["cat"], report.counts["oven"]) == (2, 1)
    assert report.head[0]["response"] == "cat"
    check_table(report)


def test_every_wrong_cell_is_named_by_row_and_column(tmp_path: Path) -> None:
    report = examined(tmp_path, "stimulus,response,confidence\ns1,lion,0.5\n,dog,2\ns1,,x\n")
    assert {(problem.row, problem.column) for problem in report.problems} == {
        (2, "stimulus"),
        (3, "stimulus"),
        (None, "stimulus"),
        (1, "response"),
        (3, "response"),
        (2, "confidence"),
        (3, "confidence"),
    }
    assert report.n_problems == 7
    with pytest.raises(TableRefused, match=r"t\.csv, row 2, column 'stimulus': The cell is empty.*\(6 more\)"):
        check_table(report)


def test_long_lists_are_cut_and_counted(tmp_path: Path) -> None:
    rows = "".join(f"s{number},lion\n" for number in range(50))
    report = examined(tmp_path, "stimulus,response\n" + rows, tuple(f"s{number}" for number in range(50)))
    assert (report.n_problems, len(report.problems)) == (50, MOST_LISTED)


@pytest.mark.parametrize("labels", [default_labels().ids, class_ids()])
def test_probabilities_are_checked_row_by_row(tmp_path: Path, labels: tuple[str, ...]) -> None:
    values = np.full((3, len(labels)), 1 / len(labels))
    frame = pd.DataFrame(values, columns=list(labels))
    frame.insert(0, "stimulus", STIMULI)
    frame.to_parquet(tmp_path / "t.parquet")
    report = examine_table(tmp_path / "t.parquet", STIMULI)
    assert report.is_usable
    assert (report.kind, report.n_labels) == ("probabilities", len(labels))
    frame.iloc[1, 3] = np.nan
    frame.iloc[2, 4] += 0.5
    frame.to_parquet(tmp_path / "t.parquet")
    found = examine_table(tmp_path / "t.parquet", STIMULI).problems
    assert [(problem.row, problem.column) for problem in found] == [(2, labels[2]), (3, labels[0])]
    assert "sum to" in found[1].what


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("response\ncat\n", "names of the stimuli"),
        ("stimulus\ns1\n", "add the predicted category"),
        ("stimulus,cat\ns1,1\n", "add the probability of airplane"),
    ],
)
def test_missing_columns_are_named(tmp_path: Path, text: str, message: str) -> None:
    report = examined(tmp_path, text)
    assert message in report.problems[0].what
    assert report.problems[0].row is None


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1 but no table")
    with pytest.raises(TableRefused, match="cannot be read as Parquet"):
        examine_table(tmp_path / "t.parquet", STIMULI)


cells = st.sampled_from(["s1", "s2", "s3", "s4", ""])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(cells, st.sampled_from(["cat", "dog", "lion", ""]), st.sampled_from(["0.5", "", "nan", "2"])),
        min_size=3,
        max_size=5,
    )
)
def test_a_table_without_problems_is_one_that_the_adapter_takes(tmp_path: Path, rows: list[tuple[str, ...]]) -> None:
    lines = "".join(f"{','.join(row)}\n" for row in rows)
    report = examined(tmp_path, "stimulus,response,confidence\n" + lines)
    try:
        table = load_classifier(f"table:{tmp_path / 't.csv'}")
        table.predictions(STIMULI)  # type: ignore[union-attr]
        taken = True
    except TableRefused:
        taken = False
    assert report.is_usable == taken


def test_a_column_that_is_there_is_not_called_missing(tmp_path: Path) -> None:
    report = examined(tmp_path, "picture,response\ns1,cat\n")
    assert [problem.column for problem in report.problems] == ["stimulus"]
