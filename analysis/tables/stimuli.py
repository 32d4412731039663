"""Stimuli, and what classifiers predicted for them."""

from __future__ import annotations

from dataclasses import replace

from analysis.tables.schema import Column, TableSchema

STIMULI = TableSchema(
    name="stimuli",
    description="One row a stimulus: how it was made and what was measured on its bytes.",
    key=("stimulus",),
    columns=(
        Column(name="stimulus", kind="text", description="name of the stimulus, unique in the set"),
        Column(name="original", kind="text", description="name of the picture it was made from"),
        Column(name="category", kind="text", description="category of the original"),
        Column(name="corruption", kind="text", description="corruption function; none = the clean picture"),
        Column(name="corruption_version", kind="text", description="version of the function", nullable=True),
        Column(name="parameter", kind="number", description="strength, in the function's own unit"),
        Column(name="seed", kind="integer", description="seed of the corruption's random part"),
        Column(name="target", kind="number", description="visual change aimed at", nullable=True, minimum=0, maximum=1),
        Column(name="visual_change", kind="number", description="Δv measured on the file", minimum=0, maximum=1),
        Column(name="metric", kind="text", description="name and version of the measure of visual change"),
        Column(name="size_px", kind="integer", description="side of the square picture", unit="px", minimum=1),
        Column(
            name="enlarged",
            kind="integer",
            description="how many times the picture was enlarged to be shown, each pixel as a square, after it was "
            "corrupted; a file without this column has pictures that were not enlarged",
            nullable=True,
            optional=True,
            minimum=1,
        ),
        Column(name="evaluations", kind="integer", description="corruptions tried to reach the target", minimum=0),
        Column(name="reached", kind="boolean", description="whether the target was reached within tolerance"),
        Column(
            name="reach_low",
            kind="number",
            description="smallest visual change that was found, where the target was not reached",
            nullable=True,
            optional=True,
            minimum=0,
            maximum=1,
        ),
        Column(
            name="reach_high",
            kind="number",
            description="largest visual change that was found, where the target was not reached",
            nullable=True,
            optional=True,
            minimum=0,
            maximum=1,
        ),
        Column(name="sha256", kind="text", description="digest of the file's bytes"),
        Column(name="file", kind="text", description="path of the PNG file"),
    ),
)


def stimuli_table(enlarged: int) -> TableSchema:
    """The table of stimuli that are all enlarged so many times; it names the factor where it is not 1."""
    return STIMULI if enlarged > 1 else STIMULI.without("enlarged")


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

#: As they are exported: with how the classifier decided, where it was asked here.
EXPORTED_PREDICTIONS = replace(
    PREDICTIONS,
    columns=(
        *PREDICTIONS.columns,
        Column(
            name="rule",
            kind="text",
            description="how the outputs that stand for a label became its score: mean, sum or max",
            nullable=True,
            optional=True,
        ),
        Column(
            name="decide",
            kind="text",
            description="among: the labels' outputs competed; open: all; own: the classifier's own labels",
            nullable=True,
            optional=True,
        ),
        Column(
            name="labels_identity",
            kind="text",
            description="SHA-256 of ids and groups of the pictures' labels",
            nullable=True,
            optional=True,
        ),
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

FACTORS = TableSchema(
    name="factors",
    description="One row a picture and factor: what its importer said of it, such as a background or a material.",
    key=("original", "factor"),
    columns=(
        Column(name="original", kind="text", description="name of the picture"),
        Column(name="factor", kind="text", description="name of the factor"),
        Column(name="value", kind="text", description="the picture's value"),
    ),
)
