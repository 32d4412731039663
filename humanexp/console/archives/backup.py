"""Making an archive: rows, files, databases of the included sites, sealed keys; proved before it counts."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from analysis import __version__ as VERSION
from humanexp.console.archives import keys, tables
from humanexp.console.archives.databases import Progress, copy_sqlite, snapshot, verify
from humanexp.console.archives.keys import seal
from humanexp.console.archives.shelf import (
    SITES,
    FileIndex,
    FileLine,
    Listing,
    Manifest,
    Part,
    Shelf,
    files_in,
    is_packed,
    keep as keep_newest,
    media_root,
    packed_lines,
    stored_files,
    to_be_packed,
)
from humanexp.console.archives.tables import Tally, facts_of, named_files
from humanexp.console.models import Backup
from humanexp.core import clock, file_store
from humanexp.core.errors import ApplicationError, Conflict, InputRefused
from humanexp.core.sealing import check_value
from humanexp.table_making import OtherTables, check_tables

#: Rows in one content. Those of earlier answers stay the same, and are kept once.
PART = 20_000
#: Rows of `Backup` that stay.
_REMEMBERED = 400


class ArchiveNotWritten(ApplicationError):
    """The archive could not be written; earlier archives are as they were."""


@dataclass(frozen=True)
class Made:
    """What a backup has done."""

    manifest: Manifest
    bytes_new: int
    contents_new: int
    removed: list[str]


@dataclass
class _Writer:
    """Keeps contents, and counts what is new."""

    shelf: Shelf
    work: Path
    bytes_new: int = 0
    contents_new: int = 0

    def lines(self, lines: Iterable[str]) -> str:
        with packed_lines(lines, self.work) as stream:
            return self._put(stream)[0]

    def file(self, path: Path) -> tuple[str, int]:
        with path.open("rb") as stream:
            return self._put(stream)

    def _put(self, stream: BinaryIO) -> tuple[str, int]:
        digest, size, is_new = self.shelf.put(stream, self.work)
        self.bytes_new += size if is_new else 0
        self.contents_new += is_new
        return digest, size


def back_up(*, to: Path, passphrase: str | None, is_verified: bool, keep: int | None, progress: Progress) -> Made:
    """Put one more archive into the folder `to`, or one alone into a file; without a passphrase, without the keys.

    Raises
    ------
    ArchiveNotWritten
        If the folder cannot be written to.
    """
    to = to.resolve()
    _check_place(to)
    check_migrated()
    try:
        with to_be_packed(to) if is_packed(to) else nullcontext(to) as folder:
            made = _archived(Shelf(folder), passphrase, is_verified=is_verified, keep=keep, progress=progress)
    except OSError as error:
        raise ArchiveNotWritten(
            f"The archive could not be written to {to}: {error.strerror or error}. Earlier archives are as they were."
        ) from error
    _remember(made, to)
    return made


def _archived(shelf: Shelf, passphrase: str | None, *, is_verified: bool, keep: int | None, progress: Progress) -> Made:
    began = time.time()
    with shelf.held() as work:
        writer = _Writer(shelf, work)
        manifest = _written(writer, has_keys=passphrase is not None, progress=progress)
        sealed = seal(keys.keys_here(), passphrase) if passphrase is not None else None
        if is_verified:
            verify(shelf, manifest, sealed, passphrase, work=work, written_since=began, progress=progress)
            manifest = manifest.model_copy(update={"verified_at": clock.now()})
        shelf.publish(manifest, sealed, work)
        removed = keep_newest(shelf, keep, work) if keep else []
    return Made(manifest, writer.bytes_new, writer.contents_new, removed)


def _check_place(to: Path) -> None:
    root = media_root()
    if to.is_relative_to(root) or root.is_relative_to(to):
        raise InputRefused(f"{to} and MEDIA_ROOT ({root}) contain one another: name a folder elsewhere.")
    if to.exists() and not to.is_dir():
        raise InputRefused(f"{to} is a file already: name a folder, or a file that ends in .tar and is not there yet.")
    if to.is_dir() and any(to.iterdir()) and not (to / "archives").is_dir():
        raise InputRefused(f"{to} has other files in it: name an empty folder, or one with archives.")


def check_migrated() -> None:
    try:
        check_tables(connection)
    except OtherTables as refusal:
        raise Conflict(str(refusal)) from refusal
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise Conflict(
            "There are migrations to apply, so the database is that of another version. Back up with the version that "
            "last ran, or apply them first: python manage.py migrate"
        )


def _written(writer: _Writer, *, has_keys: bool, progress: Progress) -> Manifest:
    """Everything but the manifest itself."""
    shelf, now = writer.shelf, clock.now()
    before, models = shelf.latest(), tables.models_of(apps)
    with snapshot(writer.work, progress) as rows, closing(FileIndex(writer.work / "files.sqlite3")) as index:
        parts, tallies = _parts(rows, writer, progress)
        sites = _sites(writer, progress)
        listing = _listing(writer, before, index, progress)
        return Manifest(
            name=_name(shelf, now),
            product=VERSION,
            made_at=now,
            database=connection.vendor,
            migrations=sorted(map(".".join, MigrationRecorder(rows).applied_migrations())),
            columns={model._meta.db_table: tables.columns_of(model) for model in models},
            parts=parts,
            sequences=tables.sequences_of(rows, models),
            facts=facts_of(rows, tallies),
            sites=sites,
            listing=listing,
            lost=index.lost(named_files(rows.alias)),
            key_check=check_value(settings.SECRET_KEY),
            has_keys=has_keys,
            public_url=settings.PUBLIC_URL,
        )


def _name(shelf: Shelf, now: datetime) -> str:
    """Names sort by time."""
    stem = now.strftime("%Y%m%dT%H%M%S")
    taken = set(shelf.names())
    return next(name for name in (f"{stem}-{number:02d}Z" for number in range(100)) if name not in taken)


def _parts(rows: BaseDatabaseWrapper, writer: _Writer, progress: Progress) -> tuple[list[Part], dict[str, Tally]]:
    parts: list[Part] = []
    tallies: dict[str, Tally] = {}
    expected = tables.estimated_rows(rows)
    done = 0
    for model in tables.models_of(apps):
        table = model._meta.db_table
        tally = tallies[table] = Tally()
        lines = tables.lines_of(model, rows, tally)
        while first := next(lines, None):
            before = tally.rows - 1
            digest = writer.lines(itertools.chain([first], itertools.islice(lines, PART - 1)))
            parts.append(Part(table=table, object=digest, rows=tally.rows - before))
            done += tally.rows - before
            progress(done, max(done, expected), "rows")
    return parts, tallies


def _sites(writer: _Writer, progress: Progress) -> dict[str, str]:
    """Databases of the sites of its own: later than the platform's, as a recruiter is that goes on."""
    found = {}
    for name in SITES:
        file = media_root() / name
        if file.is_file() and file.stat().st_size:
            copied = writer.work / name
            copy_sqlite(file, copied, progress)
            found[name] = writer.file(copied)[0]
            copied.unlink()
    return found


def _listing(writer: _Writer, before: Manifest | None, index: FileIndex, progress: Progress) -> Listing:
    databases = {media_root() / name for name in SITES}
    if connection.vendor == "sqlite":
        databases.add(Path(str(connection.settings_dict["NAME"])).resolve())
    file_store.bring("", leave_refused=True)  # what is lost there is told as lost
    count = size = 0
    expected = before.listing.files if before else 0

    def lines() -> Iterator[str]:
        nonlocal count, size
        for line in _kept_files(writer, before, databases):
            count, size = count + 1, size + line.size
            progress(count, max(count, expected), "files")
            index.add(line)
            yield json.dumps(line)

    return Listing(object=writer.lines(lines()), files=count, bytes=size)


def _kept_files(writer: _Writer, before: Manifest | None, databases: set[Path]) -> Iterator[FileLine]:
    """Each file's content is kept; one of the same size and time as in the archive before is not read again."""
    known = files_in(writer.shelf, before) if before else iter(())
    last = next(known, None)
    for path, file, status in stored_files(databases):
        key = tuple(path.split("/"))
        while last is not None and last.key < key:
            last = next(known, None)
        is_same = last is not None and (last.path, last.size, last.mtime_ns) == (
            path,
            status.st_size,
            status.st_mtime_ns,
        )
        if is_same and last is not None and writer.shelf.size_of(last.digest) == last.size:
            yield last
            continue
        try:
            digest, size = writer.file(file)
        except FileNotFoundError:  # removed meanwhile
            continue
        yield FileLine(path, size, status.st_mtime_ns, digest)


def _remember(made: Made, to: Path) -> None:
    manifest = made.manifest
    Backup.objects.create(
        name=manifest.name,
        place=str(to)[:500],
        made_at=manifest.made_at,
        verified_at=manifest.verified_at,
        rows=manifest.facts.rows,
        files=manifest.listing.files,
        lost_files=len(manifest.lost),
        bytes_new=made.bytes_new,
    )
    kept = Backup.objects.order_by("-pk").values_list("pk", flat=True)[:_REMEMBERED]
    Backup.objects.exclude(pk__in=list(kept)).delete()
