"""Complete stimulus sets as rows and small files, without the work of generating them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from analysis.labels.space import LabelSpace
from humanexp.core import clock
from humanexp.core.storage import media_path
from humanexp.stimuli.models import SourceImage, SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.services.label_sets import store_labels

SIZE_PX = 96


def picture_set(
    name: str = "pets",
    originals: Mapping[str, int] | None = None,
    *,
    corruptions: Sequence[str] = ("gaussian_noise",),
    count: int = 10,
    seed: int = 0,
    space: LabelSpace | None = None,
    size_px: int = SIZE_PX,
) -> StimulusSet:
    """A set with every original clean and `count` noisy pictures a function; one seed gives the same pictures."""
    rng = np.random.default_rng(seed)
    originals = originals or {"cat": 3, "dog": 3}
    labels = store_labels(space) if space is not None else None
    source_set = SourceSet.objects.create(name=name, labels=labels)
    made = StimulusSet.objects.create(
        name=name, source_set=source_set, corruptions=list(corruptions), count_per_corruption=count, size_px=size_px,
        metric="vif-1", completed_at=clock.now(),
    )  # fmt: skip
    pictures, levels = [], set()
    for category, number in originals.items():
        for nth in range(number):
            level = rng.integers(0, 256)
            while level in levels:  # two equal pictures are no two originals
                level = rng.integers(0, 256)
            levels.add(level)
            picture = np.full((size_px, size_px, 3), level, np.uint8)
            file, digest = _written(f"originals/{name}/{category}-{nth}.png", picture)
            image = SourceImage.objects.create(
                source_set=source_set, key=f"{category}-{nth}", category=category, file=file, sha256=digest,
                pixel_sha256=hashlib.sha256(picture.tobytes() + bytes([len(pictures)])).hexdigest(),
            )  # fmt: skip
            pictures.append((image, picture))
    rows = [_stimulus(made, image, "none", 0.0, picture, f"clean-{image.key}") for image, picture in pictures]
    for function in corruptions:
        for nth in range(count):
            image, picture = pictures[nth % len(pictures)]
            v = (nth + 0.5) / count
            noisy = np.clip(picture + 200 * v * rng.standard_normal(picture.shape), 0, 255).astype(np.uint8)
            rows.append(_stimulus(made, image, function, v, noisy, f"{function}-{nth:03}"))
    Stimulus.objects.bulk_create(rows)
    return made


def _stimulus(
    made: StimulusSet, image: SourceImage, corruption: str, v: float, picture: np.ndarray, key: str
) -> Stimulus:
    file, digest = _written(f"stimuli/{made.name}/{key}.png", picture)
    return Stimulus(
        stimulus_set=made, source_image=image, key=key, corruption=corruption, corruption_version="1", parameter=v,
        seed=0, visual_change=v, sha256=digest, file=file,
    )  # fmt: skip


def _written(file: str, picture: np.ndarray) -> tuple[str, str]:
    content = cv2.imencode(".png", np.ascontiguousarray(picture))[1].tobytes()
    path = media_path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return file, hashlib.sha256(content).hexdigest()
