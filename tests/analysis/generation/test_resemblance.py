from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image, ImageOps

from analysis.generation.resemblance import resembling, thumbnail_of
from tests.analysis.generation.originals import coloured

SCENES = [Image.fromarray(coloured(seed, 150, 200)) for seed in range(30)]


def _again(picture: Image.Image, kind: str, **options: object) -> Image.Image:
    stream = io.BytesIO()
    picture.save(stream, kind, **options)
    return Image.open(stream).convert("RGB")


@pytest.mark.parametrize(
    "saved",
    [
        lambda picture: picture,
        lambda picture: _again(picture, "JPEG", quality=30),
        lambda picture: _again(picture, "WEBP", quality=60),
        lambda picture: _again(picture.quantize(128).convert("RGB"), "GIF"),
        lambda picture: picture.resize((100, 75)),
        lambda picture: picture.resize((400, 300)),
        lambda picture: ImageOps.grayscale(picture).convert("RGB"),
    ],
    ids=["as it was", "JPEG 30", "WEBP 60", "GIF of 128 colours", "half", "twice", "without colours"],
)
def test_a_picture_saved_again_looks_like_itself_alone(saved) -> None:  # noqa: ANN001
    thumbnails = [thumbnail_of(picture) for picture in [*SCENES, saved(SCENES[7])]]
    assert resembling(thumbnails) == [(30, 7)]


@pytest.mark.parametrize(
    "changed",
    [
        ImageOps.mirror,
        ImageOps.invert,
        lambda picture: picture.rotate(180),
        lambda picture: picture.crop((9, 9, 191, 141)),
    ],
    ids=["mirrored", "negative", "upside down", "cut"],
)
def test_another_picture_of_the_same_does_not(changed) -> None:  # noqa: ANN001
    assert resembling([thumbnail_of(SCENES[3]), thumbnail_of(changed(SCENES[3]))]) == []


def test_every_later_one_is_named_once_with_the_earliest() -> None:
    one, other = thumbnail_of(SCENES[0]), thumbnail_of(SCENES[1])
    assert resembling([other, one, one, other, one]) == [(2, 1), (3, 0), (4, 1)]
    assert resembling([]) == resembling([one]) == []


def test_pictures_of_little_contrast_are_not_taken_for_one_another() -> None:
    fog = [np.full((96, 96, 3), 120, np.uint8) for _ in range(3)]
    fog[1][::2, ::2] += 2  # fine texture, of which nothing is left
    fog[2][30:60, 30:60] += 4
    assert resembling([thumbnail_of(Image.fromarray(pixels)) for pixels in (*fog, fog[0])]) == []


def test_it_agrees_with_comparing_every_pair() -> None:
    rng = np.random.default_rng(4)
    first = rng.integers(0, 256, (60, 256))
    second = np.clip(first + rng.normal(0, np.linspace(0.5, 4, 60)[:, None], first.shape), 0, 255)
    levels = np.concatenate([first, second]).astype(np.uint8)
    differences = np.abs(levels[60:].astype(int) - levels[:60]).mean(axis=1)
    assert resembling([row.tobytes() for row in levels]) == [(60 + n, n) for n in np.flatnonzero(differences <= 1.5)]
