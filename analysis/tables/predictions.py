"""Predictions of classifiers, on continuous strengths and on published levels."""

from __future__ import annotations

from analysis.tables.schema import Column, TableSchema

PREDICTIONS = TableSchema(
    name="predictions",
    description="One row a stimulus and classifier.",
    key=("classifier", "stimulus"),
    columns=(
        Column(name="classifier", kind="text", description="name of the classifier"),
        Column(name="stimulus", kind="text", description="picture that was classified"),
        Column(name="original", kind="text", description="picture the stimulus was made from"),
        Column(name="category", kind="text", description="true category"),
        Column(name="corruption", kind="text", description="corruption function; none = clean"),
        Column(
            name="visual_change", kind="number", description="Δv of the stimulus", nullable=True, minimum=0, maximum=1
        ),
        Column(
            name="condition", kind="text", description="condition of an imported trial", nullable=True, optional=True
        ),
        Column(name="response", kind="text", description="predicted category"),
        Column(name="correct", kind="boolean", description="whether the prediction is right"),
        Column(
            name="confidence",
            kind="number",
            description="probability of the prediction",
            nullable=True,
            minimum=0,
            maximum=1,
        ),
        Column(name="label_space", kind="integer", description="number of labels the classifier chose from", minimum=2),
    ),
)

LEVEL_PREDICTIONS = TableSchema(
    name="level_predictions",
    description="One row a stimulus of a published level (ImageNet-C) and classifier.",
    key=("classifier", "stimulus"),
    columns=(
        *(column for column in PREDICTIONS.columns if column.name not in ("condition", "confidence", "label_space")),
        Column(name="level", kind="integer", description="published level of the stimulus", minimum=1, maximum=5),
        Column(name="label_space", kind="integer", description="number of labels the classifier chose from", minimum=2),
    ),
)
