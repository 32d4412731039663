"""What participants said after the last trial."""

from __future__ import annotations

from analysis.tables.schema import Column, TableSchema

_CLEARED = "only where a person read it and cleared it for export"

CLOSING = TableSchema(
    name="closing",
    description="One row a session whose participant said something at the end. Every question was optional.",
    key=("session",),
    columns=(
        Column(name="session", kind="text", description="the session's code"),
        Column(
            name="went_wrong",
            kind="text",
            description="whether anything went wrong",
            levels=("no", "yes"),
            nullable=True,
        ),
        Column(name="problem", kind="text", description=f"what went wrong; {_CLEARED}", nullable=True),
        Column(name="comment", kind="text", description=f"a comment; {_CLEARED}", nullable=True),
        Column(
            name="device",
            kind="text",
            description="the kind of computer, as the participant says",
            levels=("desktop", "laptop", "phone", "other"),
            nullable=True,
        ),
    ),
)
