"""Objects with boxes, as COCO (JSON) and Pascal VOC (XML) annotate them, cut out and read as a tree of PNG files."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from PIL import Image

from analysis.labels.space import LabelSpace
from humanexp.core.errors import InputRefused
from humanexp.stimuli.labelling import Labelling
from humanexp.stimuli.sources import PictureSource, readable, told


@dataclass(frozen=True)
class _Box:
    """An object: its picture, what it is called there, and its edges in pixels of that picture."""

    place: str
    picture: str
    name: str
    edges: tuple[float, float, float, float]
    #: a crowd in one box, or an object that the annotators call difficult
    is_left_out: bool


class AnnotatedObjects(PictureSource):
    """Objects of pictures, one folder a label: ``cat/000000000009-17.png``. Others than the labels' are left out."""

    def __init__(self, source: PictureSource, annotations: Path, space: LabelSpace) -> None:
        """`annotations`: a JSON file of COCO, or an XML file of Pascal VOC or a folder of them."""
        super().__init__()
        self.title, self._source = source.title, source
        boxes = list(_of_coco(annotations) if annotations.suffix.lower() == ".json" else _of_voc(annotations))
        if not boxes:
            raise InputRefused(
                f"{annotations}: there is no object with a box in it. Name a file of COCO or Pascal VOC."
            )
        labelling = Labelling(space)
        labels = {name: labelling.label(name) for name in {box.name for box in boxes}}
        known = set(source.names())
        self._places: dict[str, _Box] = {}
        numbers: Counter[str] = Counter()
        for box in boxes:
            label = labels[box.name]
            if label is None or box.is_left_out:
                continue
            if source.as_written(box.picture) not in known:
                raise InputRefused(
                    f"{box.place}: there is no picture {readable(box.picture)} in {source.title}. Give the folder that "
                    "the file names its pictures in."
                )
            stem = f"{label}/{PurePosixPath(box.picture).stem}"
            numbers[stem] += 1
            self._places[f"{stem}-{numbers[stem]}.png"] = box
        strange = Counter(box.name for box in boxes if labels[box.name] is None)
        crowds = sum(box.is_left_out and labels[box.name] is not None for box in boxes)
        self._ignored = [f"{crowds:,} crowds in one box, or objects marked as difficult"] if crowds else []
        if strange:
            others = f"objects that are none of {labelling.title}: {told(sorted(strange))}"
            self._ignored.append(f"{strange.total():,} {others}")

    def names(self) -> list[str]:
        return sorted(self._places)

    def names_in(self, folder: str) -> list[str]:
        return [name.rpartition("/")[2] for name in self._places if name.rpartition("/")[0] == folder]

    def ignored(self) -> list[str]:
        return self._ignored

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        if name not in self._places:
            raise InputRefused(f"{name}: there is no such picture in {self.title}.")
        box, file = self._places[name], io.BytesIO()
        with self._source.open(self._source.as_written(box.picture)) as stream:
            try:
                whole = Image.open(stream)
                left, top, right, bottom = (round(edge) for edge in box.edges)
                edges = max(0, left), max(0, top), min(whole.width, right), min(whole.height, bottom)
                if edges[0] >= edges[2] or edges[1] >= edges[3]:
                    raise InputRefused(f"{box.place}: the box lies outside of {readable(box.picture)}. Correct it.")
                # Of boxes in the file's own pixels, before any turning that it asks viewers for.
                whole.crop(edges).save(file, "PNG", icc_profile=whole.info.get("icc_profile"))
            except OSError as error:
                raise InputRefused(f"{readable(box.picture)}: cannot be read as a picture ({error}).") from error
        file.seek(0)
        yield file

    def close(self) -> None:
        self._source.close()


def _of_coco(path: Path) -> Iterator[_Box]:
    """COCO's instances: ``bbox`` is left, top, width, height."""
    try:
        read: Any = json.loads(path.read_text(encoding="utf-8"))
        files = {one["id"]: str(one["file_name"]) for one in read["images"]}
        names = {one["id"]: str(one["name"]) for one in read["categories"]}
        annotations = list(read["annotations"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputRefused(
            f"{path}: no annotations of COCO can be read ({error!r}). It needs images, categories and annotations."
        ) from error
    for number, one in enumerate(annotations, start=1):
        place = f"{path}, annotation {number}"
        try:
            left, top, width, height = (float(length) for length in one["bbox"])
            picture, name = files[one["image_id"]], names[one["category_id"]]
        except (ValueError, KeyError, TypeError) as error:
            raise InputRefused(
                f"{place}: {error!r}. It needs bbox with four numbers, and an image_id and a category_id of the file."
            ) from error
        yield _Box(place, picture, name, (left, top, left + width, top + height), bool(one.get("iscrowd")))


def _of_voc(path: Path) -> Iterator[_Box]:
    """Pascal VOC's objects: edges of ``bndbox`` are pixels from 1, all of them inside."""
    files = sorted(path.glob("*.xml")) if path.is_dir() else [path]
    for file in files:
        try:
            root = fromstring(file.read_bytes())
        except (OSError, ParseError, DefusedXmlException) as error:
            raise InputRefused(f"{file}: no annotations of Pascal VOC can be read ({error}).") from error
        for number, one in enumerate(root.iter("object"), start=1):
            place = f"{file}, object {number}"
            edges = [one.findtext(f"bndbox/{name}") for name in ("xmin", "ymin", "xmax", "ymax")]
            picture, name = root.findtext("filename"), one.findtext("name")
            try:
                left, top, right, bottom = (float(edge or "none") for edge in edges)
            except ValueError as error:
                raise InputRefused(f"{place}: bndbox needs xmin, ymin, xmax and ymax, each a number.") from error
            if not picture or not name:
                raise InputRefused(f"{place}: the file needs a filename, and the object a name.")
            is_difficult = (one.findtext("difficult") or "0").strip() == "1"
            yield _Box(place, picture.strip(), name.strip(), (left - 1, top - 1, right, bottom), is_difficult)
