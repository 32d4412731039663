"""Proving an archive: its rows are loaded into a scratch database, and compared with what was counted at the source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.apps.registry import Apps
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import DatabaseError

from humanexp.console.archives import keys, tables
from humanexp.console.archives.databases import Progress, scratch
from humanexp.console.archives.facts import Facts, facts_of
from humanexp.console.archives.files import files_in, lines_in
from humanexp.console.archives.keys import unseal
from humanexp.console.archives.manifest import Manifest
from humanexp.console.archives.shelf import Shelf
from humanexp.console.archives.tables import Loader
from humanexp.core.errors import ApplicationError


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
