"""Sessions, counted or not."""

from __future__ import annotations

from analysis.tables.schema import Column, TableSchema

#: Between several reasons of one session.
REASON_SEPARATOR = " | "

SESSIONS = TableSchema(
    name="sessions",
    description="One row a session that was ever opened: how far it came, and whether and why it does not count.",
    key=("session",),
    columns=(
        Column(name="session", kind="text", description="the session's code"),
        Column(
            name="participant",
            kind="text",
            description="the participant's code; empty where the participant withdrew",
            nullable=True,
        ),
        Column(
            name="state",
            kind="text",
            description="how far it came",
            levels=("open", "completed", "submitted", "withdrawn"),
        ),
        Column(name="answered", kind="integer", description="answers given", minimum=0),
        Column(name="trials", kind="integer", description="trials of the session", minimum=0),
        Column(
            name="unfetched",
            kind="integer",
            description="answers whose pictures the server had never given out: nobody can have seen them; empty where "
            "that was not kept",
            minimum=0,
            nullable=True,
            optional=True,
        ),
        Column(
            name="verified",
            kind="boolean",
            description="whether whoever recruits the person has listed the session; others never count, and their "
            "answers are in no table",
            nullable=True,
            optional=True,
        ),
        Column(
            name="qualified",
            kind="boolean",
            description="whether the qualification was passed; empty where there was none, or it is not over",
            nullable=True,
        ),
        Column(
            name="slowed",
            kind="boolean",
            description="whether the page asked, once between two blocks, for slower answers",
            nullable=True,
            optional=True,
        ),
        Column(
            name="answer_window_ms",
            kind="integer",
            description="the longer time for each answer that the participant asked for at the set-up; empty where "
            "they did not, or it is not offered",
            unit="ms",
            minimum=1,
            nullable=True,
            optional=True,
        ),
        Column(
            name="left",
            kind="boolean",
            description="whether the participant stopped for good before the last trial, and left the answers",
            nullable=True,
            optional=True,
        ),
        Column(
            name="practised",
            kind="boolean",
            description="whether the criterion of practice was met; empty where practice has none, or is not over. "
            "Where it is false the session ended there",
            nullable=True,
            optional=True,
        ),
        Column(
            name="language",
            kind="text",
            description="tag of the language in which the participant agreed and began; empty where that was not kept",
            nullable=True,
            optional=True,
        ),
        Column(
            name="recruiter",
            kind="text",
            description="who sent the participant: the kind of recruiter or site, never an account or an id; empty "
            "where that was not kept",
            nullable=True,
            optional=True,
        ),
        Column(
            name="accepted",
            kind="boolean",
            description="whether it counts; empty where nobody has judged it",
            nullable=True,
        ),
        Column(
            name="reasons",
            kind="text",
            description="of the gates that failed, the first one counts; between them: space, bar, space",
            nullable=True,
        ),
        Column(name="flags", kind="text", description="raised for a person to look at", nullable=True),
        Column(name="by_hand", kind="boolean", description="a person decided otherwise than the rules", nullable=True),
        Column(name="rule_set", kind="text", description="name and version of the rules", nullable=True),
    ),
)
