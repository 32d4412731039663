"""Files that several machines share: a row says what stands under a path, FILE_STORE holds it under its digest, and
MEDIA_ROOT is this machine's copy of what it has needed so far.

Whoever makes a file writes it under MEDIA_ROOT and publishes it before, or together with, the rows that name it.
Whoever reads one asks `humanexp.core.storage` for its path: a file that is not here is fetched. Without FILE_STORE
nothing of this happens, and nothing is asked.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from humanexp.core import clock
from humanexp.core.batches import batches_of
from humanexp.core.errors import FileRefused, FilesAway
from humanexp.core.models import ForgottenFile, StoredFile, StoredObject
from humanexp.core.objects import AT_A_TIME, objects

#: Folders of MEDIA_ROOT that are this machine's alone: secrets, logs, and what is made again.
LOCAL = frozenset({"keys", "logs", "static", "thumbnails", "sends", "fetching"})
#: A content that nobody names stays this long: somebody may just be about to name it.
GRACE = timedelta(days=1)
#: Until then every machine has looked which of its copies are to go.
_REMEMBERED = timedelta(days=90)
_BATCH = 500
#: Copies of what was deleted elsewhere are looked for no more often than this.
_SWEEP_EVERY_S = 600.0
#: A deletion that was committed late shows in the sweep after it.
_OVERLAP = timedelta(hours=1)
Tell = Callable[[int], object]


class Published(NamedTuple):
    """A file and what stands in it."""

    path: str
    sha256: str
    size: int
    mtime_ns: int


def local_path(relative: str) -> Path:
    """Absolute path of a file, here or not; refuses a path that leaves MEDIA_ROOT."""
    root = Path(settings.MEDIA_ROOT).resolve()
    path = (root / relative).resolve()
    if not path.is_relative_to(root):
        raise ValueError(f"{relative!r} lies outside MEDIA_ROOT")
    return path


def is_shared(relative: str) -> bool:
    """Whether other machines may have it: it lies in a folder of MEDIA_ROOT that is not this machine's alone."""
    folder, _, rest = relative.partition("/")
    return bool(rest) and folder not in LOCAL


def publish(*relatives: str, tell: Tell = lambda _done: None) -> int:
    """Let every machine have these files, and the files in these folders; returns how many were not known as they are.

    Call it before, or in the transaction of, the rows that name them. Names that begin with a dot are unfinished files.
    """
    if not settings.FILE_STORE:
        return 0
    done = 0
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for paths in batches_of(_BATCH, (path for relative in relatives for path in _files_of(relative))):
            changed = list(pool.map(_digested, _not_known(paths)))
            _upload(pool, changed)
            _record(changed)
            done += len(changed)
            tell(done)
    sweep_copies_if_due()
    return done


def forget(*relatives: str) -> None:
    """The files, or the files in these folders, are deleted: in the transaction of the rows that named them, or after.

    What lies under MEDIA_ROOT here is the caller's to remove; other machines remove their copies by themselves.
    """
    if not settings.FILE_STORE:
        return
    for relative in relatives:
        with transaction.atomic():
            rows = _below(relative)
            _remember_forgotten(rows.values_list("path", "mtime_ns").iterator())
            rows.delete()


def fetch(relative: str) -> bool:
    """Have the file here as it was published; False where nothing of this name was.

    Raises
    ------
    FilesAway
        If the storage does not answer.
    FileRefused
        If it holds something else, or nothing.
    """
    known = _known([relative])
    for one in known.values():
        _bring(one)
    return bool(known)


def renew(relative: str) -> None:
    """Have the file here as it was published, where the copy is another one. What was never published stays."""
    for one in _known([relative]).values():
        if not _is_current(one):
            _bring(one)


def bring(*folders: str, tell: Tell = lambda _done: None, leave_refused: bool = False) -> int:
    """Have all published files of the folders here ("" for all there are); returns how many had to be fetched.

    What the storage has lost or damaged is a FileRefused, or, with `leave_refused`, is left out.
    """
    if not settings.FILE_STORE:
        return 0
    done = 0
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for folder in folders:
            _sweep(ForgottenFile.objects.filter(path__startswith=f"{folder}/" if folder else ""))
            for batch in batches_of(_BATCH, _published(_below(folder))):
                wanted = [one for one in batch if not _is_current(one)]
                done += sum(pool.map(_brought if leave_refused else _bring, wanted))
                tell(done)
    if done:
        os.sync()
    return done


def shared_folders() -> list[str]:
    """Folders of MEDIA_ROOT whose files other machines may need; uploads are published one by one."""
    found = (entry.name for entry in os.scandir(Path(settings.MEDIA_ROOT)) if entry.is_dir(follow_symlinks=False))
    return sorted(name for name in found if not name.startswith(".") and name not in {*LOCAL, "uploads"})


def published_below(folder: str) -> list[str]:
    """Paths of what was published in a folder, whether it is here or not."""
    return sorted(_below(folder).values_list("path", flat=True)) if settings.FILE_STORE else []


def damaged(*, sample: int | None = None) -> Iterator[tuple[str, FileRefused]]:
    """Files whose content in the storage is missing or another one; of `sample` files, or of all."""
    rows = StoredFile.objects.order_by("?")[:sample] if sample is not None else StoredFile.objects.order_by("path")
    for one in _published(rows):
        try:
            with _fetched(one):
                pass
        except FileRefused as error:
            yield one.path, error


def store_again() -> int:
    """Put what is missing in the storage there, as far as it is here: after a restore, the bucket may be a new one."""
    done = 0
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for batch in batches_of(_BATCH, _published(_below(""))):
            done += sum(pool.map(lambda one: not objects().has(one.sha256) and _put(one), batch))
    return done


def mend(path: str) -> bool:
    """Put a content that is damaged in the storage there again; False where it is not whole here, either."""
    return all(_put(one) for one in _known([path]).values())


def _put(one: Published) -> bool:
    path = local_path(one.path)
    if not path.is_file() or _digested(one.path).sha256 != one.sha256:
        return False
    objects().put(one.sha256, path)
    return True


def collect(*, grace: timedelta = GRACE) -> int:
    """Delete contents that no file has any more; returns how many.

    The row goes first, in a statement that sees whether somebody has named the content or begun to upload it since. Who
    begins now waits for this transaction, and uploads after it.
    """
    before, done = clock.now() - grace, 0
    ForgottenFile.objects.filter(forgotten_at__lt=clock.now() - _REMEMBERED).delete()
    named = Exists(StoredFile.objects.filter(content=OuterRef("pk")))
    for sha256 in list(StoredObject.objects.filter(~named, touched_at__lt=before).values_list("pk", flat=True)):
        with transaction.atomic():
            row = StoredObject.objects.filter(~named, pk=sha256, touched_at__lt=before)
            if row._raw_delete(row.db):  # one statement: delete() would look first
                objects().delete(sha256)
                done += 1
    return done


def forget_left(folder: str, *, older_than_s: float) -> None:
    """What waits in a folder for a job, and has waited too long; here, `storage.sweep` removes it."""
    if settings.FILE_STORE:
        before = time.time_ns() - round(older_than_s * 1e9)
        forget(*_below(folder).filter(mtime_ns__lt=before).values_list("path", flat=True))


def sweep_copies(*, since: datetime | None = None) -> int:
    """Remove copies of what was deleted or replaced elsewhere, and what killed processes left half fetched."""
    rows = ForgottenFile.objects.all()
    done = _sweep(rows if since is None else rows.filter(forgotten_at__gt=since))
    for left in local_path("fetching").glob("*"):
        if time.time() - left.stat().st_mtime > 24 * 3600:
            left.unlink(missing_ok=True)
    return done


def _sweep(rows: QuerySet[ForgottenFile]) -> int:
    done = 0
    for path, mtime_ns in rows.values_list("path", "mtime_ns").iterator():
        local = local_path(path)
        if _mtime_ns(local) == mtime_ns and not StoredFile.objects.filter(path=path, mtime_ns=mtime_ns).exists():
            local.unlink(missing_ok=True)
            done += 1
    return done


def sweep_copies_if_due() -> None:
    """For processes that talk with the storage anyhow, and for those that start."""
    if settings.FILE_STORE and time.monotonic() - _sweeps.began_at > _SWEEP_EVERY_S:
        _sweeps.began_at, since, _sweeps.since = time.monotonic(), _sweeps.since, clock.now() - _OVERLAP
        sweep_copies(since=since)


@dataclass
class _Sweeps:
    """Of this process."""

    began_at: float = -_SWEEP_EVERY_S
    since: datetime | None = None


_sweeps = _Sweeps()


def _files_of(relative: str) -> Iterator[str]:
    """A file itself, or the files in a folder; nothing that is unfinished."""
    if not relative or relative.split("/")[0] in LOCAL:
        raise ValueError(f"{relative!r} is not for other machines")
    root, start = Path(settings.MEDIA_ROOT).resolve(), local_path(relative)
    if start.is_file():
        yield start.relative_to(root).as_posix()
    for folder, folders, names in os.walk(start):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield (Path(folder) / name).relative_to(root).as_posix()


def _below(relative: str) -> QuerySet[StoredFile]:
    if not relative:
        return StoredFile.objects.all()
    return StoredFile.objects.filter(Q(path=relative) | Q(path__startswith=f"{relative.rstrip('/')}/"))


def _published(rows: QuerySet[StoredFile]) -> Iterator[Published]:
    columns = ("path", "content_id", "content__size", "mtime_ns")
    yield from (Published(*row) for row in rows.values_list(*columns).iterator())


def _known(paths: Sequence[str]) -> dict[str, Published]:
    return {one.path: one for one in _published(StoredFile.objects.filter(path__in=paths))}


def _not_known(paths: Sequence[str]) -> list[str]:
    known = _known(paths)
    return [path for path in paths if path not in known or not _is_current(known[path])]


def _is_current(one: Published) -> bool:
    try:
        status = local_path(one.path).stat()
    except OSError:
        return False
    return (status.st_mtime_ns, status.st_size) == (one.mtime_ns, one.size)


def _mtime_ns(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _digested(relative: str) -> Published:
    with local_path(relative).open("rb") as stream:
        status = os.fstat(stream.fileno())
        return Published(
            relative, hashlib.file_digest(stream, "sha256").hexdigest(), status.st_size, status.st_mtime_ns
        )


def _upload(pool: ThreadPoolExecutor, files: Sequence[Published]) -> None:
    """The rows first: what they say was touched just now is deleted by nobody."""
    now, sizes = clock.now(), {one.sha256: one for one in files}
    StoredObject.objects.bulk_create(
        [StoredObject(sha256=sha256, size=one.size, touched_at=now) for sha256, one in sorted(sizes.items())],
        update_conflicts=True,
        unique_fields=["sha256"],
        update_fields=["touched_at"],
    )
    for _ in pool.map(lambda one: objects().put(one.sha256, local_path(one.path)), sizes.values()):
        pass


def _record(files: Sequence[Published]) -> None:
    with transaction.atomic():
        before = _known([one.path for one in files])
        replaced = (
            (one.path, before[one.path].mtime_ns)
            for one in files
            if one.path in before and before[one.path].mtime_ns != one.mtime_ns
        )
        _remember_forgotten(replaced)
        StoredFile.objects.bulk_create(
            [StoredFile(path=one.path, content_id=one.sha256, mtime_ns=one.mtime_ns) for one in files],
            update_conflicts=True,
            unique_fields=["path"],
            update_fields=["content", "mtime_ns"],
        )


def _remember_forgotten(files: Iterable[tuple[str, int]]) -> None:
    now = clock.now()
    for batch in batches_of(_BATCH, files):
        ForgottenFile.objects.bulk_create(
            ForgottenFile(path=path, mtime_ns=mtime_ns, forgotten_at=now) for path, mtime_ns in batch
        )


class _fetched:  # noqa: N801
    """A content in a file of its own, compared with its digest; gone after the block unless it was renamed."""

    def __init__(self, one: Published) -> None:
        self._one = one
        self._path = local_path(f"fetching/{secrets.token_hex(8)}")

    def __enter__(self) -> Path:
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            found = objects().get(self._one.sha256, self._path)
        except FileRefused as error:
            self._path.unlink(missing_ok=True)
            raise FileRefused(self._told("is missing"), is_missing=True) from error
        except (FilesAway, OSError):
            self._path.unlink(missing_ok=True)
            raise
        if found != self._one.sha256:
            self._path.unlink(missing_ok=True)
            raise FileRefused(self._told("is damaged"))
        return self._path

    def __exit__(self, *_error: object) -> None:
        self._path.unlink(missing_ok=True)

    def _told(self, fault: str) -> str:
        return (
            f"The file {self._one.path} {fault} in FILE_STORE: restore it from the backup (restore --files), then "
            "store it again (files --check --mend)."
        )


def _bring(one: Published) -> bool:
    """Whole or not at all, whoever else brings the same."""
    with _fetched(one) as fetched:
        os.utime(fetched, ns=(one.mtime_ns, one.mtime_ns))
        path = local_path(one.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(fetched, path)
    return True


def _brought(one: Published) -> bool:
    try:
        return _bring(one)
    except FileRefused:
        return False
