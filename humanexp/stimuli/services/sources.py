"""Sets of pictures: described, rated, frozen and deleted, and what an import into one keeps, leaves out and refuses."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from django.db import transaction

from analysis.file_names import composed
from analysis.generation.originals import Inspection
from analysis.generation.resemblance import resembling
from humanexp.core import clock, file_store, ownership
from humanexp.core.batches import batches_of
from humanexp.core.errors import Conflict, InputRefused, InvalidRequest, SetFrozen
from humanexp.core.models import User, record
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.sources import FoundFiles, LabelledFile, readable

_BATCH = 500
MOST_PROVENANCE = 5000


@dataclass(frozen=True)
class Rating:
    """What classifiers said about one clean picture."""

    image_id: int
    agreeing: int
    smallest_probability: float


def check_notes(provenance: str, licence: str) -> None:
    """Refuse notes on pictures that are too long to be stored."""
    if len(provenance) > MOST_PROVENANCE or len(licence) > 200:
        raise InvalidRequest(f"At most {MOST_PROVENANCE} characters on where pictures come from, 200 on the licence.")


@transaction.atomic
def freeze_source_set(*, source_set: SourceSet, by: User | None = None) -> SourceSet:
    """From now on neither its pictures nor its notes change; there is no way back."""
    locked = _locked(source_set)
    if not locked.is_frozen:
        ownership.check(by, Right.CHANGE, locked)
        if not locked.images.exists():
            raise InvalidRequest(f"The set of pictures {locked} is empty: there is nothing to freeze.")
        locked.frozen_at = clock.now()
        locked.save(update_fields=["frozen_at"])
        record(action="freeze-pictures", subject=f"source set:{locked.name}", by=by)
    source_set.frozen_at = locked.frozen_at
    return source_set


@transaction.atomic
def describe_source_set(*, source_set: SourceSet, provenance: str, licence: str, by: User | None = None) -> SourceSet:
    """Note where the pictures come from and under which licence, until the set is frozen."""
    ownership.check(by, Right.CHANGE, source_set)
    check_notes(provenance, licence)
    locked = _locked(source_set)
    locked.provenance, locked.licence = provenance.strip(), licence.strip()
    locked.save(update_fields=["provenance", "licence"])
    record(action="describe-pictures", subject=f"source set:{locked.name}", by=by)
    source_set.provenance, source_set.licence = locked.provenance, locked.licence
    return source_set


def delete_source_set(*, source_set: SourceSet, by: User | None = None) -> None:
    """Remove a set that is neither frozen nor used, with its files."""
    ownership.check(by, Right.CHANGE, source_set)
    name = source_set.name
    with transaction.atomic():
        locked = _locked(source_set)
        used = locked.stimulus_sets.first()
        if used is not None:
            raise Conflict(f"The set of pictures {name} is used by the stimulus set {used}: delete that one first.")
        locked.delete()
        file_store.forget(f"originals/{name}")
        record(action="delete-pictures", subject=f"source set:{name}", by=by)
    # The name is free only now: a folder without rows is swept by the next import of that name.
    shutil.rmtree(media_path(f"originals/{name}"), ignore_errors=True)
    shutil.rmtree(media_path(f"thumbnails/{name}"), ignore_errors=True)


@transaction.atomic
def store_ratings(*, source_set: SourceSet, classifiers: Sequence[str], ratings: Iterable[Rating]) -> SourceSet:
    """Store how many classifiers named each picture right; earlier ratings are written over.

    Ratings are facts about pictures, not a part of them: a frozen set takes them. They end with the first session of a
    study that uses the set, because its golds were chosen by them.
    """
    locked = _locked(source_set)
    check_ratings_open(locked)
    images = (
        SourceImage(
            pk=rating.image_id,
            classifiers_asked=len(classifiers),
            classifiers_agreeing=rating.agreeing,
            smallest_probability=rating.smallest_probability,
        )
        for rating in ratings
    )
    for batch in batches_of(_BATCH, images):
        locked.images.bulk_update(batch, ["classifiers_asked", "classifiers_agreeing", "smallest_probability"])
    locked.gold_classifiers = list(classifiers)
    locked.save(update_fields=["gold_classifiers"])
    source_set.gold_classifiers = locked.gold_classifiers
    return source_set


def check_ratings_open(source_set: SourceSet) -> None:
    """Refuse new ratings once somebody has taken part in a study that uses the set."""
    used = source_set.stimulus_sets.filter(studies__frozen_at__isnull=False).first()
    if used is not None:
        raise SetFrozen(
            f"The pictures of {source_set} are shown in a study that has begun (stimulus set {used}): its gold "
            "pictures were chosen by the present ratings. Import the pictures under another name to rate them again."
        )


def _locked(source_set: SourceSet) -> SourceSet:
    return SourceSet.objects.select_for_update().get(pk=source_set.pk)


_REFUSALS_TOLD = 8
#: Entries of each kind that are stored with the set, beside their number.
_STORED = 200


@dataclass(frozen=True)
class ImportReport:
    """What an import did: nothing is left out without being told."""

    source_set: SourceSet
    n_images: int
    per_category: dict[str, int]
    #: (left out, kept): two files with the same bytes, or the same pixels
    duplicates: list[tuple[str, str]]
    ignored: list[str]
    #: (later, earlier): kept both, though they look the same
    alike: list[tuple[str, str]]
    #: pictures that were left out because they cannot be used; only where the caller asked for that
    unusable: list[str] = field(default_factory=list)
    #: what the source wrote, what it was read as, and of how many pictures
    read: list[tuple[str, str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Incoming:
    """A file of the source, and its copy."""

    file: LabelledFile
    path: Path
    #: why it could not be read
    refusal: str = ""


@dataclass(frozen=True, kw_only=True)
class ImportOrder:
    """What a form or a command asks of an import, and a job hands on: checked once, when it is made."""

    #: of the new set
    name: str
    #: where the pictures come from; empty: what the source says
    provenance: str = ""
    licence: str = ""
    #: smaller pictures are refused
    minimum_side_px: int = 0
    #: leave out what cannot be used, and list it, instead of refusing everything
    skip_unusable: bool = False
    #: name of the label space; empty: the product's default
    labels: str = ""
    #: columns of a table that are kept as properties of its pictures
    factors: Sequence[str] = ()
    #: the account that asks; None for a command without an owner
    by_id: int | None = None

    def __post_init__(self) -> None:
        check_notes(self.provenance, self.licence)
        if self.minimum_side_px < 0:
            raise InvalidRequest("The shortest side of a picture is 0 px or more.")

    @property
    def by(self) -> User | None:
        return User.objects.filter(pk=self.by_id).first() if self.by_id is not None else None


class Collection:
    """Goes through the files once. Rows wait in a file, so that any number of pictures takes little memory."""

    def __init__(self, order: ImportOrder) -> None:
        self.minimum_side_px = order.minimum_side_px
        self.skip_unusable = order.skip_unusable
        self.n_seen = 0
        self.duplicates: list[tuple[str, str]] = []
        self.refusals: list[str] = []
        self._first: dict[bytes, tuple[str, str]] = {}
        #: names of files that were kept first and turned out to contradict another
        self._withdrawn: set[str] = set()
        self._per_category: Counter[str] = Counter()
        self._keys: Counter[str] = Counter()
        self._thumbnails: list[tuple[str, bytes]] = []
        self._rows = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  ends with this

    def add(self, incoming: Incoming, inspection: Inspection, folder: Path) -> None:
        """Keep a picture under the name of its content, or leave it out and remember why."""
        self.n_seen += 1
        file = incoming.file
        refusal = incoming.refusal or inspection.refusal or self._too_small(file, inspection)
        if refusal:
            self.refusals.append(readable(refusal))
            incoming.path.unlink()
            return
        digests = (bytes.fromhex(inspection.sha256), bytes.fromhex(inspection.pixel_sha256))
        same = next((self._first[digest] for digest in digests if digest in self._first), None)
        if same is not None:
            incoming.path.unlink()
            self._add_second(file, *same)
            return
        for digest in digests:
            self._first[digest] = (file.name, file.category)
        relative = f"{file.category}/{inspection.sha256[:24]}{_suffix(file.name)}"
        (folder / file.category).mkdir(exist_ok=True)
        incoming.path.rename(folder / relative)
        self._per_category[file.category] += 1
        self._thumbnails.append((file.name, inspection.thumbnail))
        self._rows.write(json.dumps(self._row(file, inspection, relative)) + "\n")

    def close(self) -> None:
        """Forget the rows."""
        self._rows.close()

    def check(self, found: FoundFiles) -> None:
        """Refuse the whole import where something cannot be used and the caller did not ask to leave it out."""
        if self.refusals and not self.skip_unusable:
            lines = [f"{len(self.refusals)} of {len(found.files)} pictures cannot be used; nothing was imported."]
            lines += self.refusals[:_REFUSALS_TOLD]
            if len(self.refusals) > _REFUSALS_TOLD:
                lines.append(f"and {len(self.refusals) - _REFUSALS_TOLD} more")
            raise InputRefused("\n".join(lines))
        if not self.n_kept:
            raise InputRefused("\n".join(["None of the pictures can be used.", *self.refusals[:_REFUSALS_TOLD]]))

    @property
    def per_category(self) -> Counter[str]:
        """Pictures that are kept, by label."""
        return +self._per_category

    @property
    def n_kept(self) -> int:
        return self._per_category.total()

    def batches(self, size: int) -> Iterator[list[dict[str, Any]]]:
        """Field values of the kept pictures."""
        self._rows.seek(0)
        rows: Iterator[dict[str, Any]] = map(json.loads, self._rows)
        return batches_of(size, (row for row in rows if row.pop("name") not in self._withdrawn))

    @cached_property
    def alike(self) -> list[tuple[str, str]]:
        """Kept pictures that look like an earlier one; asked once all files were seen."""
        kept = [(name, thumbnail) for name, thumbnail in self._thumbnails if name not in self._withdrawn]
        pairs = resembling([thumbnail for _, thumbnail in kept])
        return [(kept[later][0], kept[earlier][0]) for later, earlier in pairs]

    def report(self, source_set: SourceSet, found: FoundFiles) -> ImportReport:
        return ImportReport(
            source_set=source_set,
            n_images=self.n_kept,
            per_category=dict(sorted(self.per_category.items())),
            duplicates=self.duplicates,
            ignored=found.ignored,
            alike=self.alike,
            unusable=self.refusals,
            read=found.read,
        )

    def stored_report(self, found: FoundFiles) -> dict[str, Any]:
        """For the set's page: numbers, and the first entries of each kind."""
        return {
            "n_files": len(found.files),
            "n_duplicates": len(self.duplicates),
            "duplicates": [list(map(readable, pair)) for pair in self.duplicates[:_STORED]],
            "n_alike": len(self.alike),
            "alike": [list(map(readable, pair)) for pair in self.alike[:_STORED]],
            "n_unusable": len(self.refusals),
            "unusable": self.refusals[:_STORED],
            "ignored": list(map(readable, found.ignored[:_STORED])),
            "read": [list(row) for row in found.read],
        }

    def _too_small(self, file: LabelledFile, inspection: Inspection) -> str:
        if min(inspection.width_px, inspection.height_px) >= self.minimum_side_px:
            return ""
        return (
            f"{file.name}: {inspection.width_px} x {inspection.height_px} px is smaller than the smallest side asked "
            f"for, {self.minimum_side_px} px."
        )

    def _add_second(self, file: LabelledFile, name: str, category: str) -> None:
        """The same picture under two categories is a contradiction that only a person can solve."""
        if category == file.category:
            self.duplicates.append((file.name, name))
            return
        sentence = f"{file.name} ({file.category}) and {name} ({category}) are the same picture under two categories"
        if not self.skip_unusable:
            raise InputRefused(f"{readable(sentence)}; nothing was imported. Remove one of them.")
        self.refusals.append(f"{readable(sentence)}; both are left out.")
        if name not in self._withdrawn:
            self._withdrawn.add(name)
            self._per_category[category] -= 1

    def _row(self, file: LabelledFile, inspection: Inspection, relative: str) -> dict[str, Any]:
        source_name = readable(file.name)
        return {
            "name": file.name,
            "key": self._key(file),
            "category": file.category,
            "file": relative,
            "sha256": inspection.sha256,
            "pixel_sha256": inspection.pixel_sha256,
            "width_px": inspection.width_px,
            "height_px": inspection.height_px,
            "source_name": source_name if len(source_name) <= 300 else f"\N{HORIZONTAL ELLIPSIS}{source_name[-299:]}",
            "wnid": file.wnid,
            "accepted": list(file.accepted),
            "competing": file.competing,
            "factors": dict(file.factors),
        }

    def _key(self, file: LabelledFile) -> str:
        """Name of an original in every table: category and file name, numbered where they would be equal."""
        stem = re.sub(r"[^\w.-]+", "_", composed(readable(PurePosixPath(file.name).stem)))[:150]
        key = stem if stem.startswith(f"{file.category}-") else f"{file.category}-{stem}"
        self._keys[key] += 1
        while self._keys[key] > 1:
            key = f"{key}-{self._keys[key]}"
            self._keys[key] += 1
        return key


def _suffix(name: str) -> str:
    suffix = PurePosixPath(name).suffix.lower()
    return suffix if re.fullmatch(r"\.[a-z0-9]{1,5}", suffix) else ""
