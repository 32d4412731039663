"""A search frozen as a benchmark: its manifest, its stimulus set, and the archive of its files."""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from django.db import transaction

from humanexp.core import file_store, ownership
from humanexp.core.errors import Conflict
from humanexp.core.models import User, record
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path, write_whole
from humanexp.counterfactuals.models import Benchmark, SearchRun
from humanexp.counterfactuals.selectors.searches import caveats_of, records_of
from humanexp.counterfactuals.services.rounds import picture_set
from humanexp.jobs.registry import Progress, silent
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.services.generation import SIZES_PX

MANIFEST = "manifest.json"
#: Archives larger than this go to the disk while they are made.
_IN_MEMORY = 16 * 2**20


def freeze(*, run: SearchRun, by: User | None = None) -> Benchmark:
    """Freeze the kept pictures of a finished search with a manifest that holds the digest of every file."""
    ownership.check(by, Right.CHANGE, run)
    if run.completed_at is None:
        raise Conflict(f"The search {run} is not finished yet: let it come to its end first.")
    existing = Benchmark.objects.filter(run=run).first()
    if existing is not None:
        return existing
    kept = [record for record in records_of(run) if record.sha256]
    if not kept:
        raise Conflict(f"The oracle accepted no picture of {run}: there is nothing to freeze.")
    content = json.dumps(_manifest(run, [asdict(record) for record in kept]), indent=1, sort_keys=True).encode()
    write_whole(manifest_path(run), content)
    file_store.publish(f"{run.folder}/{MANIFEST}")
    digest = hashlib.sha256(content).hexdigest()
    with transaction.atomic():
        record(action="freeze-search", subject=f"search:{run.name}", by=by, pictures=len(kept))
        return Benchmark.objects.create(name=run.name, run=run, manifest_sha256=digest, count=len(kept), frozen_by=by)


def as_stimuli(*, benchmark: Benchmark, progress: Progress = silent) -> StimulusSet:
    """The frozen pictures as a stimulus set for human trials; the same again gives the same set."""
    if benchmark.stimulus_set is not None:
        return benchmark.stimulus_set
    run = benchmark.run
    if run.size_px not in SIZES_PX:
        raise Conflict(
            f"The pictures of {run} are {run.size_px} px wide; people are shown {SIZES_PX.start} px or more. Search "
            "again in a larger size."
        )
    files = {one.source_image.key: one.kept_file for one in run.counterfactuals.select_related("source_image", "run")
             if one.sha256}  # fmt: skip
    made, _names = picture_set(run, f"{benchmark.name}-benchmark", files, step=run.budget, progress=progress)
    benchmark.stimulus_set = made
    benchmark.save(update_fields=["stimulus_set"])
    return made


def manifest_path(run: SearchRun) -> Path:
    return media_path(f"{run.folder}/{MANIFEST}")


def _manifest(run: SearchRun, pictures: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": run.name,
        "source_set": run.source_set.name,
        "classifier": run.classifier,
        "generator": run.generator,
        "oracle": run.oracle,
        "digests": run.digests,
        "budget": run.budget,
        "size_px": run.size_px,
        "seed": run.seed,
        "greyscale": run.greyscale,
        "fgsm": run.fgsm,
        "scores": run.scores,
        "caveats": caveats_of(run),
        "pictures": [{**picture, "file": f"pictures/{picture['key']}.png"} for picture in pictures],
    }


def write_archive(benchmark: Benchmark) -> IO[bytes]:
    """Manifest, pictures and originals; refused when a file is not the one that was frozen."""
    run = benchmark.run
    content = manifest_path(run).read_bytes()
    if hashlib.sha256(content).hexdigest() != benchmark.manifest_sha256:
        raise Conflict(f"The manifest of {benchmark} was changed: restore it from the backup of MEDIA_ROOT.")
    with ExitStack() as until_whole:
        archive: IO[bytes] = until_whole.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY))
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
            packed.writestr(MANIFEST, content)
            for told in json.loads(content)["pictures"]:
                picture = media_path(f"{run.folder}/{told['file']}").read_bytes()
                if hashlib.sha256(picture).hexdigest() != told["sha256"]:
                    raise Conflict(
                        f"{told['file']} of {benchmark} was changed: restore it from the backup of MEDIA_ROOT."
                    )
                packed.writestr(told["file"], picture)
                original = f"originals/{told['key']}.png"
                packed.writestr(original, media_path(f"{run.folder}/{original}").read_bytes())
        archive.seek(0)
        until_whole.pop_all()  # the response closes it
    return archive
