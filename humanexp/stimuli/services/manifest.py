"""The manifest of a complete stimulus set: a Parquet file beside the stimuli, with the digest of every file."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import TableRefused
from analysis.generation.files import UNFINISHED, told_as_sentence
from analysis.tables.schema import guard
from analysis.tables.stimuli import STIMULI
from humanexp.core.storage import current_path, media_path
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.sets import manifest_rows


@dataclass(frozen=True)
class ManifestFindings:
    """How manifest, rows and folder of a set agree; sentences say how they do not."""

    rows: int
    problems: tuple[str, ...]


def manifest_path(stimulus_set: StimulusSet) -> Path:
    return media_path(f"stimuli/{stimulus_set.name}/manifest.parquet")


def write_manifest(stimulus_set: StimulusSet) -> str:
    """Write the manifest whole or not at all; returns its digest. The same rows give the same bytes."""
    path = manifest_path(stimulus_set)
    unfinished = path.parent / UNFINISHED / path.name
    with told_as_sentence(path):
        try:
            unfinished.parent.mkdir(parents=True, exist_ok=True)
            STIMULI.write_rows(manifest_rows(stimulus_set), unfinished)
            with unfinished.open("rb+") as file:
                os.fsync(file.fileno())
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            os.replace(unfinished, path)
        finally:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
                unfinished.parent.rmdir()
    return sha256


def check_manifest(stimulus_set: StimulusSet) -> ManifestFindings:
    """Compare the manifest with its digest and, row by row, with the database."""
    path = current_path(f"stimuli/{stimulus_set.name}/manifest.parquet")
    if not path.is_file():
        return ManifestFindings(0, ("the manifest is missing",))
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    problems = [] if sha256 == stimulus_set.manifest_sha256 else ["the manifest is not the one that was written"]
    n_rows = n_different = 0
    first = ""
    try:
        for written, stored in itertools.zip_longest(STIMULI.read_rows(path), manifest_rows(stimulus_set)):
            n_rows += written is not None
            if written != stored:
                n_different += 1
                first = first or str((written or stored or {}).get("stimulus", ""))
    except TableRefused as error:
        return ManifestFindings(n_rows, (*problems, str(error)))
    if n_different:
        problems.append(f"{n_different} rows of manifest and database differ, the first of them {first}")
    return ManifestFindings(n_rows, tuple(problems))


class _Line:
    """What the csv writer writes to: it hands each line on instead of keeping it."""

    def write(self, text: str) -> str:
        return text


def manifest_lines(stimulus_set: StimulusSet) -> Iterator[str]:
    """The stimuli of a set as CSV, line by line, columns of the STIMULI schema."""
    writer = csv.DictWriter(_Line(), STIMULI.names, lineterminator="\n")
    yield str(writer.writeheader())
    for row in manifest_rows(stimulus_set):
        yield str(writer.writerow({name: guard(cell) if isinstance(cell, str) else cell for name, cell in row.items()}))
