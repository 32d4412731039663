"""How the database answers what a page asks: which rows it reads, and in which order."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="the plans are SQLite's")


def reads(asked: CaptureQueriesContext, table: str) -> list[str]:
    """SELECTs that begin with this table; what they look up in others is theirs."""
    selects = [query["sql"] for query in asked if query["sql"].startswith("SELECT")]
    return [sql for sql in selects if sql.partition(" FROM ")[2].startswith(f'"{table}"')]


def plan_of(sql: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return [row[3] for row in cursor.fetchall()]


def rows_read(sqls: Iterable[str], table: str) -> list[str]:
    """Steps that read rows of the table one after the other; what an index tells alone is none."""
    steps = (step for sql in sqls for step in plan_of(sql) if table in step)
    return [step for step in steps if "COVERING INDEX" not in step and "PRIMARY KEY" not in step]
