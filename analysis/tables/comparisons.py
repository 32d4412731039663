"""Comparisons that models answered in words: same/different and ABX, as people are planned to answer them."""

from __future__ import annotations

from dataclasses import replace

from analysis.tables.schema import Column, TableSchema
from analysis.tables.trials import ANSWERS, TRIALS

_OF_TRIAL = (
    "original", "stimulus", "corruption", "visual_change", "second_original", "second_stimulus", "second_corruption",
    "third_original", "third_stimulus", "third_corruption",
)  # fmt: skip
_OF_ANSWER = (
    "kind", "text", "tokens_in", "tokens_out", "tokens_thought", "tokens_picture", "finish_reason", "server_model",
    "fingerprint", "granted", "answered_at",
)  # fmt: skip
_IN_TRIALS = {column.name: column for column in TRIALS.columns}

COMPARISONS = TableSchema(
    name="comparisons",
    description="One row a comparison of pictures that a model answered in words.",
    key=("classifier", "position"),
    columns=(
        Column(name="classifier", kind="text", description="name of the model"),
        Column(name="position", kind="integer", description="place in the order of asking, from 0", minimum=0),
        Column(name="task", kind="text", description="what was asked", levels=("discrimination", "abx")),
        Column(name="role", kind="text", description="negative = a plain pair", levels=("main", "negative")),
        *(replace(_IN_TRIALS[name], optional=name.startswith("third")) for name in _OF_TRIAL),
        Column(name="shown", kind="text", description="the two words in the order offered, separated by a blank"),
        Column(name="response", kind="text", description="the answer as people give it; na = none"),
        Column(name="correct", kind="boolean", description="whether the answer is right; na is wrong"),
        *(column for column in ANSWERS.columns if column.name in _OF_ANSWER),
    ),
)
