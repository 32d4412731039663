"""Every column of every table has its check of meaning, or a reason why nothing can be checked."""

from __future__ import annotations

import re

import pytest

from analysis.tables import SCHEMAS
from analysis.tables.schema import Column, TableSchema
from analysis.tables.trials import TIMING_COLUMNS

_NAME = "names what stands elsewhere: two that are twins are refused where they come from"
_FREE = "what people wrote or a program answered: any text is right"
#: Columns without levels, range or kind of their own, and what is asked of them instead.
OTHERWISE = {
    "study": _NAME,
    "participant": "tests/inputs/test_trials.py: roles by reaction times; twins are refused",
    "session": _NAME,
    "original": _NAME,
    "stimulus": "a letter in front, so that no spreadsheet takes it for a number; unknown ones are told",
    "category": "one of the study's categories, where trials, predictions and pictures are imported",
    "corruption": _NAME,
    "corruption_version": _NAME,
    "condition": "tests/inputs/test_trials.py: one number, one condition; twins are refused",
    "second_original": _NAME,
    "second_stimulus": _NAME,
    "second_corruption": _NAME,
    "third_original": _NAME,
    "third_stimulus": _NAME,
    "third_corruption": _NAME,
    "wanted": "one of the study's categories",
    "response": "one of the study's categories or na; what says nothing is refused; against its probabilities",
    "timing_rule": _NAME,
    "click_policy": _NAME,
    "engine_version": _NAME,
    "clicks_json": "read as JSON by whoever uses it",
    "stim_sha256": "compared with the bytes of the picture",
    "sha256": "compared with the bytes of the picture",
    "file": "a path within the set; a file that is not there is told by `verify_stimuli`",
    "metric": _NAME,
    "server_received_at": "written by the server alone",
    "grid_order": "written by the server alone",
    "options": "labels, with the answer and the right one among them (`analysis.labels.lists`)",
    "accepted_labels": "labels, some of them among the options (`analysis.labels.lists`)",
    "competing": "labels, none of them right (`analysis.labels.lists`)",
    "factor": "no column of answers has the name, at the import and in the analysis",
    "classifier": _NAME,
    "wording": _NAME,
    "shown": _NAME,
    "text": _FREE,
    "fingerprint": _FREE,
    "pictured": "written here alone: a stimulus of the set, or grey",
    "finish_reason": _FREE,
    "server_model": "whatever the server says; a change of it is told (`analysis.observers.controls`)",
    "granted": "written here alone, as JSON",
    "answered_at": "written here alone",
    "scores": "as many as labels were shown",
    "language": _NAME,
    "recruiter": _NAME,
    "reasons": _FREE,
    "flags": _FREE,
    "rule_set": _NAME,
    "problem": _FREE,
    "comment": _FREE,
    "value": _FREE,
    "parameter": "in the function's own unit; visual_change, measured on the file, says what it did",
    "seed": "any whole number",
    "mask_seed": "any whole number",
}
#: A browser may say anything: the server bounds it, and what cannot be so makes `timing_ok` false. Were it refused on
#: reading, a single participant could keep everybody else's answers from being read.
MEASURED = frozenset(TIMING_COLUMNS)
#: Units by the end of a name.
UNITS = {"_ms": "ms", "_px": "px"}


def checks_of(column: Column) -> list[str]:
    bounds = [f"from {column.minimum}"] * (column.minimum is not None) + [f"to {column.maximum}"] * (
        column.maximum is not None
    )
    return ["one of its levels"] * bool(column.levels) + ["true or false"] * (column.kind == "boolean") + bounds


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_every_column_has_a_check_of_meaning_or_a_reason(schema: TableSchema) -> None:
    unchecked = {
        column.name
        for column in schema.columns
        if not checks_of(column) and column.name not in MEASURED | set(OTHERWISE)
    }
    assert unchecked == set()


def test_no_reason_is_given_that_nobody_needs() -> None:
    unchecked = {column.name for schema in SCHEMAS.values() for column in schema.columns if not checks_of(column)}
    assert set(OTHERWISE) <= unchecked


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_name_that_ends_in_a_unit_has_that_unit(schema: TableSchema) -> None:
    for column in schema.columns:
        ending = re.search(r"_(ms|px)$", column.name)
        if ending and column.kind != "boolean":
            assert column.unit == UNITS[ending[0]], column.name
        assert not column.unit or column.kind in ("number", "integer"), column.name


def test_shares_and_probabilities_lie_between_0_and_1() -> None:
    names = ("visual_change", "target", "confidence", "mass", "reach_low", "reach_high")
    for schema in SCHEMAS.values():
        for column in schema.columns:
            if column.name in names:
                assert (column.minimum, column.maximum) == (0, 1), column.name
