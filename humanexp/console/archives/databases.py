"""Further databases for the time of a block, and the proof of an archive in one of them."""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.apps import apps
from django.apps.registry import Apps
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import DEFAULT_DB_ALIAS, DatabaseError

from humanexp.console.archives import keys, tables
from humanexp.console.archives.keys import unseal
from humanexp.console.archives.shelf import Manifest, Shelf, files_in, lines_in
from humanexp.console.archives.tables import Facts, Loader, facts_of
from humanexp.core.errors import ApplicationError, Conflict
from humanexp.table_making import OtherTables, check_tables

Progress = Callable[[int, int, str], None]
#: Pages that SQLite copies before it says how far it is.
_PAGES = 4_000
#: A scratch database may be lost with its machine: it is made again.
_SCRATCH = {"init_command": "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA foreign_keys=ON;"}


@contextmanager
def opened(alias: str, entry: Mapping[str, Any]) -> Iterator[BaseDatabaseWrapper]:
    """The database of this entry of DATABASES, under a name that ends with the block."""
    configured = connections.configure_settings({DEFAULT_DB_ALIAS: {}, alias: copy.deepcopy(dict(entry))})
    connections.settings[alias] = configured[alias]
    made = connections.create_connection(alias)
    del connections.settings[alias]
    connections[alias] = made  # of this thread alone
    try:
        yield made
    finally:
        made.close()
        del connections[alias]


def sqlite_entry(file: Path) -> dict[str, Any]:
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(file), "OPTIONS": dict(_SCRATCH)}


@contextmanager
def snapshot(folder: Path, progress: Progress) -> Iterator[BaseDatabaseWrapper]:
    """The platform's database as it is at one moment, while others go on writing to it.

    SQLite copies itself into `folder` (its online backup): readers of the copy hold up nobody. PostgreSQL shows one
    transaction the same rows for as long as it lasts.
    """
    here = connections[DEFAULT_DB_ALIAS]
    entry = copy.deepcopy(here.settings_dict)
    if here.vendor == "sqlite":
        file = folder / "snapshot.sqlite3"
        copy_sqlite(Path(str(entry["NAME"])), file, progress)
        try:
            with opened("snapshot", sqlite_entry(file)) as connection:
                yield connection
        finally:
            file.unlink(missing_ok=True)
        return
    from psycopg import IsolationLevel

    entry["OPTIONS"] = {**entry.get("OPTIONS", {}), "isolation_level": IsolationLevel.REPEATABLE_READ}
    with opened("snapshot", entry) as connection, transaction.atomic(using=connection.alias):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        yield connection


def copy_sqlite(source: Path, target: Path, progress: Progress) -> None:
    """One moment of a SQLite file that others write to; they wait for nothing."""

    def told(_status: int, left: int, total: int) -> None:
        progress(total - left, total, f"pages of {source.name}")

    address = f"{source.resolve().as_uri()}?mode=rw"
    with (
        closing(sqlite3.connect(address, uri=True, isolation_level=None, timeout=20)) as there,
        closing(sqlite3.connect(target)) as copied,
    ):
        # In a transaction of the reader every step sees the same moment, and no writer makes it begin again.
        there.execute("BEGIN")
        there.execute("SELECT count(*) FROM sqlite_master").fetchone()
        there.backup(copied, pages=_PAGES, progress=told, sleep=0)


@contextmanager
def scratch(folder: Path) -> Iterator[BaseDatabaseWrapper]:
    """An empty SQLite database with all tables, gone after the block."""
    file = folder / "scratch.sqlite3"
    file.unlink(missing_ok=True)
    try:
        with opened("scratch", sqlite_entry(file)) as connection:
            make_tables(connection)
            yield connection
    finally:
        for name in folder.glob(f"{file.name}*"):
            name.unlink()


def make_tables(connection: BaseDatabaseWrapper) -> None:
    """Every table as the models have it, without the way there by migrations."""
    with connection.constraint_checks_disabled(), connection.schema_editor() as editor:
        for model in tables.models_of(apps):
            if not model._meta.auto_created:  # made with the model that it belongs to
                editor.create_model(model)


def check_empty(connection: BaseDatabaseWrapper) -> None:
    """Refuse a database with anything in it but what migrations put there.

    Raises
    ------
    Conflict
        Naming a table and its rows.
    """
    try:
        check_tables(connection)
        there = set(connection.introspection.table_names())
    except OtherTables as refusal:
        raise Conflict(str(refusal)) from refusal
    except DatabaseError as error:
        raise Conflict(f"The target database does not answer: {error}") from error
    for model in tables.models_of(apps):
        table = model._meta.db_table
        if table not in there or table in tables.FILLED_BY_MIGRATIONS:
            continue
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")  # noqa: S608
            (rows,) = cursor.fetchone()
        if rows:
            raise Conflict(
                f"The target database is not empty: {table} has {rows} rows. Name an empty database; nothing was "
                "changed."
            )


class ArchiveDamaged(ApplicationError):
    """The archive cannot be restored: use another one."""


def verify(
    shelf: Shelf,
    manifest: Manifest,
    sealed: bytes | None,
    words: str | None,
    *,
    work: Path,
    written_since: float,
    progress: Progress,
) -> None:
    """Restore the archive into a scratch database, open its keys, and read again each content that it has added.

    Raises
    ------
    ArchiveDamaged
        Saying what differs.
    """
    if sealed is not None and words is not None:
        keys.check(manifest.key_check, unseal(sealed, words), whose="in the file of encrypted keys")
    check_contents(shelf, manifest, written_since=written_since, progress=progress)
    with scratch(work) as connection:
        with transaction.atomic(using=connection.alias):
            load(shelf, manifest, connection, apps, progress)
        refuse_differences(manifest.facts, facts_now(connection, apps), "A copy restored from the archive differs")


def load(shelf: Shelf, manifest: Manifest, connection: BaseDatabaseWrapper, apps_: Apps, progress: Progress) -> None:
    """The archive's rows instead of those that are there; in a transaction of the caller's."""
    loader = Loader(connection, apps_)
    loader.empty()
    total, done = manifest.facts.rows, 0

    def lines(table: str) -> Iterator[str]:
        nonlocal done
        for part in manifest.parts:
            if part.table == table:
                yield from lines_in(shelf, part.object)
                done += part.rows
                progress(done, total, "rows restored")

    filled = {part.table for part in manifest.parts}
    if unknown := filled - loader.by_table.keys():
        raise ArchiveDamaged(f"The archive has a table that its version does not know: {sorted(unknown)[0]}.")
    for model in loader.models:
        table = model._meta.db_table
        if table in filled:
            try:
                loader.load(model, manifest.columns[table], lines(table))
            except (DatabaseError, ValueError, KeyError) as error:
                raise ArchiveDamaged(f"Rows of {table} cannot be restored: {error}") from error
    try:
        loader.raise_sequences(manifest.sequences)
    except DatabaseError as error:
        raise ArchiveDamaged(f"Rows of the archive do not belong together: {error}") from error


def facts_now(connection: BaseDatabaseWrapper, apps_: Apps) -> Facts:
    tallies = {model._meta.db_table: tables.tally_of(model, connection) for model in tables.models_of(apps_)}
    return facts_of(connection, tallies)


def refuse_differences(wanted: Facts, found: Facts, what: str) -> None:
    if differences := wanted.differences(found):
        more = f" And {len(differences) - 5} more." if len(differences) > 5 else ""
        raise ArchiveDamaged(f"{what}. {' '.join(differences[:5])}{more}")


def check_contents(shelf: Shelf, manifest: Manifest, *, written_since: float = 0, progress: Progress) -> None:
    """That every content is there, and is what it was when it came; older ones than `written_since` by their size.

    Raises
    ------
    ArchiveDamaged
        Naming the file.
    """
    named = [(manifest.listing.object, "the list of files")]
    named += [(digest, name) for name, digest in manifest.sites.items()]
    named += [(part.object, f"rows of {part.table}") for part in manifest.parts]
    for digest, what in named:
        if not shelf.is_whole(digest):
            raise ArchiveDamaged(f"{_fate(shelf, digest)}: {what}, in {shelf.path_of(digest)}. Use another archive.")
    for done, file in enumerate(files_in(shelf, manifest), start=1):
        path = shelf.path_of(file.digest)
        is_right = shelf.size_of(file.digest) == file.size
        if is_right and path.stat().st_mtime >= written_since - 1:
            is_right = shelf.is_whole(file.digest)
        if not is_right:
            raise ArchiveDamaged(f"{_fate(shelf, file.digest)}: {file.path}, in {path}. Use another archive.")
        progress(done, manifest.listing.files, "files checked")


def _fate(shelf: Shelf, digest: str) -> str:
    return "The archive has lost a content" if shelf.size_of(digest) is None else "A content of the archive is damaged"
