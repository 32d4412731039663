"""The reader of tables on what spreadsheets and programs write: read rightly, or refused by its name."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.port import RecordedPredictions
from analysis.classifiers.recorded import examine_table
from analysis.errors import TableRefused
from analysis.labels.files import default_labels
from analysis.tables.reading import read_cells, read_table
from tests.inputs.handed import handed_in

ROWS = [{"name": "a", "time": "1.5"}, {"name": "b", "time": "0.25"}]


@pytest.mark.parametrize(
    "content",
    [
        b"name,time\na,1.5\nb,0.25\n",
        b"\xef\xbb\xbfname,time\r\na,1.5\r\nb,0.25\r\n",
        "name\ttime\r\na\t1,5\r\nb\t0,25\r\n".encode("utf-16"),
        b"name;time\na;1,5\nb;0,25\n",
        b"sep=;\r\nname;time\r\na;1,5\r\nb;0,25\r\n",
        b"Name , TIME\na,1.5\nb,0.25\n",
        b"name|time\na|1.5\nb|0.25\n",
        b"name,time,,\na,1.5,,\nb,0.25,,\n,,,\n,,,\n",
        b",name,time\n0,a,1.5\n1,b,0.25\n",
        b'"","name","time"\n"1","a",1.5\n"2","b",0.25\n',
        b"name,time\ra,1.5\rb,0.25",
        b"\n\nname,time\n\na,1.5\n\nb,0.25\n\n",
    ],
    ids=[
        "plain",
        "mark",
        "utf-16",
        "german",
        "hint",
        "capitals",
        "bars",
        "empty-ends",
        "pandas",
        "R",
        "old-mac",
        "blank-lines",
    ],
)
def test_one_table_in_many_spellings(content: bytes) -> None:
    assert list(read_cells(content, source="t.csv").records()) == ROWS


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"name,Name\na,b\n", r"t\.csv: columns 1 and 2 are both called 'name'"),
        (b"name, name\na,b\n", r"columns 1 and 2 are both called 'name'"),
        (b"name;time;NAME\na;1;b\n", r"columns 1 and 3 are both called 'name'"),
        (b"name,time\na,1,2\n", r"row 1: the row has 1 more cell than the header has names \(3, not 2; commas part"),
        (b"name,time\na,1\nb\n", r"row 2: the row has 1 cell less than the header"),
        (b"name,time\na,1\nb,1,5\n", r"row 2: the row has 1 more cell .*quotation marks"),
        (b"name,,time\na,b,1\n", r"column 2 has no name"),
        (b'name,time\na,"1\nb,2\n', r"row 1: this is no CSV .*quotation mark"),
        (b"name;time\na;1.012,5\n", r"row 1, column 'time': '1\.012,5' has a sign between thousands"),
        (b"name\ttime\na\t1,012\n", r"'1,012' may be a thousand and more, or a decimal"),
        ("name,time\nJürgen,1\n".encode("cp1252"), r"row 1: byte 0xfc is not UTF-8.*CSV, UTF-8"),
        ("name,time\na,1\n".encode("utf-16-le"), r"there is a NUL"),
        (b"PK\x03\x04rest", r"is an Excel workbook or an archive. Save the table as CSV"),
        (b"<!DOCTYPE html><title>Sign in</title>", r"is a web page"),
        (b"", r"t\.csv is empty"),
        (b"\n\n", r"t\.csv is empty"),
    ],
)
def test_what_cannot_be_told_is_refused_by_its_name(content: bytes, said: str) -> None:
    with pytest.raises(TableRefused, match=said):
        read_cells(content, source="t.csv")


def test_a_file_of_nothing_but_delimiters_costs_no_more_than_any_other() -> None:
    """Where every empty row or column is looked for anew, this does not end in the time that a test has."""
    tall, wide = b"name\n" + b'""\n' * 200_000, b"name" + b"," * 60_000 + b"\n" + (b"a" + b"," * 60_000 + b"\n") * 8
    assert read_cells(tall, source="t.csv").rows == []
    assert read_cells(wide, source="t.csv").names == ("name",)


def test_suffixes_in_capitals_and_names_in_parquet(tmp_path: Path) -> None:
    pd.DataFrame(ROWS).to_csv(tmp_path / "T.CSV", index=False)
    pd.DataFrame(ROWS).rename(columns=str.upper).to_parquet(tmp_path / "T.PARQUET")
    assert read_table(tmp_path / "T.CSV").to_dict("records") == ROWS
    assert read_table(tmp_path / "T.PARQUET").to_dict("records") == ROWS
    pd.DataFrame([["a", "b"]], columns=["name", "Name"]).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableRefused, match="both called 'name'"):
        read_table(tmp_path / "t.parquet")
    with pytest.raises(TableRefused, match=r"t\.xlsx: tables are"):
        read_table(tmp_path / "t.xlsx")


class TestPredictions:
    def test_two_columns_of_responses_are_refused_by_the_page_and_the_command(self) -> None:
        table = handed_in("predictions-two-response-columns") / "table.csv"
        for read in (lambda: examine_table(table, ["s000"]), lambda: load_classifier(f"table:{table}")):
            with pytest.raises(TableRefused, match=r"columns 2 and 3 are both called 'response'"):
                read()

    def test_a_comma_at_the_end_of_rows_is_named(self) -> None:
        table = handed_in("predictions-comma-at-the-end-of-rows") / "table.csv"
        with pytest.raises(TableRefused, match=r"row 1: the row has 1 more cell than the header"):
            load_classifier(f"table:{table}")

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("stimulus,Stimulus,response\na,b,cat\n", "both called 'stimulus'"),
            ("stimulus,response\na,cat\nb\n", "row 2: the row has 1 cell less"),
            ("stimulus;response;confidence\na;cat;90\n", r"row 1, column 'confidence': '90' is no number from 0 to 1"),
            ("stimulus,response\na,7\n", r"row 1, column 'response': '7' is none of the 16 categories"),
        ],
    )
    def test_variants(self, tmp_path: Path, text: str, said: str) -> None:
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(TableRefused, match=said):
            load_classifier(f"table:{tmp_path / 't.csv'}")

    def test_a_table_of_a_german_spreadsheet_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_bytes("stimulus;response;confidence\r\na;cat;0,75\r\n".encode("utf-8-sig"))
        table = load_classifier(f"table:{tmp_path / 't.csv'}")
        assert isinstance(table, RecordedPredictions)
        decisions = table.predictions(["a"])
        assert (decisions.responses.tolist(), decisions.confidence.tolist()) == (["cat"], [0.75])

    def test_an_answer_beside_a_higher_probability_is_refused(self, tmp_path: Path) -> None:
        even = [1 / 32] * 15
        rows = [["a", "airplane", 17 / 32, *even], ["b", "dog", 17 / 32, *even]]
        pd.DataFrame(rows, columns=["stimulus", "response", *default_labels().ids]).to_csv(
            tmp_path / "t.csv", index=False
        )
        with pytest.raises(TableRefused, match=r"row 2, column 'response': 'dog' is the answer, and airplane has"):
            load_classifier(f"table:{tmp_path / 't.csv'}")
