"""A frozen benchmark as an archive: the published set that `score --on` takes on another installation."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any

from analysis.labels.mapping import label_of_class
from analysis.sets.set_file import FILE, SetFile
from analysis.study.toml import to_toml
from humanexp.core.errors import Conflict
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import Benchmark, SearchRun
from humanexp.counterfactuals.services.benchmarks import MANIFEST, manifest_path
from humanexp.results.set_publication import (
    DIGESTS,
    PICTURES,
    TABLE,
    check_may_be_passed_on,
    digest_list,
    label_files,
    labels_of,
    plain_name,
    usual_terms,
)
from humanexp.stimuli.models import SourceImage

#: Archives larger than this go to the disk while they are made.
_IN_MEMORY = 16 * 2**20


def write_archive(benchmark: Benchmark) -> IO[bytes]:
    """``set.toml`` with the pictures in a folder for each label, their originals, and the manifest of the search.

    Refused when a file is not the one that was frozen, or the originals may not be passed on.
    """
    run = benchmark.run
    check_may_be_passed_on(run.source_set)
    content = manifest_path(run).read_bytes()
    if hashlib.sha256(content).hexdigest() != benchmark.manifest_sha256:
        raise Conflict(f"The manifest of {benchmark} was changed: restore it from the backup of MEDIA_ROOT.")
    kept = json.loads(content)["pictures"]
    digests = {f"{told['category']}/{told['key']}.png": told["sha256"] for told in kept}
    table = _table(run, kept)
    with ExitStack() as until_whole:
        archive: IO[bytes] = until_whole.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY))
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
            packed.writestr(MANIFEST, content)
            for (name, digest), told in zip(digests.items(), kept, strict=True):
                file = f"{run.folder}/pictures/{told['key']}.png"
                picture = media_path(file).read_bytes()
                if hashlib.sha256(picture).hexdigest() != digest:
                    raise Conflict(f"{file} of {benchmark} was changed: restore it from the backup of MEDIA_ROOT.")
                packed.writestr(f"{PICTURES}/{name}", picture)
                original = f"originals/{told['key']}.png"
                packed.writestr(original, media_path(f"{run.folder}/{original}").read_bytes())
            if table:
                packed.writestr(f"{PICTURES}/{TABLE}", table)
                digests[TABLE] = hashlib.sha256(table).hexdigest()
            packed.writestr(DIGESTS, digest_list(digests))
            for name, text in label_files(run.source_set.space).items():
                packed.writestr(name, text)
            packed.writestr(FILE, to_toml(_stated(benchmark, has_table=bool(table))))
        archive.seek(0)
        until_whole.pop_all()  # the response closes it
    return archive


def _stated(benchmark: Benchmark, *, has_table: bool) -> dict[str, object]:
    """The settings of ``set.toml``; what is not known is left out."""
    run = benchmark.run
    terms = usual_terms([run.source_set])
    about = {
        "name": plain_name(f"{benchmark.name}-benchmark"),
        "version": terms.version,
        "title": f"Counterfactuals of {run.source_set.name} made against {run.model_name}",
        "citation": terms.citation,
        "licence": terms.licence,
        "use": terms.use,
        "labels": labels_of(run.source_set.space),
    }
    stated: dict[str, object] = {
        **{name: value for name, value in about.items() if value},
        "pictures": {
            "path": PICTURES,
            "digests": DIGESTS,
            **({"table": TABLE} if has_table else {}),
            "size_px": run.size_px,
        },
    }
    SetFile.from_dict(stated)
    return stated


def _table(run: SearchRun, kept: Sequence[Mapping[str, Any]]) -> bytes:
    """What folders cannot say: classes of ImageNet, and other right answers; empty where there is neither."""
    keys = [told["key"] for told in kept]
    images = {one.key: one for one in run.source_set.images.filter(key__in=keys)}
    columns = [name for name in ("accepted", "competing") if any(getattr(one, name) for one in images.values())]
    if not columns and not any(one.wnid for one in images.values()):
        return b""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["path", "category", *columns])
    for told in kept:
        image = images[told["key"]]
        says = {"accepted": " ".join(image.accepted) or image.category, "competing": image.competing}
        row = [f"{told['category']}/{told['key']}.png", _written(image, run)]
        writer.writerow([*row, *(says[name] for name in columns)])
    return text.getvalue().encode()


def _written(image: SourceImage, run: SearchRun) -> str:
    """Its class of ImageNet, if that alone tells its label, too."""
    is_read_back = image.wnid and label_of_class(image.wnid, run.source_set.space) == image.category
    return image.wnid if is_read_back else image.category
