"""Pictures of published experiments: taken over as they are, as a complete set that models can be asked about."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from django.db import transaction

from analysis.generation.files import encode_png
from analysis.generation.originals import MAXIMUM_BYTES, pixel_digest, prepare_original, read_picture
from analysis.generation.shards import METRIC_NAME
from analysis.visual_change.vif import VifReference
from humanexp.core import file_store, ownership
from humanexp.core.errors import InputRefused
from humanexp.core.models import User
from humanexp.core.names import check_new_name
from humanexp.core.storage import media_path
from humanexp.stimuli.models import Framing, Sampling, SourceImage, SourceSet, StimulusSet
from humanexp.stimuli.selectors.sets import NOT_MEASURED
from humanexp.stimuli.services.generated_sets import close_folder, open_folder
from humanexp.stimuli.services.generation import complete_stimulus_set, store_stimuli
from humanexp.stimuli.services.imports import check_new_set_name
from humanexp.stimuli.services.label_sets import label_set_named
from humanexp.stimuli.services.sources import freeze_source_set
from humanexp.stimuli.sources import ArchiveSource, FolderSource, PictureSource, is_archive

_COPIED_AT_ONCE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Adopted:
    """A picture to be taken over.

    Attributes
    ----------
    name : str
        Of the picture: unique.
    original, category : str
    file : str
        Its path within the source.
    original_file : str
        Path of its original within the source of originals; empty where there is none.
    accepted, competing, wnid, factors
        As of `humanexp.stimuli.models.SourceImage`.
    """

    name: str
    original: str
    category: str
    file: str
    original_file: str = ""
    accepted: tuple[str, ...] = ()
    competing: str = ""
    wnid: str = ""
    factors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Adoption:
    """What is said of pictures that are taken over.

    Attributes
    ----------
    labels : str
        What they are called; empty: the product's default.
    size_px : int
        Side at which all are shown, framed where they have another; 0: they are squares of one size already.
    provenance, licence : str
    document, digest : str
        Of a published set (`analysis.sets.set_file.PublishedSet`).
    factors : mapping of str to mapping of str to str
        What a table says of pictures, by their paths within the source.
    """

    labels: str = ""
    size_px: int = 0
    provenance: str = ""
    licence: str = ""
    document: str = ""
    digest: str = ""
    factors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


#: Pictures of which no more is known than their names, in the product's labels.
UNDESCRIBED = Adoption()


def open_pictures(path: Path) -> PictureSource:
    """A folder, or a zip archive."""
    return ArchiveSource(path) if path.is_file() and is_archive(path) else FolderSource(path)


def adopt_pictures(
    *,
    name: str,
    experiment: str,
    pictures: Sequence[Adopted],
    source: PictureSource,
    originals: PictureSource | None = None,
    about: Adoption = UNDESCRIBED,
    by: User | None = None,
) -> tuple[StimulusSet, dict[str, str]]:
    """A complete stimulus set of these pictures in this order, and the key of each by its name; all or nothing.

    Pixels stay as they are, unless a size is given that they do not have; colour profiles are left out of account, for
    people were shown the numbers. With originals, the visual change of every picture is measured, and the experiment
    counts as its corruption function.
    """
    check_new_set_name(name)
    check_new_name(name, taken=StimulusSet.objects.filter(name=name).exists(), what="stimulus set")
    folder, beside = f"stimuli/{name}", f"originals/{name}"
    pictures = [replace(one, factors=about.factors.get(one.file, one.factors)) for one in pictures]
    try:
        open_folder(media_path(folder))
        rows, size_px = _written(pictures, source, originals, folder, beside, about.size_px)
        close_folder(media_path(folder))
        file_store.publish(beside)
        with transaction.atomic():
            about = replace(about, size_px=size_px, provenance=about.provenance or source.title)
            made = _recorded(name, experiment, rows, about, has_originals=originals is not None, by=by)
            complete_stimulus_set(stimulus_set=made)
    except BaseException:
        for left in (folder, beside):
            shutil.rmtree(media_path(left), ignore_errors=True)
            file_store.forget(left)
        raise
    return made, {row["name"]: row["stimulus"] for row in rows}


def _written(
    pictures: Sequence[Adopted], source: PictureSource, originals: PictureSource | None, folder: str, beside: str,
    wanted_px: int,
) -> tuple[list[dict[str, Any]], int]:  # fmt: skip
    """Files of all pictures, a row each, and their common side in pixels."""
    rows: list[dict[str, Any]] = []
    references: dict[str, VifReference] = {}
    kept: dict[str, tuple[str, str]] = {}
    size_px = wanted_px
    with closing(source), closing(originals or source), _scratch(folder) as scratch:
        for number, one in enumerate(pictures, start=1):
            copied = _copied(source, one.file, scratch)
            picture = read_picture(copied, colours="stored")
            pixels = pixel_digest(picture)
            if wanted_px and picture.shape[:2] != (wanted_px, wanted_px):
                picture = prepare_original(copied, wanted_px, colours="stored")
            height, width = picture.shape[:2]
            size_px = size_px or height
            if not height == width == size_px:
                raise InputRefused(
                    f"{one.file}: {width} x {height} px. All pictures of an experiment must be squares of one size, "
                    f"here {size_px} px."
                )
            png = encode_png(picture)
            key = f"{number:06d}"
            media_path(f"{folder}/{key}.png").write_bytes(png)
            row = {
                **_row(one, key, hashlib.sha256(png).hexdigest(), pixels),
                "source": (f"{folder}/{key}.png", hashlib.sha256(png).hexdigest()),
            }
            if originals is not None:
                if one.original_file not in references:
                    clean = prepare_original(_copied(originals, one.original_file, scratch), size_px, colours="stored")
                    references[one.original_file] = VifReference(clean)
                    kept[one.original_file] = _kept(clean, f"{beside}/{len(kept) + 1:06d}.png")
                change = max(0.0, 1.0 - references[one.original_file].vif(picture))
                row |= {"visual_change": min(1.0, change), "source": kept[one.original_file]}
            rows.append(row)
    return rows, size_px


def _kept(clean: Any, relative: str) -> tuple[str, str]:
    content = encode_png(clean)
    media_path(relative).parent.mkdir(parents=True, exist_ok=True)
    media_path(relative).write_bytes(content)
    return relative, hashlib.sha256(content).hexdigest()


@contextmanager
def _scratch(folder: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=media_path(folder)) as name:
        yield Path(name)


def _copied(source: PictureSource, name: str, scratch: Path) -> Path:
    """The file under its own last name, so that refusals say which it is."""
    path = scratch / Path(name).name
    size = 0
    with source.open(name) as stream, path.open("wb") as copy:
        while block := stream.read(_COPIED_AT_ONCE):
            size += len(block)
            if size > MAXIMUM_BYTES:
                raise InputRefused(f"{name}: over {MAXIMUM_BYTES // 10**6} MB; save the picture smaller.")
            copy.write(block)
    return path


def _row(one: Adopted, key: str, sha256: str, pixels: str) -> dict[str, Any]:
    return {
        "name": one.name,
        "stimulus": key,
        "original": one.original,
        "category": one.category,
        "about": {
            "accepted": list(one.accepted),
            "competing": one.competing,
            "wnid": one.wnid,
            "factors": dict(one.factors),
            "pixel_sha256": pixels,
        },
        "corruption": "none",
        "corruption_version": "",
        "parameter": 0.0,
        "seed": 0,
        "target": None,
        "visual_change": 0.0,
        "evaluations": 0,
        "reached": True,
        "sha256": sha256,
        "file": f"{key}.png",
    }


def _recorded(
    name: str, experiment: str, rows: list[dict[str, Any]], about: Adoption, *, has_originals: bool, by: User | None
) -> StimulusSet:
    source_set = SourceSet.objects.create(
        name=name,
        labels=label_set_named(about.labels, by=by),
        provenance=about.provenance,
        licence=about.licence,
        set_document=about.document,
        set_digest=about.digest,
        lab_id=ownership.lab_of(by),
        created_by=by,
    )
    images = _images(rows)
    SourceImage.objects.bulk_create([SourceImage(source_set=source_set, **one) for one in images.values()])
    freeze_source_set(source_set=source_set)
    made = StimulusSet.objects.create(
        name=name,
        source_set=source_set,
        corruptions=[experiment[:40]] if has_originals else [],
        sampling=Sampling.IMPORTED,
        framing=Framing.WHOLE,
        count_per_corruption=0,
        size_px=about.size_px,
        metric=METRIC_NAME if has_originals else NOT_MEASURED,
        lab_id=source_set.lab_id,
        created_by=by,
    )
    corruption = {"corruption": experiment[:40]} if has_originals else {}
    stored = [{**row, **corruption, "original": images[row["source"][1]]["key"]} for row in rows]
    store_stimuli(stimulus_set=made, folder=f"stimuli/{name}", rows=stored)
    return made


def _images(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """One source image for each different content; two originals of one content share it."""
    images: dict[str, dict[str, Any]] = {}
    names: set[str] = set()
    for row in rows:
        file, sha256 = row["source"]
        if sha256 in images:
            continue
        key = row["original"] if row["original"] not in names else row["name"]
        names.add(key)
        content = {"category": row["category"], "file": file, "sha256": sha256}
        images[sha256] = {"key": key[:200], **content, **row["about"]}
    return images
