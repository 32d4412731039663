"""All rows into another database, while nobody writes: from SQLite to PostgreSQL, and back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import DatabaseError, OperationalError

from humanexp.console.archives import tables
from humanexp.console.archives.backing_up import check_migrated
from humanexp.console.archives.databases import Progress, check_empty, opened
from humanexp.console.archives.facts import Facts, facts_of
from humanexp.console.archives.tables import Loader, Tally
from humanexp.console.archives.verifying import facts_now, refuse_differences
from humanexp.core import clock
from humanexp.core.connections import database_of_address
from humanexp.core.errors import ApplicationError, Conflict, InputRefused
from humanexp.jobs.models import Runner
from humanexp.jobs.selectors import SILENT_AFTER


class RowRefused(ApplicationError):
    """The target does not take a row; nothing was moved."""


@dataclass(frozen=True)
class Moved:
    facts: Facts


def move_database(*, address: str, progress: Progress) -> Moved:
    """Copy every row to the empty database at `address`, and compare both. The source is only read.

    Raises
    ------
    Conflict
        If a runner is alive, the site is connected to the source, or the target is not empty.
    """
    try:
        entry = database_of_address(address)
    except ImproperlyConfigured as error:
        raise InputRefused(str(error)) from error
    if _place(entry) == _place(connection.settings_dict):
        raise InputRefused("The target is the database that is in use. Name another one.")
    check_migrated()
    _check_runner()
    with opened("target", entry) as target:
        check_empty(target)
        with unwritten():
            _make_tables(address)
            with transaction.atomic(using=target.alias):
                facts = _copied(target, progress)
                refuse_differences(facts, facts_now(target, apps), "The target differs from the source")
    return Moved(facts)


def _make_tables(address: str) -> None:
    """By a process whose database the target is: migrations of rows speak to the default database."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "humanexp", "migrate", "--verbosity", "0"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": address, "MEDIA_ROOT": str(settings.MEDIA_ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Conflict(f"The tables cannot be made in the target: {done.stderr.strip()[-300:]}")


def _place(entry: object) -> tuple[str, ...]:
    found: dict[str, object] = dict(entry)  # type: ignore[call-overload]
    return tuple(str(found.get(name, "")) for name in ("ENGINE", "NAME", "HOST", "PORT"))


def _check_runner() -> None:
    now = clock.now()
    alive = [runner.name for runner in Runner.objects.all() if abs(now - runner.beat_at) < SILENT_AFTER]
    if alive:
        raise Conflict(
            f"The job runner {alive[0]} is alive. Stop web and jobs, wait {SILENT_AFTER.seconds} seconds, and give the "
            "command again."
        )


@contextmanager
def unwritten() -> Iterator[None]:
    """Nobody else writes to the source meanwhile: refused where somebody is connected.

    Raises
    ------
    Conflict
        If another process uses the database.
    """
    in_use = "Another process uses the database. Stop web and jobs, and give the command again."
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 1000")
            # Not granted while any other process has the file open.
            cursor.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            with transaction.atomic():
                yield
        except OperationalError as error:
            if "locked" in str(error):
                raise Conflict(in_use) from error
            raise
        finally:
            connection.close()
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
                "AND backend_type = 'client backend'"
            )
            if cursor.fetchone()[0]:
                raise Conflict(in_use)
            names = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in tables.models_of(apps))
            cursor.execute(f"LOCK TABLE {names} IN SHARE MODE NOWAIT")
        yield


def _copied(target: BaseDatabaseWrapper, progress: Progress) -> Facts:
    """Rows of the source, as they were counted on their way."""
    loader = Loader(target, apps)
    loader.empty()
    expected, tallies = tables.estimated_rows(connection), {}
    done = 0
    for model in loader.models:
        tally = tallies[model._meta.db_table] = Tally()

        def counted(lines: Iterator[str]) -> Iterator[str]:
            nonlocal done
            for line in lines:
                done += 1
                progress(done, max(done, expected), "rows moved")
                yield line

        try:
            loader.load(model, tables.columns_of(model), counted(tables.lines_of(model, connection, tally)))
        except (DatabaseError, ValueError) as error:
            raise RowRefused(
                f"The target does not take a row of {model._meta.db_table}: {error} Nothing was moved."
            ) from error
    loader.raise_sequences(tables.sequences_of(connection, loader.models))
    return facts_of(connection, tallies)
