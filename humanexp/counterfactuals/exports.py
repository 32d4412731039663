"""A frozen benchmark as one archive, made from files whose digests are in its manifest."""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from typing import IO

from humanexp.core.errors import Conflict
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import Benchmark
from humanexp.counterfactuals.services.freezing import MANIFEST, manifest_path

#: Archives larger than this go to the disk while they are made.
_IN_MEMORY = 16 * 2**20


def write_archive(benchmark: Benchmark) -> IO[bytes]:
    """Manifest, pictures and originals; refused when a file is not the one that was frozen."""
    run = benchmark.run
    content = manifest_path(run).read_bytes()
    if hashlib.sha256(content).hexdigest() != benchmark.manifest_sha256:
        raise Conflict(f"The manifest of {benchmark} was changed: restore it from the backup of MEDIA_ROOT.")
    archive: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  the response closes it
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        packed.writestr(MANIFEST, content)
        for told in json.loads(content)["pictures"]:
            picture = media_path(f"{run.folder}/{told['file']}").read_bytes()
            if hashlib.sha256(picture).hexdigest() != told["sha256"]:
                raise Conflict(f"{told['file']} of {benchmark} was changed: restore it from the backup of MEDIA_ROOT.")
            packed.writestr(told["file"], picture)
            original = f"originals/{told['key']}.png"
            packed.writestr(original, media_path(f"{run.folder}/{original}").read_bytes())
    archive.seek(0)
    return archive
