"""The tables of a site: the operation that makes many at once, and whose tables a site's database has.

Before the first release tables change without a migration that brings them along: every app has one initial migration,
which is made anew. A database therefore says which ones made its tables, and a version with other ones refuses it. That
of a bundled site is brought up to date.
"""

from __future__ import annotations

import fcntl
import hashlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation, OperationCategory
from django.db.migrations.recorder import MigrationRecorder


class MakeTables(Operation):
    """The tables of an app, one after the other.

    The models of all apps so far are rendered once for all of them. Django's own operations render them once for each,
    which would be most of the time that an empty database needs.
    """

    category = OperationCategory.ADDITION

    def __init__(self, operations: Sequence[CreateModel]) -> None:
        self.operations = operations

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return type(self).__name__, [], {"operations": self.operations}

    def state_forwards(self, app_label: str, state: Any) -> None:
        state.__dict__.pop("apps", None)  # rendered anew by whoever asks next
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return "; ".join(operation.describe() for operation in self.operations)


#: Of an advisory lock; any number that nothing else in the database uses.
_LOCK = 7_205_114_839
#: What stands for an app in the line of the applied migrations that has the digest of all of them.
_TABLES = "humanexp"


class OtherTables(Exception):
    """The database was made by another version of HumanExp."""

    def __init__(self, database: str) -> None:
        super().__init__(
            f"The tables of {database} were made by another version of HumanExp and cannot be changed into this "
            "version's: export what you need with the version that made them, then begin with an empty database (the "
            "demo's: python manage.py demo --fresh)."
        )


@cache
def digest() -> str:
    """Of the migrations of this site's own apps.

    `make check` compares them with the models, so that they differ wherever the models do; and a start reads a dozen
    files in a millisecond, where the models' state would take it a second.
    """
    found = hashlib.sha256()
    for label, folder in sorted(_own_migrations().items()):
        for file in sorted(folder.glob("[0-9]*.py")):
            found.update(f"{label}/{file.name}\n".encode() + file.read_bytes())
    return found.hexdigest()


def tables_line() -> tuple[str, str]:
    """What stands among the applied migrations of a database of this version."""
    return _TABLES, digest()


def _own_migrations() -> dict[str, Path]:
    ours = (config for config in apps.get_app_configs() if config.name.startswith("humanexp."))
    return {config.label: Path(config.path, "migrations") for config in ours}


def check_tables(connection: BaseDatabaseWrapper) -> None:
    """A database without tables passes.

    Raises
    ------
    OtherTables
        If another version made them, or began to.
    """
    applied = set(MigrationRecorder(connection).applied_migrations())
    if tables_line() not in applied and _own_migrations().keys() & {app for app, _name in applied}:
        raise OtherTables(str(connection.settings_dict["NAME"]))


def record_tables(*, using: str, **_of_the_signal: object) -> None:
    """Before the first table is made: who is interrupted then goes on with the same version."""
    recorder = MigrationRecorder(connections[using])
    if tables_line() not in recorder.applied_migrations():
        recorder.ensure_schema()
        recorder.migration_qs.filter(app=_TABLES).delete()
        recorder.record_applied(*tables_line())


def bring_up_to_date() -> None:
    """Apply the migrations that are missing; whoever comes second waits for the first, and finds nothing to do.

    The process ends where the tables are another version's.
    """
    try:
        with _turn():
            check_tables(connection)
            call_command("migrate", interactive=False, verbosity=0)
    except OtherTables as refusal:
        sys.exit(str(refusal))


@contextmanager
def _turn() -> Iterator[None]:
    if connection.vendor == "sqlite":
        with Path(f"{connection.settings_dict['NAME']}.turn").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])
