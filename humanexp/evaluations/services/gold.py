"""How many classifiers name the clean originals of a set of pictures right: what gold pictures are chosen by."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.port import Classifier
from analysis.errors import ClassifierUnavailable
from analysis.generation.originals import prepare_original
from analysis.labels.files import default_labels
from analysis.labels.mapping import mapping_of
from humanexp.core import file_store
from humanexp.core.storage import media_path, write_whole
from humanexp.evaluations.specs import SHELF
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.selectors.sets import bring_originals
from humanexp.stimuli.services.sources import Rating, check_ratings_open, store_ratings

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Pictures are shown to classifiers as to people, in the size of the usual protocol.
SIZE_PX = 224
BATCH = 32
#: Pictures whose ratings are kept together: what is lost when the process is killed.
PART = 512


@dataclass(frozen=True)
class GoldReport:
    n_images: int
    #: pictures that every classifier named right
    n_agreed: int
    #: share of pictures that each classifier named right, in the order they were asked
    accuracies: dict[str, float]
    n_agreed_by_category: dict[str, int]


def rate_originals(
    source_set: SourceSet, specs: Sequence[str], progress: Progress, *, allow_code: bool, device: str
) -> GoldReport:
    """Ask every classifier about every original, clean, as it is shown, and store what they said."""
    check_ratings_open(source_set)
    file_store.bring(SHELF)
    bring_originals(source_set)
    classifiers = [_load(spec, allow_code=allow_code, device=device) for spec in specs]
    total = source_set.images.count()
    folder = media_path(f"evaluations/gold-{source_set.pk}-{_digest(classifiers)}")
    parts: list[Path] = []
    done = 0
    for images in _parts(source_set):

        def told(count: int, before: int = done) -> None:
            progress(before + count, total, "pictures classified")

        parts.append(_rated_part(classifiers, images, folder, told))
        done += len(images)
    store_ratings(source_set=source_set, classifiers=specs, ratings=_ratings(parts))
    report = _report(source_set, specs, parts)
    shutil.rmtree(folder, ignore_errors=True)
    return report


def _load(spec: str, *, allow_code: bool, device: str) -> Classifier:
    loaded = load_classifier(spec, allow_code=allow_code, device=device)
    if not isinstance(loaded, Classifier):
        raise ClassifierUnavailable(f"{spec} holds answers to stimuli, and none to originals: give a network.")
    return loaded


def _parts(source_set: SourceSet) -> Iterator[list[SourceImage]]:
    """All originals in the order of their names, a part at a time."""
    last = ""
    while images := list(source_set.images.filter(key__gt=last).order_by("key")[:PART]):
        yield images
        last = images[-1].key


def _rated_part(
    classifiers: Sequence[Classifier], images: list[SourceImage], folder: Path, told: Callable[[int], None]
) -> Path:
    """File with the ratings of these pictures, named by their content: an interrupted job finds it again."""
    content = hashlib.sha256("".join(f"{image.pk}{image.category}{image.sha256}" for image in images).encode())
    path = folder / f"part-{content.hexdigest()[:24]}.json"
    if not path.exists():
        rows: list[dict[str, object]] = []
        for start in range(0, len(images), BATCH):
            rows += _rated(classifiers, images[start : start + BATCH])
            told(min(start + BATCH, len(images)))
        write_whole(path, json.dumps(rows).encode())
    told(len(images))
    return path


def _rated(classifiers: Sequence[Classifier], images: list[SourceImage]) -> list[dict[str, object]]:
    pictures: NDArray[np.uint8] = np.stack([prepare_original(media_path(image.file), SIZE_PX) for image in images])
    categories = np.array([image.category for image in images])
    space = default_labels()
    columns = space.places_of(categories)
    right = np.zeros((len(classifiers), len(images)), dtype=bool)
    shares = np.zeros((len(classifiers), len(images)))
    for row, classifier in enumerate(classifiers):
        probabilities = classifier.predict(pictures)
        mapping = mapping_of(tuple(classifier.labels), space)
        scores = mapping.scores(probabilities)
        total = scores.sum(axis=1)
        own = scores[np.arange(len(images)), columns]
        shares[row] = np.divide(own, total, out=np.full(len(images), space.chance), where=total > 0)
        right[row] = mapping.answer(probabilities).responses == categories
    return [
        {
            "pk": image.pk,
            "category": image.category,
            "right": [bool(one) for one in right[:, number]],
            "smallest": float(shares[:, number].min()),
        }
        for number, image in enumerate(images)
    ]


def _rows(parts: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for part in parts:
        yield from json.loads(part.read_bytes())


def _ratings(parts: Sequence[Path]) -> Iterator[Rating]:
    for row in _rows(parts):
        yield Rating(row["pk"], sum(row["right"]), row["smallest"])


def _report(source_set: SourceSet, specs: Sequence[str], parts: Sequence[Path]) -> GoldReport:
    n_images = 0
    n_right = [0] * len(specs)
    agreed: Counter[str] = Counter()
    for row in _rows(parts):
        n_images += 1
        n_right = [count + right for count, right in zip(n_right, row["right"], strict=True)]
        agreed[row["category"]] += all(row["right"])
    return GoldReport(
        n_images=n_images,
        n_agreed=agreed.total(),
        accuracies={spec: count / max(1, n_images) for spec, count in zip(specs, n_right, strict=True)},
        n_agreed_by_category=dict(sorted(agreed.items())),
    )


def _digest(classifiers: Sequence[Classifier]) -> str:
    return hashlib.sha256("".join(classifier.digest for classifier in classifiers).encode()).hexdigest()[:16]
