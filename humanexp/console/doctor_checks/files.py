"""Files that the database knows by name and digest: are they there, and are they those?"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from humanexp.console.doctor_checks.questions import question
from humanexp.console.named_files import named_files
from humanexp.core import file_store
from humanexp.core.errors import FileRefused, FilesAway
from humanexp.core.objects import objects
from humanexp.core.problems import Problem, bad, good, missing, note
from humanexp.core.storage import current_path, wrong_folder
from humanexp.participation.monitoring import DamagedFile, damaged_files

#: Pictures of a kind that are drawn anew each time; of everything else each file is looked at.
SAMPLE = 200
#: Contents that are read from FILE_STORE.
STORED_SAMPLE = 20
#: Files that are named in the answer.
NAMED = 3


@question("Disk")
def disk() -> Problem:
    root = Path(settings.MEDIA_ROOT)
    free_gb = shutil.disk_usage(root).free / 1e9
    if not os.access(root, os.W_OK):
        return missing(f"{root} is not writable", "set MEDIA_ROOT")
    return (good if free_gb > 1 else note)(f"{root}, {free_gb:.0f} GB free")


@question("Storage")
def storage() -> Problem:
    if (problem := wrong_folder()) is not None:
        return problem
    if settings.FILE_STORE:
        return _file_store()
    return good("the files are those of this database")


def _file_store() -> Problem:
    if fault := objects().fault():
        remedy = "look at the address, the keys and the network; whoever needs a file waits meanwhile"
        return bad(fault, remedy)
    try:
        wrong = [path for path, _error in file_store.damaged(sample=STORED_SAMPLE)]
    except FilesAway as error:
        return bad(error.message)
    if wrong:
        return bad(
            f"of {STORED_SAMPLE} contents drawn from FILE_STORE, missing or damaged: {_named(wrong)}",
            "files --check tells of all; restore --files and files --check --mend bring them back",
        )
    return good("FILE_STORE answers, and what was drawn from it is whole")


@question("Files")
def files() -> Problem:
    looked_at, wrong = 0, []
    try:
        for relative, digest in named_files(sample=SAMPLE):
            looked_at += 1
            if (fault := _fault(relative, digest)) is not None:
                wrong.append((fault, relative))
    except FilesAway as error:
        return bad(error.message)
    if not wrong:
        return good(f"{looked_at} files are as the database knows them")
    counts = Counter(fault for fault, _relative in wrong)
    told = " and ".join(f"{count} {fault}" for fault, count in sorted(counts.items()))
    return bad(
        f"of {looked_at} files looked at, {told}: {_named([relative for _fault, relative in wrong])}",
        "restore them from the backup; verify_stimuli SET looks at all of a set",
    )


@question("Pictures not shown")
def damaged_pictures() -> Problem:
    """What people met: their trials take no answer until the file is the one that was made."""
    found = damaged_files()
    if not found:
        return good("none")
    sets = sorted({damaged.stimulus_set for damaged in found})
    return bad(
        f"{len(found)} that participants needed: {_named([_damage(damaged) for damaged in found])}",
        f"restore them from the backup, then verify_stimuli {' and '.join(sets)}; trials go on by themselves",
    )


def _damage(damaged: DamagedFile) -> str:
    fault = "missing" if damaged.is_missing else "altered"
    return f"{damaged.file} ({fault}, has stopped {damaged.sessions} sessions)"


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (" ..." if len(names) > NAMED else "")


def _fault(relative: str, digest: str) -> str | None:
    try:
        with current_path(relative).open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest() if digest else ""
    except OSError:
        return "missing"
    except FileRefused as error:
        return "missing" if error.is_missing else "altered"
    return None if found == digest else "altered"
