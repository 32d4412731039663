"""Pictures copied into a new set: at once, or as a job that the console asked for, whose archive waits on the disk."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction

from analysis.compute import executor
from analysis.generation.originals import MAXIMUM_BYTES, Inspection, inspect_originals
from analysis.sets.set_file import document_beside
from humanexp.core import file_store, ownership
from humanexp.core.errors import ApplicationError, InputRefused, InvalidRequest
from humanexp.core.names import check_new_name
from humanexp.core.storage import media_path, relative_to_media, sweep
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress, silent
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.array_pictures import arrays_with, with_arrays
from humanexp.stimuli.labelling import Labelling
from humanexp.stimuli.layouts import find_files, find_files_of_table
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.selectors.labels import space_named
from humanexp.stimuli.services.label_sets import label_set_named
from humanexp.stimuli.services.sources import Collection, ImportOrder, ImportReport, Incoming
from humanexp.stimuli.sources import (
    ArchiveSource,
    FolderSource,
    FoundFiles,
    LabelledFile,
    PictureSource,
    StorageSource,
    is_archive,
)

#: Files that one call looks at, and calls that are under way: what an import holds on top of its list of names.
_FILES_PER_CALL = 16
_CALLS_AHEAD = 4
_COPIED_AT_ONCE = 1 << 20
#: What an import that died has left is swept after a day.
_STALE_S = 24 * 3600
#: Names that pages have.
_RESERVED = frozenset({"new"})
IMPORT_IMAGES_KIND = "stimuli.import_images"
_FOLDER = "uploads"
#: An archive whose job was cancelled may be gone on with for this long.
_KEPT_S = 2 * 24 * 3600


def import_images(
    *, source: Path | PictureSource, order: ImportOrder, label_list: Path | None = None, progress: Progress = silent
) -> ImportReport:
    """Copy labelled pictures into a new source set, or refuse them all and write nothing.

    Parameters
    ----------
    source
        A folder, a CSV table, a zip archive, or an opened source.
    label_list
        List of `file wnid` for pictures that are not in folders of categories.
    progress
        Called with (done, total, message); may raise to stop the import, which then leaves nothing.
    """
    check_new_set_name(order.name)
    with _collected(source, order, _unfinished_folder(order.name), label_list, progress) as one:
        about = document_beside(source) if isinstance(source, Path) else ""
        order = replace(order, provenance=order.provenance or one.title)
        source_set = _write(order, one.collection, one.found, one.folder, about)
        return one.collection.report(source_set, one.found)


def check_images(*, source: Path, order: ImportOrder) -> Counter[str]:
    """Refuse what `import_images` would refuse, and keep nothing; pictures that it would import, by label."""
    with _collected(source, order, tempfile.TemporaryDirectory()) as one:
        return one.collection.per_category


@dataclass(frozen=True)
class _Collected:
    """Pictures of a source, looked at; their copies are in the folder."""

    found: FoundFiles
    collection: Collection
    folder: Path
    title: str


@contextmanager
def _collected(
    source: Path | PictureSource,
    order: ImportOrder,
    place: AbstractContextManager[Path | str],
    label_list: Path | None = None,
    progress: Progress = silent,
) -> Iterator[_Collected]:
    table, opened = _open_source(source)
    collection = Collection(order)
    with closing(opened), closing(collection), place as folder:
        found = _found(opened, table, order, label_list)
        for incoming, inspection in _look_at_all(opened, found.files, Path(folder)):
            collection.add(incoming, inspection, Path(folder))
            progress(collection.n_seen, len(found.files), "pictures read")
        collection.check(found)
        yield _Collected(found, collection, Path(folder), opened.title)


def preview_import(*, source: Path | PictureSource, order: ImportOrder, label_list: Path | None = None) -> FoundFiles:
    """What an import would find, and what it would read as which label. Nothing is written, no picture is opened."""
    table, opened = _open_source(source)
    with closing(opened):
        return _found(opened, table, order, label_list)


def _found(source: PictureSource, table: str, order: ImportOrder, label_list: Path | None) -> FoundFiles:
    labelling = Labelling(space_named(order.labels), by_number=bool(order.labels))
    if table:
        return find_files_of_table(source, table, labelling, order.factors)
    return find_files(source, label_list=label_list, labelling=labelling, factors=order.factors)


def check_new_set_name(name: str) -> None:
    """Name of a new set of pictures."""
    taken = SourceSet.objects.filter(name=name).exists()
    check_new_name(name, taken=taken, what="set of pictures", reserved=_RESERVED)


def _open_source(source: Path | PictureSource) -> tuple[str, PictureSource]:
    """The opened source, and the name of the table in it if it was given as one."""
    if not isinstance(source, Path):
        return "", with_arrays(source)
    if not source.is_file():
        return "", with_arrays(FolderSource(source))
    of_arrays = arrays_with(source.name)
    if of_arrays is not None:
        return "", with_arrays(FolderSource(source.absolute().parent, only=of_arrays))
    if is_archive(source):
        return "", with_arrays(ArchiveSource(source))
    return source.name, FolderSource(source.absolute().parent)


@contextmanager
def _unfinished_folder(name: str) -> Iterator[Path]:
    """A folder beside the others that is gone after the block, unless it was renamed."""
    parent = media_path("originals")
    with _writing():
        parent.mkdir(parents=True, exist_ok=True)
        for left in parent.glob(".*"):
            if time.time() - left.stat().st_mtime > _STALE_S:
                shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _look_at_all(
    source: PictureSource, files: list[LabelledFile], folder: Path
) -> Iterator[tuple[Incoming, Inspection]]:
    """Copies of the files, each with what was found in it, in the order of the files."""
    # A handful of files is not worth starting processes, and a cluster may not see this folder.
    is_local_pool = settings.COMPUTE.startswith("processes") and len(files) > 200
    under_way: deque[tuple[list[Incoming], Future[list[Inspection]]]] = deque()
    with executor(settings.COMPUTE if is_local_pool else "serial") as pool:
        for start in range(0, len(files), _FILES_PER_CALL):
            batch = [
                _fetch(source, file, folder / f"{start + offset}.incoming")
                for offset, file in enumerate(files[start : start + _FILES_PER_CALL])
            ]
            paths, names = [str(incoming.path) for incoming in batch], [incoming.file.name for incoming in batch]
            under_way.append((batch, pool.submit(inspect_originals, paths, names)))
            if len(under_way) > (_CALLS_AHEAD if is_local_pool else 0):
                yield from _first(under_way)
        while under_way:
            yield from _first(under_way)


def _first(
    under_way: deque[tuple[list[Incoming], Future[list[Inspection]]]],
) -> Iterable[tuple[Incoming, Inspection]]:
    batch, future = under_way.popleft()
    return zip(batch, future.result(), strict=True)


def _fetch(source: PictureSource, file: LabelledFile, path: Path) -> Incoming:
    """Copy one file; one that cannot be read is told with the pictures that cannot be used."""
    try:
        with source.open(file.name) as stream:
            size = 0
            with _writing():
                path.touch()
            while block := stream.read(_COPIED_AT_ONCE):
                size += len(block)
                if size > MAXIMUM_BYTES:
                    raise InputRefused(f"{file.name}: over {MAXIMUM_BYTES // 10**6} MB; save the picture smaller.")
                with _writing(), path.open("ab") as copy:
                    copy.write(block)
    except _NotStored:
        raise
    except InputRefused as error:
        path.write_bytes(b"")
        return Incoming(file, path, refusal=error.message)
    return Incoming(file, path)


class _NotStored(InputRefused):
    """Writing went wrong, not reading: a full disk is no fault of the picture."""


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _NotStored(
            f"The pictures could not be stored under {settings.MEDIA_ROOT} ({error.strerror}); nothing was imported. "
            "Make room there, or make it writable, and try again."
        ) from error


def _write(order: ImportOrder, collection: Collection, found: FoundFiles, folder: Path, about: str) -> SourceSet:
    """The rows, then the folder gets its name. Whatever fails, neither half stays alone."""
    name, by = order.name, order.by
    final = media_path(f"originals/{name}")
    try:
        with _writing(), transaction.atomic():
            source_set = SourceSet.objects.create(
                name=name,
                labels=label_set_named(order.labels, by=by),
                provenance=order.provenance,
                licence=order.licence,
                lab_id=ownership.lab_of(by),
                created_by=by,
                import_report=collection.stored_report(found),
                set_document=about,
            )
            for rows in collection.batches(500):
                for row in rows:
                    row["file"] = f"originals/{name}/{row['file']}"
                SourceImage.objects.bulk_create([SourceImage(source_set=source_set, **row) for row in rows])
            # Nothing in the database names this folder, or the name would be taken: it is left from a lost import.
            shutil.rmtree(final, ignore_errors=True)
            folder.rename(final)
            file_store.publish(f"originals/{name}")
    except IntegrityError as error:
        if SourceSet.objects.filter(name=name).exists():
            raise InvalidRequest(
                f"A set of pictures named {name!r} was imported at the same moment: look at it first.",
                fields={"name": "this name is taken"},
            ) from error
        raise
    return source_set


def subject_of_import(name: str) -> str:
    return f"source_import:{name}"


def request_import(
    *, order: ImportOrder, archive: UploadedFile[Any] | None = None, storage_prefix: str | None = None
) -> Job:
    """Import an uploaded archive, or a prefix of the storage, as a job; what can be refused at once is."""
    name = order.name
    check_new_set_name(name)
    under_way = latest_for(subject_of_import(name), IMPORT_IMAGES_KIND)
    if under_way is not None and not under_way.is_finished:
        raise InvalidRequest(f"{name} is being imported already: look at it first.", fields={"name": "being imported"})
    stored = store_upload(archive) if archive is not None else None
    try:
        if stored is not None:
            source = ArchiveSource(stored, title=str(archive))
            try:
                _found(with_arrays(source), "", order, None)
            finally:
                source.close()
            file_store.publish(relative_to_media(stored))
        else:
            StorageSource(storage_prefix or "")
        with transaction.atomic():
            return jobs.submit(
                IMPORT_IMAGES_KIND,
                subject=subject_of_import(name),
                by=order.by,
                order=asdict(order),
                upload=relative_to_media(stored) if stored is not None else "",
                title=str(archive) if archive is not None else "",
                prefix=storage_prefix or "",
            )
    except BaseException:
        remove_upload(stored)
        raise


def run_import(
    progress: Progress, *, order: dict[str, Any], upload: str, title: str, prefix: str
) -> ImportReport | None:
    """Do what `request_import` asked for; None where an earlier attempt had done it and died before it said so."""
    asked = ImportOrder(**order)
    archive = media_path(upload) if upload else None
    if archive is not None and not archive.exists():
        if SourceSet.objects.filter(name=asked.name).exists():
            return None
        raise InputRefused(f"The archive {title} is not here any more: send it again.")
    try:
        source: PictureSource = StorageSource(prefix) if archive is None else ArchiveSource(archive, title=title)
        report = import_images(source=source, order=asked, progress=progress)
    except InvalidRequest:  # a refusal: the same archive would be refused again
        remove_upload(archive)
        raise
    remove_upload(archive)
    return report


def store_upload(archive: UploadedFile[Any]) -> Path:
    """Move the upload to its place; only a small one is still in memory. Those that somebody left are forgotten."""
    sweep(media_path(_FOLDER).glob("*.zip"), older_than_s=_KEPT_S)
    file_store.forget_left(_FOLDER, older_than_s=_KEPT_S)
    path = media_path(f"{_FOLDER}/{secrets.token_hex(12)}.zip")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = getattr(archive, "temporary_file_path", None)
    try:
        if temporary is not None:
            Path(temporary()).rename(path)
        else:
            with path.open("wb") as stream:
                for chunk in archive.chunks():
                    stream.write(chunk)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise ApplicationError(
            f"The archive could not be stored ({error.strerror}). Make room and try again."
        ) from error
    return path


def remove_upload(archive: Path | None) -> None:
    if archive is not None:
        archive.unlink(missing_ok=True)
        file_store.forget(relative_to_media(archive))
