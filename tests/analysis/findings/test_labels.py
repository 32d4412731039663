"""Findings read the labels that people chose among: their number, their names, and nothing of the 16."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from analysis.errors import TableRefused
from analysis.findings.analysing import analyse
from analysis.labels.files import labels_of_words, shipped
from analysis.labels.space import NO_ANSWER
from tests.analysis.findings.studies import study
from tests.labels import of_the_sixteen

QUICK = {"study": "s", "seed": 1, "n_bootstrap": 10, "sensitivity": False}
SIXTEEN = shipped("entry16")
#: in the same alphabetical order
RENAMED = labels_of_words("numbered", [f"word {number:02}" for number in range(16)])
NEW_NAME = dict(zip(SIXTEEN.ids, RENAMED.ids, strict=True))


def renamed(frame: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    return frame.assign(
        category=frame["category"].map(names), response=frame["response"].map(lambda one: names.get(one, one))
    )


@of_the_sixteen
def test_the_16_given_are_the_16_by_default() -> None:
    tables = study(1)
    assert analyse(*tables, labels=SIXTEEN, **QUICK).to_json() == analyse(*tables, **QUICK).to_json()


@of_the_sixteen
def test_other_names_change_no_number() -> None:
    trials, predictions = study(2)
    before = analyse(trials, predictions, labels=SIXTEEN, **QUICK).to_json()
    after = analyse(renamed(trials, NEW_NAME), renamed(predictions, NEW_NAME), labels=RENAMED, **QUICK).to_json()
    for found in (before, after):
        del found["labels"], found["data_digest"]
    text = json.dumps(before)
    for old, new in NEW_NAME.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    assert json.loads(text) == after


def test_of_ten_labels_chance_is_a_tenth() -> None:
    digits = dict(zip(SIXTEEN.ids, "0123456789", strict=False))
    trials, _ = study(3)
    kept = trials[trials["category"].isin(digits)]
    ten = kept.assign(
        category=kept["category"].map(digits), response=kept["response"].map(lambda one: digits.get(one, NO_ANSWER))
    )
    found = analyse(ten, None, labels=shipped("mnist"), **QUICK)
    assert found.labels is not None and (found.labels.name, found.labels.n) == ("mnist", 10)
    assert {curve.label_space for curve in found.curves} == {10}
    assert all(curve.chance == pytest.approx(0.1) for curve in found.curves if curve.property == "accuracy")
    assert {one.categories for one in found.confusion} == {tuple("0123456789")}


def test_answers_of_other_labels_are_refused() -> None:
    trials, predictions = study(4)
    with pytest.raises(TableRefused, match="column 'category'.* hold none of the 10 labels of mnist, the first"):
        analyse(trials, predictions, labels=shipped("mnist"), **QUICK)
    strange = trials.assign(response=["cow", *trials["response"].tolist()[1:]])
    with pytest.raises(TableRefused, match="column 'response': 1 of .* of entry16, the first 'cow'"):
        analyse(strange, predictions, labels=SIXTEEN, **QUICK)
