"""Answered trials."""

from __future__ import annotations

from analysis.tables.schema import Column, TableSchema
from analysis.tables.timing import TIMING

#: What an answer was given with.
INPUT_KINDS = ("pointer", "touch", "key")

TRIALS = TableSchema(
    name="trials",
    description="One row an answered trial.",
    key=("study", "session", "position"),
    columns=(
        Column(name="study", kind="text", description="slug of the study"),
        Column(name="participant", kind="text", description="the observer's code"),
        Column(name="session", kind="text", description="the session's code"),
        Column(name="position", kind="integer", description="place of the trial in its session, from 0", minimum=0),
        Column(name="block", kind="integer", description="block of the session, from 0", minimum=0),
        Column(
            name="task",
            kind="text",
            description="what was asked",
            levels=("categorisation", "discrimination", "abx", "validation"),
        ),
        Column(
            name="role",
            kind="text",
            description="why the trial was there; person: a sentinel of persons, which enters no curve, rule or pay",
            levels=(
                "practice",
                "qualification",
                "main",
                "clean",
                "gold",
                "negative",
                "consistency_first",
                "consistency_second",
                "person",
            ),
        ),
        Column(name="original", kind="text", description="picture the stimulus was made from"),
        Column(name="stimulus", kind="text", description="picture that was shown"),
        Column(name="category", kind="text", description="true category"),
        Column(name="corruption", kind="text", description="corruption function; none = clean"),
        Column(
            name="visual_change", kind="number", description="Δv of what was shown", nullable=True, minimum=0, maximum=1
        ),
        Column(name="condition", kind="text", description="condition of an imported trial", nullable=True),
        Column(name="second_original", kind="text", description="original of the pair's second picture", nullable=True),
        Column(name="second_stimulus", kind="text", description="the pair's second picture", nullable=True),
        Column(name="second_corruption", kind="text", description="corruption of the second picture", nullable=True),
        Column(name="third_original", kind="text", description="ABX: original of X", nullable=True, optional=True),
        Column(name="third_stimulus", kind="text", description="ABX: picture X", nullable=True, optional=True),
        Column(
            name="third_corruption",
            kind="text",
            description="ABX: corruption of X",
            nullable=True,
            optional=True,
        ),
        Column(
            name="wanted",
            kind="text",
            description="validation: the category that the picture was compared with",
            nullable=True,
            optional=True,
        ),
        Column(
            name="response",
            kind="text",
            description="the answer; na = none in time; ABX: a, b; validation: shows one? usable as one?, as yes-no",
        ),
        Column(
            name="correct",
            kind="boolean",
            description="whether the answer is right, na is wrong; empty where nobody knows the right one",
            nullable=True,
        ),
        Column(
            name="rt_ms",
            kind="number",
            description="response time from the choices' onset",
            unit="ms",
            nullable=True,
            minimum=0,
        ),
        Column(name="timing_ok", kind="boolean", description="derived by the rule named in timing_rule", nullable=True),
        Column(
            name="timing_rule",
            kind="text",
            description="name and version of the rule behind timing_ok",
            nullable=True,
            optional=True,
        ),
        Column(
            name="set_aside",
            kind="boolean",
            description="whether nobody could see and answer the trial: the page lost the focus, or no input came; "
            "such a trial enters no curve and no count; empty = not decided",
            nullable=True,
            optional=True,
        ),
        Column(
            name="input_kind",
            kind="text",
            description="what gave the answer; empty = no answer, or not kept",
            levels=INPUT_KINDS,
            nullable=True,
            optional=True,
        ),
        Column(name="accepted", kind="boolean", description="whether the session counts"),
        Column(name="simulated", kind="boolean", description="whether a script answered"),
        *TIMING,
        Column(
            name="clicks_json",
            kind="text",
            description="every click: choice, time from the choices' onset in ms, pointer or key; JSON",
            nullable=True,
            optional=True,
        ),
        Column(
            name="stim_sha256",
            kind="text",
            description="digest of the bytes of the picture that was sent",
            nullable=True,
            optional=True,
        ),
        Column(name="mask_seed", kind="integer", description="seed of the noise mask", nullable=True, optional=True),
        Column(
            name="server_received_at",
            kind="text",
            description="when the server stored the answer, ISO 8601, UTC",
            nullable=True,
            optional=True,
        ),
        Column(
            name="grid_order",
            kind="text",
            description="categories on the participant's grid, row by row; empty = the published order",
            nullable=True,
            optional=True,
        ),
    ),
)
