"""Files that the database knows by name and digest: are they there, and are they those?"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings

from humanexp.console.doctor_checks.finding import Finding, question
from humanexp.core import storage_mark
from humanexp.core.storage import media_path
from humanexp.evaluations.models import EvaluationRun
from humanexp.participation.selectors.faults import DamagedFile, damaged_files
from humanexp.results.models import AnalysisRun, TrialImport
from humanexp.stimuli.models import SourceImage, Stimulus
from humanexp.studies.models import Study

#: Pictures of a kind that are drawn anew each time; of everything else each file is looked at.
SAMPLE = 200
#: Files that are named in the answer.
NAMED = 3


@question("Disk")
def disk() -> Finding:
    root = Path(settings.MEDIA_ROOT)
    free_gb = shutil.disk_usage(root).free / 1e9
    if not os.access(root, os.W_OK):
        return Finding(subject="Disk", state="missing", detail=f"{root} is not writable", remedy="set MEDIA_ROOT")
    return Finding(subject="Disk", state="ok" if free_gb > 1 else "note", detail=f"{root}, {free_gb:.0f} GB free")


@question("Storage")
def storage() -> Finding:
    if fault := storage_mark.fault():
        return Finding(
            subject="Storage",
            state="fault",
            detail=fault,
            remedy="mount the right folder as MEDIA_ROOT, or restore it from the backup",
        )
    return Finding(subject="Storage", state="ok", detail="the files are those of this database")


@question("Files")
def files() -> Finding:
    looked_at, wrong = 0, []
    for relative, digest in _expected():
        looked_at += 1
        if (fault := _fault(relative, digest)) is not None:
            wrong.append((fault, relative))
    if not wrong:
        return Finding(subject="Files", state="ok", detail=f"{looked_at} files are as the database knows them")
    counts = Counter(fault for fault, _relative in wrong)
    told = " and ".join(f"{count} {fault}" for fault, count in sorted(counts.items()))
    return Finding(
        subject="Files",
        state="fault",
        detail=f"of {looked_at} files looked at, {told}: {_named([relative for _fault, relative in wrong])}",
        remedy="restore them from the backup; verify_stimuli SET looks at all of a set",
    )


@question("Pictures not shown")
def damaged_pictures() -> Finding:
    """What people met: their trials take no answer until the file is the one that was made."""
    found = damaged_files()
    if not found:
        return Finding(subject="Pictures not shown", state="ok", detail="none")
    sets = sorted({damaged.stimulus_set for damaged in found})
    return Finding(
        subject="Pictures not shown",
        state="fault",
        detail=f"{len(found)} that participants needed: {_named([_damage(damaged) for damaged in found])}",
        remedy=f"restore them from the backup, then verify_stimuli {' and '.join(sets)}; trials go on by themselves",
    )


def _damage(damaged: DamagedFile) -> str:
    fault = "missing" if damaged.is_missing else "altered"
    return f"{damaged.file} ({fault}, has stopped {damaged.sessions} sessions)"


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (" ..." if len(names) > NAMED else "")


def _expected() -> Iterator[tuple[str, str]]:
    """(path under MEDIA_ROOT, SHA-256; empty where none is stored)."""
    for pictures in (SourceImage.objects.all(), Stimulus.objects.exclude(stimulus_set__completed_at=None)):
        yield from pictures.order_by("?").values_list("file", "sha256")[:SAMPLE]
    yield from Study.objects.exclude(plan_file="").values_list("plan_file", "plan_digest")
    runs = EvaluationRun.objects.exclude(predictions_file="")
    yield from runs.values_list("predictions_file", "predictions_sha256")
    for file in AnalysisRun.objects.values_list("findings_file", flat=True):
        yield file, ""
    for file in TrialImport.objects.values_list("trials_file", flat=True):
        yield file, ""


def _fault(relative: str, digest: str) -> str | None:
    try:
        with media_path(relative).open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest() if digest else ""
    except OSError:
        return "missing"
    return None if found == digest else "altered"
