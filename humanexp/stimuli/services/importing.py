from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.validators import validate_slug
from django.db import transaction

from humanexp.core.errors import InputRefused, InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.source_files import LabelledFile, find_files

if TYPE_CHECKING:
    from analysis.generation import Inspection

_FILES_PER_CALL = 32
_REFUSALS_TOLD = 8


@dataclass(frozen=True)
class ImportReport:
    """What an import did: nothing is left out without being told."""

    source_set: SourceSet
    n_images: int
    per_category: dict[str, int]
    #: (left out, kept): two files with the same bytes
    duplicates: list[tuple[str, str]]
    ignored: list[str]


def import_images(
    *, source: Path, name: str, provenance: str = "", licence: str = "", by: User | None = None
) -> ImportReport:
    """Copy labelled pictures into a new source set. One bad file refuses the whole folder, and nothing is written."""
    check_new_name(name, taken=SourceSet.objects.filter(name=name).exists(), what="set of pictures")
    found = find_files(source)
    inspections = _inspect([file.path for file in found.files])
    refusals = [inspection.refusal for inspection in inspections if inspection.refusal]
    if refusals:
        raise InputRefused(_refusal_text(refusals, len(inspections)))
    kept, duplicates = _without_duplicates(found.files, inspections)
    source_set = _write(name, kept, provenance=provenance or str(source), licence=licence, by=by)
    return ImportReport(
        source_set=source_set,
        n_images=len(kept),
        per_category=dict(sorted(Counter(file.category for file, _ in kept).items())),
        duplicates=duplicates,
        ignored=found.ignored,
    )


def check_new_name(name: str, *, taken: bool, what: str) -> None:
    """A name is a slug that nothing of its kind has."""
    if not re.fullmatch(validate_slug.regex, name) or len(name) > 80:
        raise InvalidRequest(
            f"{name!r} cannot be a name: use up to 80 letters, digits, hyphens and underscores.",
            fields={"name": "letters, digits, hyphens and underscores"},
        )
    if taken:
        raise InvalidRequest(
            f"There is already a {what} named {name!r}: choose another name.", fields={"name": "this name is taken"}
        )


def _inspect(paths: list[Path]) -> list[Inspection]:
    from analysis.compute import executor
    from analysis.generation import inspect_originals

    # A cluster may not see the folder that is imported; a handful of files is not worth starting processes.
    is_local_pool = settings.COMPUTE.startswith("processes") and len(paths) > 200
    calls = [list(map(str, paths[start : start + _FILES_PER_CALL])) for start in range(0, len(paths), _FILES_PER_CALL)]
    with executor(settings.COMPUTE if is_local_pool else "serial") as pool:
        return [inspection for inspections in pool.map(inspect_originals, calls) for inspection in inspections]


def _refusal_text(refusals: Sequence[str], total: int) -> str:
    lines = [f"{len(refusals)} of {total} pictures cannot be used; nothing was imported."]
    lines += refusals[:_REFUSALS_TOLD]
    if len(refusals) > _REFUSALS_TOLD:
        lines.append(f"and {len(refusals) - _REFUSALS_TOLD} more")
    return "\n".join(lines)


def _without_duplicates(
    files: Sequence[LabelledFile], inspections: Sequence[Inspection]
) -> tuple[list[tuple[LabelledFile, Inspection]], list[tuple[str, str]]]:
    """Each content once. The same picture under two categories is a contradiction that only a person can solve."""
    first: dict[str, LabelledFile] = {}
    kept, duplicates = [], []
    for file, inspection in zip(files, inspections, strict=True):
        same = first.setdefault(inspection.sha256, file)
        if same is file:
            kept.append((file, inspection))
        elif same.category != file.category:
            raise InputRefused(
                f"{file.path} ({file.category}) and {same.path} ({same.category}) are the same picture under two "
                "categories; nothing was imported. Remove one of them."
            )
        else:
            duplicates.append((str(file.path), str(same.path)))
    return kept, duplicates


def _write(
    name: str, kept: Sequence[tuple[LabelledFile, Inspection]], *, provenance: str, licence: str, by: User | None
) -> SourceSet:
    """Files first, in a folder of their own; then the rows. Whatever fails, neither half stays alone."""
    folder = media_path(f"originals/{name}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=folder.parent))
    try:
        images = [
            SourceImage(
                key=key,
                category=file.category,
                file=f"originals/{name}/{_copy(file, inspection, unfinished)}",
                sha256=inspection.sha256,
                width_px=inspection.width_px,
                height_px=inspection.height_px,
            )
            for key, (file, inspection) in zip(_keys([file for file, _ in kept]), kept, strict=True)
        ]
        with transaction.atomic():
            source_set = SourceSet.objects.create(name=name, provenance=provenance, licence=licence, created_by=by)
            for image in images:
                image.source_set = source_set
            SourceImage.objects.bulk_create(images, batch_size=500)
            # Nothing in the database names this folder, or the name would be taken: it is left from a lost import.
            shutil.rmtree(folder, ignore_errors=True)
            unfinished.chmod(0o755)
            unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return source_set


def _copy(file: LabelledFile, inspection: Inspection, folder: Path) -> str:
    content = file.path.read_bytes()
    if hashlib.sha256(content).hexdigest() != inspection.sha256:
        raise InputRefused(f"{file.path}: the file changed while it was imported; nothing was imported. Try again.")
    relative = f"{file.category}/{inspection.sha256[:24]}{file.path.suffix.lower()}"
    path = folder / relative
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return relative


def _keys(files: Sequence[LabelledFile]) -> list[str]:
    """Names of originals in every table: category and file name, numbered where they would be equal."""
    keys: list[str] = []
    seen: Counter[str] = Counter()
    for file in files:
        stem = re.sub(r"[^\w.-]+", "_", file.path.stem)[:150]
        key = stem if stem.startswith(f"{file.category}-") else f"{file.category}-{stem}"
        seen[key] += 1
        while seen[key] > 1:
            key = f"{key}-{seen[key]}"
            seen[key] += 1
        keys.append(key)
    return keys
