"""Published sets as zip archives: that of a study, to be passed on, and one that was sent here to score models on."""

from __future__ import annotations

import tempfile
import zipfile
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import IO

from django.core.files.uploadedfile import UploadedFile

from analysis.errors import AnalysisError
from analysis.sets.set_file import FILE
from humanexp.core import file_store
from humanexp.core.errors import ApplicationError, InputRefused, StudyRefused
from humanexp.core.models import User
from humanexp.core.storage import media_path, relative_to_media
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.jobs.selectors import latest_for
from humanexp.participation.models import Response
from humanexp.results.published_sets import published_set
from humanexp.results.set_publication import Publication, Terms, publish_set
from humanexp.stimuli.services.imports import remove_upload, store_upload
from humanexp.stimuli.sources import ArchiveSource, PictureSource
from humanexp.studies.models import Study

IMPORT_SET_KIND = "results.import_set"
#: Pictures of a study that are packed while somebody waits for them.
MOST_PICTURES = 10_000


def packed_set(*, study: Study, terms: Terms, by: User | None) -> tuple[IO[bytes], Publication]:
    """The study as `publish_set` writes it, in an archive that is gone once it is closed."""
    shown = Response.objects.filter(session__study=study).values("trial__stimulus").distinct().count()
    if shown > MOST_PICTURES:
        raise StudyRefused(
            f"{study} has {shown:,} pictures, and a page packs at most {MOST_PICTURES:,}: run publish_set on the "
            "server."
        )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "set"
        made = publish_set(study=study, folder=folder, terms=terms, by=by)
        archive = tempfile.TemporaryFile()  # noqa: SIM115  the response closes it
        try:
            with zipfile.ZipFile(archive, "w") as packed:
                for path in sorted(folder.rglob("*")):
                    if path.is_file():
                        packed.write(path, f"{made.file.name}/{path.relative_to(folder).as_posix()}")
        except BaseException:
            archive.close()
            raise
    archive.seek(0)
    return archive, made


def import_of(by: User) -> Job | None:
    """The newest import of a set that this account asked for."""
    return latest_for(_subject(by), IMPORT_SET_KIND)


def request_set_import(*, archive: UploadedFile[bytes], by: User) -> Job:
    """Import an uploaded set as a job; an archive without a set is refused at once."""
    stored = store_upload(archive)
    try:
        with closing(ArchiveSource(stored, title=str(archive))) as source:
            _place_of_set(source)
        file_store.publish(relative_to_media(stored))
        return jobs.submit(
            IMPORT_SET_KIND,
            subject=_subject(by),
            by=by,
            upload=relative_to_media(stored),
            title=str(archive),
            by_id=by.pk,
        )
    except BaseException:
        remove_upload(stored)
        raise


def run_set_import(progress: Progress, *, upload: str, title: str, by_id: int) -> str:
    """Do what `request_set_import` asked for; the name under which models are scored on the set."""
    archive = media_path(upload)
    if not archive.exists():
        raise InputRefused(f"The archive {title} is not here any more: send it again.")
    by = User.objects.filter(pk=by_id).first()
    try:
        with closing(ArchiveSource(archive, title=title)) as source, tempfile.TemporaryDirectory() as place:
            _unpack(source, Path(place), progress)
            folder = Path(place) / _place_of_set(source)
            try:
                name = published_set(folder, by=by, tell=lambda _sentence: None).name
            except (ApplicationError, AnalysisError) as error:
                told = str(error).replace(f"{folder}/", "").replace(str(folder), title)
                raise InputRefused(told) from error
    except InputRefused:  # the same archive would be refused again
        remove_upload(archive)
        raise
    remove_upload(archive)
    return name


def _subject(by: User) -> str:
    return f"sets_of:{by.username}"


def _place_of_set(source: PictureSource) -> PurePosixPath:
    """The folder with the ``set.toml``."""
    places = [PurePosixPath(name).parent for name in source.names() if PurePosixPath(name).name == FILE]
    if len(places) != 1:
        there = "more than one" if places else "no"
        raise InputRefused(
            f"{source.title}: there is {there} {FILE} in it. Pack the folder that publish_set wrote, and nothing else."
        )
    return places[0]


def _unpack(source: PictureSource, place: Path, progress: Progress) -> None:
    names = source.names()
    for number, name in enumerate(names, start=1):
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with source.open(name) as stream, target.open("wb") as copy:
            while block := stream.read(1 << 20):
                copy.write(block)
        progress(number, len(names), "files unpacked")
