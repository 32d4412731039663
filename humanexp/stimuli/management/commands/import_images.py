from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis.labels.space import LabelSpace
from humanexp.core.commands import OwnedCommand, ProgressLine
from humanexp.stimuli.annotated_objects import AnnotatedObjects
from humanexp.stimuli.selectors.labels import space_named
from humanexp.stimuli.selectors.sources import answers_for, counts_by_label
from humanexp.stimuli.services.adopted_pictures import open_pictures
from humanexp.stimuli.services.imports import import_images, preview_import
from humanexp.stimuli.services.sources import ImportOrder, ImportReport
from humanexp.stimuli.sources import FoundFiles, PictureSource, StorageSource

_TOLD = 20


class Command(OwnedCommand):
    help = (
        "Import labelled pictures: folders named by label or WordNet id, ImageNet's validation pictures with their "
        "list of labels, a CSV file with path,category, arrays (CIFAR-10 for Python, IDX files of MNIST, .npz), a zip "
        "archive of any of these, or a prefix of the storage in PICTURES_STORAGE."
    )
    owned = "pictures they are"

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("source", metavar="DIR", type=Path, nargs="?", help="folder, CSV file, or zip archive")
        source.add_argument("--from-storage", metavar="PREFIX", help="everything under this prefix of PICTURES_STORAGE")
        parser.add_argument("--name", required=True, help="name of the new set of pictures")
        parser.add_argument("--labels", metavar="FILE", type=Path, help="list of `file wnid` for a flat folder")
        parser.add_argument(
            "--annotations", metavar="FILE", type=Path,
            help="cut out the objects with boxes: JSON of COCO's instances, or XML of Pascal VOC (a file or a folder)",
        )  # fmt: skip
        parser.add_argument(
            "--label-space",
            metavar="NAME",
            default="",
            help="what the pictures are called (default: the 16 categories)",
        )
        parser.add_argument(
            "--factors", metavar="COLUMN", nargs="+", default=[], help="further columns of a table to keep"
        )
        parser.add_argument("--preview", action="store_true", help="show what is read as which label; import nothing")
        parser.add_argument("--provenance", default="", help="where the pictures come from (default: the source)")
        parser.add_argument("--licence", default="", help="licence of the pictures")
        parser.add_argument("--minimum-side", metavar="PX", type=int, default=0, help="refuse smaller pictures")
        parser.add_argument(
            "--skip-unusable", action="store_true", help="leave out what cannot be used instead of refusing everything"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        order = ImportOrder(
            name=options["name"],
            provenance=options["provenance"],
            licence=options["licence"],
            minimum_side_px=options["minimum_side"],
            skip_unusable=options["skip_unusable"],
            labels=options["label_space"],
            factors=options["factors"],
            by_id=options["owner"].pk if options["owner"] else None,
        )
        if options["preview"]:
            found = preview_import(source=_source(options), order=order, label_list=options["labels"])
            self._preview(found, space_named(order.labels))
            return
        with ProgressLine(sys.stderr) as line:
            report = import_images(source=_source(options), order=order, label_list=options["labels"], progress=line)
        self._tell(report)

    def _preview(self, found: FoundFiles, space: LabelSpace) -> None:
        """What would be read as which label."""
        self.stdout.write(f"{len(found.files):,} pictures would be imported.")
        for written, label, n in found.read:
            read_as = _with_word(label, space) if label else "no label: left out"
            self.stdout.write(f"  {written} -> {read_as} ({n:,})")
        self._list([f"ignored: {sentence}" for sentence in found.ignored])

    def _tell(self, report: ImportReport) -> None:
        self.stdout.write(
            f"{report.source_set.name}: {report.n_images} pictures imported ({counts_by_label(report.per_category)})"
        )
        self.stdout.write("Is it enough for a study?")
        for answer in answers_for(report.n_images, len(report.source_set.space)):
            word = {"yes": "yes", "smaller": "a smaller one", "no": "no"}[answer.verdict]
            self.stdout.write(f"  {answer.study}: {word}. {answer.text}")
        renamed = [(written, label) for written, label, _ in report.read if label and written != label]
        self._list([f"read as {label}: {written}" for written, label in renamed])
        self._list([f"duplicate left out: {left} is the same picture as {kept}" for left, kept in report.duplicates])
        self._list([f"kept, but looks the same: {later} and {earlier}" for later, earlier in report.alike])
        self._list([f"left out: {sentence}" for sentence in report.unusable])
        self._list([f"ignored: {sentence}" for sentence in report.ignored])

    def _list(self, lines: list[str]) -> None:
        for line in lines[:_TOLD]:
            self.stdout.write(line)
        if len(lines) > _TOLD:
            self.stdout.write(f"and {len(lines) - _TOLD} more, listed on the page of the set")


def _with_word(label: str, space: LabelSpace) -> str:
    """An id with its word, unless the word says no more."""
    word = space[label].further_word
    return f"{label}, {word}" if word else label


def _source(options: dict[str, Any]) -> Path | PictureSource:
    if options["from_storage"] is not None and options["annotations"] is not None:
        raise CommandError("--annotations go with pictures on this machine, not with --from-storage.")
    if options["from_storage"] is not None:
        return StorageSource(options["from_storage"])
    source: Path = options["source"]
    if options["annotations"] is None:
        return source
    return AnnotatedObjects(open_pictures(source), options["annotations"], space_named(options["label_space"]))
