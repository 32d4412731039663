"""The column schemas of stimuli, trials, predictions and sessions; files, validation and description follow from them.

A new table is one ``TableSchema`` and one line in ``SCHEMAS``; a new column is one ``Column``.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.tables.comparisons import COMPARISONS
from analysis.tables.reading import header_of, read_cells, read_table, text_of
from analysis.tables.schema import Column, Kind, TableSchema, guard
from analysis.tables.sessions import CLOSING, SESSIONS, SETUP
from analysis.tables.stimuli import FACTORS, LEVEL_PREDICTIONS, PREDICTIONS, STIMULI
from analysis.tables.trials import ANSWERS, INPUT_KINDS, TIMING_COLUMNS, TRIALS

SCHEMAS: Mapping[str, TableSchema] = {
    schema.name: schema
    for schema in (
        STIMULI,
        FACTORS,
        TRIALS,
        PREDICTIONS,
        LEVEL_PREDICTIONS,
        ANSWERS,
        COMPARISONS,
        SESSIONS,
        CLOSING,
        SETUP,
    )  # fmt: skip
}

__all__ = [
    "ANSWERS",
    "CLOSING",
    "COMPARISONS",
    "FACTORS",
    "LEVEL_PREDICTIONS",
    "PREDICTIONS",
    "SCHEMAS",
    "SESSIONS",
    "SETUP",
    "STIMULI",
    "INPUT_KINDS",
    "TIMING_COLUMNS",
    "TRIALS",
    "Column",
    "Kind",
    "TableSchema",
    "guard",
    "header_of",
    "read_cells",
    "read_table",
    "text_of",
]
