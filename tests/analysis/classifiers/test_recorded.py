"""Predictions from a table: found by stimulus, refused with file, row, column and remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.port import Classifier, RecordedPredictions, classify
from analysis.errors import ClassifierUnavailable, TableRefused
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return f"table:{path}"


def test_responses_are_found_by_name_in_the_order_asked(tmp_path: Path) -> None:
    spec = written(tmp_path / "mine.csv", "stimulus,response,confidence\ns1,cat,0.5\ns2,dog,\ns3,knife,1\n")
    table = load_classifier(spec)
    assert isinstance(table, RecordedPredictions)
    assert not isinstance(table, Classifier)
    assert (table.label_space, table.labels) == (16, default_labels().ids)
    decisions = table.predictions(["s3", "s1", "s2"])
    assert decisions.responses.tolist() == ["knife", "cat", "dog"]
    assert decisions.confidence[:2].tolist() == [1.0, 0.5]
    assert np.isnan(decisions.confidence[2])


def test_confidence_may_be_absent(tmp_path: Path) -> None:
    table = load_classifier(written(tmp_path / "mine.csv", "stimulus,response\ns1,cat\n"))
    assert isinstance(table, RecordedPredictions)
    assert np.isnan(table.predictions(["s1"]).confidence).all()


def test_pictures_are_not_loaded_for_a_table(tmp_path: Path) -> None:
    def load_pictures() -> np.ndarray:
        raise AssertionError("a table looks at no picture")

    table = load_classifier(written(tmp_path / "mine.csv", "stimulus,response\ns1,cat\n"))
    assert classify(table, ["s1"], load_pictures).responses.tolist() == ["cat"]


@pytest.mark.verify
def test_a_thousand_probabilities_in_parquet_are_decided_by_the_mean(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.dirichlet(np.full(1000, 0.1), size=4), columns=list(class_ids()))
    frame.insert(0, "stimulus", [f"s{i}" for i in range(4)])
    frame.to_parquet(tmp_path / "net.parquet", index=False)
    table = load_classifier(f"table:{tmp_path / 'net.parquet'}")
    assert isinstance(table, RecordedPredictions)
    assert table.label_space == 1000
    from analysis.labels.mapping import Answering

    expected = Answering().answer(frame[list(class_ids())].to_numpy(), class_ids())
    assert table.predictions([f"s{i}" for i in range(4)]).responses.tolist() == expected.responses.tolist()


def test_the_digest_follows_the_file(tmp_path: Path) -> None:
    one = load_classifier(written(tmp_path / "a.csv", "stimulus,response\ns1,cat\n"))
    other = load_classifier(written(tmp_path / "b.csv", "stimulus,response\ns1,dog\n"))
    assert one.digest != other.digest
    assert one.name == "a.csv"


PROBABILITIES = ",".join(default_labels().ids)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "stimulus,response\ns1,cat\ns2,horse\n",
            r"mine\.csv, row 2, column 'response': 'horse' is none of the 16 categories",
        ),
        ("stimulus,response\ns1,\n", r"mine\.csv, row 1, column 'response': The cell is empty"),
        (
            "stimulus,response,confidence\ns1,cat,1.2\n",
            r"mine\.csv, row 1, column 'confidence': '1\.2' is no number from 0 to 1",
        ),
        ("picture,response\ns1,cat\n", r"mine\.csv, column 'stimulus': The column is missing"),
        ("stimulus,answer\ns1,cat\n", r"mine\.csv, column 'response': The column is missing.*16 categories"),
        ("stimulus,response\ns1,cat\ns1,dog\n", r"mine\.csv, row 2, column 'stimulus': s1 has a row already"),
        (
            f"stimulus,{PROBABILITIES}\ns1,{','.join(['0.5'] * 16)}\n",
            r"row 1, column 'airplane': .*sum to 8\.000, not 1",
        ),
        (f"stimulus,{PROBABILITIES}\ns1,{','.join(['-3'] * 16)}\n", r"mine\.csv, row 1, column 'airplane'"),
        ("stimulus,cat\ns1,1\n", r"mine\.csv, column 'airplane': The column is missing"),
    ],
)
def test_a_bad_table_is_refused_with_place_and_remedy(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(TableRefused, match=message):
        load_classifier(written(tmp_path / "mine.csv", text))


def test_stimuli_without_a_row_are_refused(tmp_path: Path) -> None:
    table = load_classifier(written(tmp_path / "mine.csv", "stimulus,response\ns1,cat\n"))
    assert isinstance(table, RecordedPredictions)
    with pytest.raises(TableRefused, match=r"mine\.csv, column 'stimulus': 2 of 3 .* first is 's8'\. Add them"):
        table.predictions(["s1", "s8", "s9"])


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ClassifierUnavailable, match=r"gone\.csv: there is no such table"):
        load_classifier(f"table:{tmp_path / 'gone.csv'}")
