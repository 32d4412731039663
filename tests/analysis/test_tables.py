from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from analysis.errors import TableRefused
from analysis.tables import SCHEMAS
from analysis.tables.reading import read_table
from analysis.tables.stimuli import PREDICTIONS, STIMULI
from analysis.tables.trials import TRIALS

ROW = {
    "classifier": "small",
    "stimulus": "s1",
    "original": "o1",
    "category": "cat",
    "corruption": "none",
    "visual_change": "0",
    "response": "dog",
    "correct": "false",
    "confidence": "",
    "label_space": "16",
}


def predictions(*changes: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame([{**ROW, "stimulus": f"s{number}", **change} for number, change in enumerate(changes)])


def test_a_table_survives_csv_and_parquet(tmp_path: Path) -> None:
    table = PREDICTIONS.validate(predictions({}, {"confidence": "0.25", "correct": "TRUE"}), source="here")
    for name in ("table.csv", "table.parquet"):
        PREDICTIONS.write(table, tmp_path / name)
        pd.testing.assert_frame_equal(PREDICTIONS.read(tmp_path / name), table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"visual_change": "1.5"}, r"row 2, column 'visual_change': '1\.5' is not a number from 0 to 1"),
        ({"visual_change": "much"}, r"row 2, column 'visual_change': 'much' is not a number"),
        ({"label_space": "16.5"}, r"row 2, column 'label_space': '16\.5' is not a whole number"),
        ({"correct": "perhaps"}, r"row 2, column 'correct': 'perhaps' is neither true nor false"),
        ({"original": " "}, r"row 2: column 'original' is empty"),
        ({"stimulus": "s0"}, r"row 2: a row with classifier=small, stimulus=s0 stands twice"),
    ],
)
def test_a_wrong_cell_is_named(change: dict[str, str], message: str) -> None:
    with pytest.raises(TableRefused, match=rf"^file\.csv, {message}"):
        PREDICTIONS.validate(predictions({}, change), source="file.csv")


def test_a_missing_column_is_named_with_what_the_file_has() -> None:
    with pytest.raises(TableRefused, match=r"column 'category' is missing.*classifier, stimulus"):
        PREDICTIONS.validate(predictions({}).drop(columns="category"), source="file.csv")


def test_headers_are_matched_without_regard_to_case_and_other_columns_are_left_out() -> None:
    table = predictions({}).rename(columns=str.upper).assign(note="mine")
    assert list(PREDICTIONS.validate(table, source="x").columns) == PREDICTIONS.names


def test_no_answer_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("response\nna\nNA\n\n", encoding="utf-8")
    assert read_table(path)["response"].tolist() == ["na", "NA"]


def test_broken_utf8_is_refused_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"response\ncat\nd\xffg\n")
    with pytest.raises(TableRefused, match=r"table\.csv, row 2: byte 0xff is not UTF-8"):
        read_table(path)


def test_our_own_rows_become_a_typed_frame() -> None:
    frame = TRIALS.frame([{"study": "s", "position": 3, "correct": True, "visual_change": 0.5}])
    assert list(frame.columns) == TRIALS.names
    assert frame["position"].iloc[0] == 3
    assert pd.isna(frame["rt_ms"].iloc[0])
    assert TRIALS.frame([]).shape == (0, len(TRIALS.columns))


def test_every_column_is_described() -> None:
    for schema in SCHEMAS.values():
        described = schema.describe()
        assert [field["name"] for field in described["fields"]] == schema.names
        assert all(field["description"] for field in described["fields"])
        assert set(schema.key) <= set(schema.names)


def test_a_large_seed_keeps_every_digit(tmp_path):
    frame = TRIALS.frame([{"study": "s", "session": "x", "position": 0, "mask_seed": 2**62 + 1}])
    kept = dict.fromkeys(("participant", "original", "stimulus", "category", "corruption", "response"), "x")
    frame = frame.assign(
        **kept, block=0, task="categorisation", role="main", correct=True, accepted=True, simulated=False
    )
    path = tmp_path / "trials.csv"
    TRIALS.write(frame, path)
    assert TRIALS.read(path)["mask_seed"].tolist() == [2**62 + 1]


def _rows(count: int) -> Iterator[dict[str, object]]:
    for number in range(count):
        yield {
            "stimulus": f"s{number}",
            "original": "cat-0",
            "category": "cat",
            "corruption": "none" if number % 2 else "gaussian_noise",
            "corruption_version": None if number % 2 else "1",
            "parameter": number / 7,
            "seed": 2**47 + number,
            "target": None if number % 2 else 0.25,
            "visual_change": 1 / (1 + number),
            "metric": "vif-wavelet-1",
            "size_px": 224,
            "enlarged": 1 + number % 7,
            "evaluations": number % 3,
            "reached": number % 5 != 0,
            "reach_low": None,
            "reach_high": 0.5 if number % 5 == 0 else None,
            "sha256": "0" * 64,
            "file": f"stimuli/x/{number}.png",
        }


def test_rows_survive_the_way_through_a_file_a_group_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "manifest.parquet"
    assert STIMULI.write_rows(_rows(25), path, rows_per_group=10) == 25
    assert list(STIMULI.read_rows(path)) == list(_rows(25))
    first = path.read_bytes()
    STIMULI.write_rows(_rows(25), path, rows_per_group=10)
    assert path.read_bytes() == first
    frame = STIMULI.read(path)
    assert frame["seed"].tolist() == [2**47 + number for number in range(25)]
    assert STIMULI.write_rows([], path) == 0
    assert list(STIMULI.read_rows(path)) == []


@pytest.mark.parametrize("content", [b"", b"no table", b"PAR1"])
def test_a_damaged_manifest_is_refused_with_its_name(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "manifest.parquet").write_bytes(content)
    with pytest.raises(TableRefused, match="manifest.parquet cannot be read as a table"):
        list(STIMULI.read_rows(tmp_path / "manifest.parquet"))
    with pytest.raises(TableRefused, match="manifest.parquet cannot be read as a table"):
        list(STIMULI.read_rows(tmp_path / "none" / "manifest.parquet"))


def test_the_manifest_of_another_table_is_refused(tmp_path: Path) -> None:
    STIMULI.write_rows(_rows(2), tmp_path / "manifest.parquet")
    with pytest.raises(TableRefused, match="not those of the table predictions"):
        list(PREDICTIONS.read_rows(tmp_path / "manifest.parquet"))


@pytest.mark.parametrize(
    "cell", ["=1+1", "+cmd", "-x", "@SUM(A1)", "'=1", "''-x", "'quoted'", "-0.5", "+3", "1e-5", "a=b"]
)
def test_no_cell_of_csv_is_a_formula_and_every_cell_comes_back(cell: str, tmp_path: Path) -> None:
    table = PREDICTIONS.validate(predictions({"original": cell}), source="here")
    PREDICTIONS.write(table, tmp_path / "table.csv")
    pd.testing.assert_frame_equal(PREDICTIONS.read(tmp_path / "table.csv"), table)
    written = (tmp_path / "table.csv").read_text().splitlines()[1].split(",")[2]
    assert not written.startswith(("=", "@")) and (written[0] not in "+-" or float(written) == float(cell))


def test_tables_of_any_size_are_written_a_chunk_at_a_time(tmp_path: Path) -> None:
    table = PREDICTIONS.validate(predictions({}, {"correct": "true"}, {"confidence": "0.1"}), source="here")
    paths = (tmp_path / "table.csv", tmp_path / "table.parquet")
    assert PREDICTIONS.write_chunks((table.iloc[k : k + 1] for k in range(3)), *paths) == 3
    for path in paths:
        pd.testing.assert_frame_equal(PREDICTIONS.read(path), table)
    assert PREDICTIONS.write_chunks([], *paths) == 0
    for path in paths:
        assert list(PREDICTIONS.read(path).columns) == PREDICTIONS.names
