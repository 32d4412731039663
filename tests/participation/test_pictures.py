from __future__ import annotations

import hashlib
import struct
import zlib
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from analysis.masks import noise_mask
from analysis.study.protocol import load_protocol
from humanexp.core.storage import media_path
from humanexp.participation.answers import MASK_FIELDS, Picture, mask_png, stimulus_png, without_metadata
from tests.factories import png


def pixels(content):
    with Image.open(BytesIO(content)) as picture:
        return np.asarray(picture)


def test_a_clean_file_keeps_its_bytes():
    content = png(1)
    assert without_metadata(content) == content


def test_text_times_and_profiles_go_and_the_pixels_stay():
    with Image.open(BytesIO(png(2))) as picture:
        told = PngImagePlugin.PngInfo()
        told.add_text("Title", "cat, gaussian noise 0.7")
        stream = BytesIO()
        picture.save(stream, format="PNG", pnginfo=told, dpi=(72, 72))
    content = stream.getvalue()
    assert b"gaussian" in content
    stripped = without_metadata(content)
    assert b"gaussian" not in stripped and b"pHYs" not in stripped
    assert (pixels(stripped) == pixels(content)).all()


def test_what_follows_the_end_of_the_picture_goes():
    content = png(3)
    chunk = b"cat!"
    extra = struct.pack(">I", len(chunk)) + b"tEXt" + chunk + struct.pack(">I", zlib.crc32(b"tEXt" + chunk))
    assert without_metadata(content + extra) == content


def test_a_file_of_another_kind_becomes_a_png():
    path = media_path("tests/picture.jpg")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), (10, 20, 30)).save(path, format="JPEG")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    content = stimulus_png(Picture(1, "tests/picture.jpg", sha256))
    assert content.startswith(b"\x89PNG") and pixels(content).shape == (8, 8, 3)
    with pytest.raises(ValueError, match="outside MEDIA_ROOT"):
        stimulus_png(Picture(1, "../secret.png", sha256))


def test_masks_are_shifted_noise_fields_fixed_by_their_seed():
    protocol = load_protocol("geirhos2018-batch2")
    field = noise_mask(5, 224, 4.0)
    assert (pixels(mask_png(seed=5, protocol=protocol)) == field).all()
    down, right = 3, 10
    seed = 5 + MASK_FIELDS * (down * 224 + right)
    assert (pixels(mask_png(seed=seed, protocol=protocol)) == np.roll(field, (down, right), axis=(0, 1))).all()
    assert len({mask_png(seed=seed, protocol=protocol) for seed in range(0, 2**31, 2**31 // 50)}) > 45
