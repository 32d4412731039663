"""The ground the demo stands on: what an earlier run left, and how to begin anew."""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from django.core.management import call_command
from django.db import DatabaseError, connection

from humanexp.core.errors import InputRefused, StudyRefused
from humanexp.core.models import User
from humanexp.core.storage import media_path, write_whole
from humanexp.stimuli.models import SourceSet
from humanexp.studies.models import Study
from humanexp.table_making import OtherTables, check_tables

#: Everything of the demo has one of these names.
NAMES = frozenset({"demo", "try-it"})
RESEARCHER = "researcher"
PICTURES_PER_CATEGORY = 24
_RECORD = "demo.json"
#: What a demo writes under MEDIA_ROOT, beside its database, keys and logs. Nothing else there is ever removed.
_MADE = (
    *(_RECORD, "demo-numbers.json", "demo", "originals", "thumbnails", "stimuli", "plans", "evaluations", "results"),
    *(f"{site}.sqlite3{end}" for site in ("marketplace", "panel") for end in ("", "-wal", "-shm")),
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What decides the demo's numbers."""

    participants: int
    seed: int
    #: folder of photographs; empty: the drawings
    images: str = ""
    #: the site of this distribution on which its people are found
    recruiter: str = "marketplace"


def check(options: Options) -> None:
    """Refuse, before anything is removed or written, what could never be made."""
    if not options.images:
        from analysis.examples.pictures import source_seeds

        source_seeds(PICTURES_PER_CATEGORY, options.seed)
        return
    images = Path(options.images)
    if not images.exists():
        raise InputRefused(f"{images}: there is no such folder or file.")
    if any(images.is_relative_to(media_path(made)) for made in _MADE):
        raise InputRefused(
            f"{images} belongs to the demo, which is about to be made anew: copy the pictures elsewhere."
        )


@contextlib.contextmanager
def owned() -> Iterator[None]:
    """For the time of the block, no other demo works on this MEDIA_ROOT; the lock dies with the process.

    Raises
    ------
    StudyRefused
        If another one does.
    """
    path = media_path("logs/demo.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StudyRefused(
                f"Another demo is at work in {path.parents[1]}: stop it first, or set MEDIA_ROOT to another folder."
            ) from error
        yield


def finished_with(options: Options) -> bool:
    """Whether the demo of these options stands here, complete.

    Raises
    ------
    StudyRefused
        If one of other options does.
    """
    try:
        record = json.loads(media_path(_RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return False
    # Demos of earlier versions knew one site only.
    if {"recruiter": Options.recruiter, **record} != asdict(options):
        made = ", ".join(f"{name} {value}" for name, value in record.items() if value not in ("", Options.recruiter))
        raise StudyRefused(f"The demo here was made with {made}. Add --fresh to make it anew.")
    return True


def researcher() -> User:
    """Whose everything of the demo is; `report` gives them a password."""
    found, _made = User.objects.get_or_create(username=RESEARCHER, defaults={"is_staff": True, "is_superuser": True})
    return found


def is_finished() -> bool:
    return media_path(_RECORD).exists()


def record_finished(options: Options) -> None:
    write_whole(media_path(_RECORD), json.dumps(asdict(options)).encode())


def set_aside_other_tables() -> None:
    """Rename a SQLite database that another version made, so that the demo begins with an empty one.

    Raises
    ------
    StudyRefused
        If there is other work in it.
    """
    try:
        check_tables(connection)
        return
    except OtherTables:
        if connection.vendor != "sqlite":  # `migrate` refuses it next
            return
    try:
        _refuse_other_work()
    except DatabaseError as error:
        raise StudyRefused(
            "Whether this database of another version holds other work cannot be told. Set MEDIA_ROOT to another "
            "folder for the demo: nothing was removed."
        ) from error
    connection.close()
    name = connection.settings_dict["NAME"]
    for end in ("", "-wal", "-shm"):
        if (file := Path(f"{name}{end}")).exists():
            file.rename(f"{name}.set-aside{end}")


def _refuse_other_work() -> None:
    studies = Study.objects.exclude(slug__in=NAMES).values_list("slug", flat=True)
    pictures = SourceSet.objects.exclude(name__in=NAMES).values_list("name", flat=True)
    if others := [*studies, *pictures]:
        raise StudyRefused(
            f"This database holds other work ({', '.join(others[:3])}). "
            "Set MEDIA_ROOT to another folder for the demo: nothing was removed."
        )


def clear() -> None:
    """Remove what demos made. Other studies or pictures in this database are never touched: then nothing is removed.

    Raises
    ------
    StudyRefused
        Naming what is in the way.
    """
    _refuse_other_work()
    # First of all: a demo that is half removed is none.
    media_path(_RECORD).unlink(missing_ok=True)
    accounts = list(User.objects.exclude(username=RESEARCHER))
    call_command("flush", interactive=False, verbosity=0)
    for account in accounts:
        account.pk = None
    User.objects.bulk_create(accounts)
    for entry in map(media_path, _MADE):
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)
