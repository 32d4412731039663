"""Imports that were asked for in the console: the archive waits on the disk, a job imports it."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from humanexp.core.errors import ApplicationError, InputRefused, InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path, relative_to_media, sweep
from humanexp.jobs import selectors as job_selectors
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import SourceSet
from humanexp.stimuli.services.import_report import ImportReport
from humanexp.stimuli.services.importing import check_new_set_name, import_images
from humanexp.stimuli.sources import ArchiveSource, PictureSource, StorageSource, find_files

IMPORT_IMAGES_KIND = "stimuli.import_images"
_FOLDER = "uploads"
#: An archive whose job was cancelled may be gone on with for this long.
_KEPT_S = 2 * 24 * 3600


def subject_of_import(name: str) -> str:
    return f"source_import:{name}"


def request_import(
    *,
    name: str,
    archive: UploadedFile[Any] | None = None,
    storage_prefix: str | None = None,
    provenance: str = "",
    licence: str = "",
    minimum_side_px: int = 0,
    skip_unusable: bool = False,
    by: User | None = None,
) -> Job:
    """Import an uploaded archive, or a prefix of the storage, as a job; what can be refused at once is."""
    check_new_set_name(name)
    under_way = job_selectors.latest_for(subject_of_import(name), IMPORT_IMAGES_KIND)
    if under_way is not None and not under_way.is_finished:
        raise InvalidRequest(f"{name} is being imported already: look at it first.", fields={"name": "being imported"})
    sweep(media_path(_FOLDER).glob("*.zip"), older_than_s=_KEPT_S)
    stored = _store(archive) if archive is not None else None
    try:
        if stored is not None:
            source = ArchiveSource(stored, title=str(archive))
            try:
                find_files(source)
            finally:
                source.close()
        else:
            StorageSource(storage_prefix or "")
        with transaction.atomic():
            return jobs.submit(
                IMPORT_IMAGES_KIND,
                subject=subject_of_import(name),
                by=by,
                name=name,
                upload=relative_to_media(stored) if stored is not None else "",
                title=str(archive) if archive is not None else "",
                prefix=storage_prefix or "",
                provenance=provenance,
                licence=licence,
                minimum_side_px=minimum_side_px,
                skip_unusable=skip_unusable,
                by_id=by.pk if by else None,
            )
    except BaseException:
        if stored is not None:
            stored.unlink(missing_ok=True)
        raise


def run_import(
    progress: Progress,
    *,
    name: str,
    upload: str,
    title: str,
    prefix: str,
    provenance: str,
    licence: str,
    skip_unusable: bool,
    by_id: int | None,
    minimum_side_px: int = 0,
) -> ImportReport | None:
    """Do what `request_import` asked for; None where an earlier attempt had done it and died before it said so."""
    archive = media_path(upload) if upload else None
    if archive is not None and not archive.exists():
        if SourceSet.objects.filter(name=name).exists():
            return None
        raise InputRefused(f"The archive {title} is not here any more: send it again.")
    try:
        source: PictureSource = StorageSource(prefix) if archive is None else ArchiveSource(archive, title=title)
        report = import_images(
            source=source,
            name=name,
            provenance=provenance,
            licence=licence,
            minimum_side_px=minimum_side_px,
            skip_unusable=skip_unusable,
            by=User.objects.filter(pk=by_id).first() if by_id is not None else None,
            progress=progress,
        )
    except InvalidRequest:  # a refusal: the same archive would be refused again
        _remove(archive)
        raise
    _remove(archive)
    return report


def _store(archive: UploadedFile[Any]) -> Path:
    """Move the upload to its place; only a small one is still in memory."""
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


def _remove(archive: Path | None) -> None:
    if archive is not None:
        archive.unlink(missing_ok=True)
