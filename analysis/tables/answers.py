"""Answers of observers that are asked in words, every question of every stimulus."""

from __future__ import annotations

from analysis.tables.predictions import PREDICTIONS
from analysis.tables.schema import Column, TableSchema

_OF_THE_STIMULUS = ("classifier", "stimulus", "original", "category", "corruption", "visual_change")

ANSWERS = TableSchema(
    name="answers",
    description="One row a question to an observer that answers in words.",
    key=("classifier", "stimulus", "wording", "order", "repeat"),
    columns=(
        *(column for column in PREDICTIONS.columns if column.name in _OF_THE_STIMULUS),
        Column(name="wording", kind="text", description="name of the wording of the question"),
        Column(name="order", kind="integer", description="number of the order of the labels", minimum=0),
        Column(name="repeat", kind="integer", description="number of the repeat of the question", minimum=0),
        Column(name="shown", kind="text", description="labels in the order shown, separated by blanks"),
        Column(
            name="kind",
            kind="text",
            description="what became of the question",
            levels=("label", "miss", "refusal", "unreadable"),
        ),
        Column(name="response", kind="text", description="label that was named; na = none"),
        Column(name="correct", kind="boolean", description="whether it is the true category"),
        Column(name="text", kind="text", description="the reply as it came", nullable=True),
        Column(name="tokens_in", kind="integer", description="tokens of question and picture", minimum=0),
        Column(name="tokens_out", kind="integer", description="tokens of the reply", minimum=0),
        Column(name="fingerprint", kind="text", description="version as the observer calls itself", nullable=True),
        Column(
            name="scores",
            kind="text",
            description="log-probability of each label as the reply, in the order shown; of models that score labels",
            nullable=True,
            optional=True,
        ),
        Column(
            name="mass",
            kind="number",
            description="probability that the reply begins with a label; of models that score labels",
            nullable=True,
            optional=True,
            minimum=0,
            maximum=1,
        ),
    ),
)
