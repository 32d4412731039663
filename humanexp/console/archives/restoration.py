"""Rows brought into an empty database: an installation restored from an archive, or moved from another database."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.apps import apps
from django.apps.registry import Apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import DatabaseError, OperationalError

from humanexp.console.archives import keys, tables
from humanexp.console.archives.backup import check_migrated
from humanexp.console.archives.databases import (
    Progress,
    check_contents,
    check_empty,
    facts_now,
    load,
    opened,
    refuse_differences,
)
from humanexp.console.archives.keys import required, unseal
from humanexp.console.archives.shelf import FileLine, Manifest, Shelf, files_in, media_root, target_of
from humanexp.console.archives.tables import Facts, Loader, Tally, facts_of
from humanexp.console.models import LocalSite
from humanexp.core import clock, file_store
from humanexp.core.connections import database_of_address
from humanexp.core.errors import ApplicationError, Conflict, InputRefused
from humanexp.core.models import record
from humanexp.core.storage import MARK, media_path
from humanexp.jobs.models import Runner
from humanexp.jobs.selectors import SILENT_AFTER
from humanexp.ledger.delivery import foresee_restoring, treat_as_restored
from humanexp.table_making import record_tables, tables_line


class RestoreStopped(ApplicationError):
    """The restore ended before its end; give the same command again."""


@dataclass
class Restored:
    """What was restored, or would be."""

    manifest: Manifest
    #: files that are not here, or are others
    files: int = 0
    bytes: int = 0
    keys: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)
    #: databases of sites that are here already, and stay
    sites_kept: list[str] = field(default_factory=list)
    #: writes that are asked about before they are sent
    asked_first: int = 0


def restore(
    *, shelf: Shelf, name: str, passphrase: str | None, with_keys: bool, is_rehearsal: bool, progress: Progress
) -> Restored:
    """Everything of an archive, into a database and a MEDIA_ROOT that hold nothing else.

    A second call after one that was cut off goes on: files that are there are left alone, and rows come in one
    transaction. `is_rehearsal` checks all of it and writes nothing.

    Raises
    ------
    InputRefused, Conflict, ArchiveDamaged
        Before anything is written.
    """
    manifest = shelf.manifest(name)
    targets = _check_version(manifest)
    check_empty(connection)
    unsealed = _keys_of(shelf, manifest, passphrase, with_keys)
    _check_mark(shelf, manifest)
    check_contents(shelf, manifest, progress=progress)
    done = Restored(manifest)
    for line in _missing(shelf, manifest):
        done.files, done.bytes = done.files + 1, done.bytes + line.size
    done.sites = [site for site in manifest.sites if not _is_there(site)]
    done.sites_kept = [site for site in manifest.sites if _is_there(site)]
    if done.bytes > (free := shutil.disk_usage(media_root()).free):
        raise Conflict(f"MEDIA_ROOT has {free / 1e9:.1f} GB free, and the files need {done.bytes / 1e9:.1f} GB.")
    if is_rehearsal:
        done.keys = sorted(unsealed)
        return done
    try:
        for number, line in enumerate(_missing(shelf, manifest), start=1):
            _bring(shelf, line)
            progress(number, done.files, "files restored")
        for site in done.sites:
            _copy(shelf.path_of(manifest.sites[site]), media_path(site))
        done.keys = keys.put_back(unsealed)
    except OSError as error:
        raise RestoreStopped(
            f"The files could not be restored: {error.strerror or error}. The database is still empty: mend this, and "
            "give the same command again."
        ) from error
    _fill(shelf, manifest, targets, progress)
    done.asked_first = _settle_in(manifest)
    if settings.FILE_STORE:
        file_store.store_again()
    return done


def restore_files(*, shelf: Shelf, name: str, is_rehearsal: bool, progress: Progress) -> list[str]:
    """Bring back files that are missing here, or altered; the database and all other files stay as they are.

    Raises
    ------
    Conflict
        If MEDIA_ROOT is that of another database.
    """
    manifest = shelf.manifest(name)
    _check_mark(shelf, manifest)
    brought = []
    for line in _missing(shelf, manifest):
        if not shelf.is_whole(line.digest):
            raise InputRefused(f"The archive's own copy of {line.path} is damaged or gone. Use another archive.")
        if not is_rehearsal:
            _bring(shelf, line)
        brought.append(line.path)
        progress(len(brought), manifest.listing.files, "files restored")
    return brought


# Before anything is written --------------------------------------------------------------------------------------


def _check_version(manifest: Manifest) -> list[tuple[str, str]]:
    """The migrations that the archive's database had last, by app."""
    loader = MigrationExecutor(connection).loader
    known = {f"{app}.{name}": (app, name) for app, name in loader.disk_migrations}
    tables = ".".join(tables_line())
    if tables not in manifest.migrations or set(manifest.migrations) - known.keys() - {tables}:
        raise InputRefused(
            f"The archive was made by another version of HumanExp ({manifest.product}), whose tables are not this "
            "version's. Restore it with the version that made it."
        )
    had = {known[name] for name in manifest.migrations if name != tables}
    children = {node: loader.graph.node_map[node].children for node in had}
    return sorted(
        node for node in had if not any(child.key[0] == node[0] and child.key in had for child in children[node])
    )


def _keys_of(shelf: Shelf, manifest: Manifest, passphrase: str | None, with_keys: bool) -> dict[str, str]:
    keys.check(manifest.key_check, keys.given_here(), whose="that is set here")
    if not with_keys:
        return {}
    if not manifest.has_keys:
        raise InputRefused(
            "The archive was made without keys. Put them into MEDIA_ROOT/keys or the environment, and use "
            "--without-keys."
        )
    sealed = shelf.sealed(manifest.name)
    if sealed is None:
        raise InputRefused(
            f"The file keys/{manifest.name}.sealed is missing in {shelf.root}. Put it back, or use --without-keys."
        )
    unsealed = unseal(sealed, required(passphrase))
    keys.check(manifest.key_check, unsealed, whose="in the archive's own file of keys")
    return unsealed


def _check_mark(shelf: Shelf, manifest: Manifest) -> None:
    """MEDIA_ROOT is empty, or was this installation's."""
    path = media_path(MARK)
    if not path.is_file():
        return
    wanted = next((line.digest for line in files_in(shelf, manifest) if line.path == MARK), None)
    if wanted is not None and not _has(path, wanted):
        raise Conflict(
            f"{media_root()} has the files of another installation. Set MEDIA_ROOT to an empty folder; nothing was "
            "changed."
        )


def _is_there(site: str) -> bool:
    path = media_path(site)
    return path.is_file() and path.stat().st_size > 0


# Files -----------------------------------------------------------------------------------------------------------


def _missing(shelf: Shelf, manifest: Manifest) -> Iterator[FileLine]:
    """Files of the archive that are not here, or are others; refuses a path that leads elsewhere."""
    for line in files_in(shelf, manifest):
        if not _has(target_of(line.path), line.digest):
            yield line


def _has(path: Path, digest: str) -> bool:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == digest
    except OSError:
        return False


def _bring(shelf: Shelf, line: FileLine) -> None:
    target = target_of(line.path)
    _copy(shelf.path_of(line.digest), target)
    os.utime(target, ns=(line.mtime_ns, line.mtime_ns))  # the next backup knows it by that


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = target.with_name(f".{target.name}.restored")
    try:
        with source.open("rb") as content, fresh.open("wb") as stream:
            shutil.copyfileobj(content, stream, 1 << 20)
        fresh.chmod(0o600)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)


# The database ----------------------------------------------------------------------------------------------------


def _fill(shelf: Shelf, manifest: Manifest, targets: list[tuple[str, str]], progress: Progress) -> None:
    """Tables as the archive's version had them, then its rows, then what came later."""
    made = itertools.count(1)

    def told(action: str, *_more: object) -> None:
        if action.endswith("success"):
            progress(next(made), len(manifest.migrations), "migrations")

    record_tables(using=connection.alias)
    executor = MigrationExecutor(connection, told)
    is_current = set(targets) == set(executor.loader.graph.leaf_nodes())
    executor.migrate(targets)
    of_then: Apps = apps if is_current else executor.loader.project_state(targets).apps
    with transaction.atomic():
        load(shelf, manifest, connection, of_then, progress)
        refuse_differences(manifest.facts, facts_now(connection, of_then), "The restored database differs")
        foresee_restoring()
    call_command("migrate", verbosity=0)


@transaction.atomic
def _settle_in(manifest: Manifest) -> int:
    """What only the machine of the archive knew is forgotten, and what may have been sent since is marked."""
    asked = treat_as_restored()
    Runner.objects.all().delete()
    LocalSite.objects.update(pid=0, host="")
    record(action="restore", subject=f"archive:{manifest.name}", rows=manifest.facts.rows, asked_first=asked)
    return asked


# Moving ----------------------------------------------------------------------------------------------------------


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
