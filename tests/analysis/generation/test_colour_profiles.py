from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

from analysis.errors import PictureRefused
from analysis.generation.originals import prepare_original, read_picture
from tests.analysis.generation.icc import ADOBE_RGB, DISPLAY_P3, SRGB, grey_profile, ink_profile, rgb_profile
from tests.analysis.generation.originals import coloured

SCENE = coloured(3, 128, 128)


def _saved(path: Path, pixels: np.ndarray, profile: bytes, mode: str = "RGB", **options: object) -> Path:
    Image.fromarray(pixels).convert(mode).save(path, icc_profile=profile, **options)
    return path


def _encoded(linear: np.ndarray) -> np.ndarray:
    """The curve of sRGB (IEC 61966-2-1)."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("columns", [ADOBE_RGB, DISPLAY_P3, SRGB[::-1]], ids=["Adobe RGB", "Display P3", "exchanged"])
@pytest.mark.parametrize("suffix", ["png", "tiff", "webp"])
def test_colours_are_those_that_the_profile_means(tmp_path: Path, columns: tuple, suffix: str) -> None:
    pale = (100 + SCENE * 0.2).astype(np.uint8)  # inside of sRGB, whatever the profile
    options = {"lossless": True, "exact": True} if suffix == "webp" else {}
    path = _saved(tmp_path / f"a.{suffix}", pale, rgb_profile(columns, 2.2), **options)
    # By hand: out of the gamma, by the matrix to XYZ and by sRGB's inverse, into sRGB's curve.
    linear = (pale / 255.0) ** (563 / 256) @ np.array(columns) @ np.linalg.inv(np.array(SRGB))
    assert np.abs(read_picture(path) - 255 * _encoded(linear)).max() < 1.5
    assert np.array_equal(read_picture(path, colours="stored"), pale)
    assert not np.array_equal(prepare_original(path, 128), prepare_original(path, 128, colours="stored"))


def test_pictures_that_are_srgb_keep_every_pixel(tmp_path: Path) -> None:
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    path = _saved(tmp_path / "a.png", SCENE, srgb)
    assert np.array_equal(read_picture(path), SCENE)


def test_a_grey_profile_goes_with_a_grey_picture(tmp_path: Path) -> None:
    path = _saved(tmp_path / "a.png", SCENE, grey_profile(1.0), "L")
    grey = np.asarray(Image.fromarray(SCENE).convert("L"))
    seen = read_picture(path)
    assert np.abs(seen[..., 0] - 255 * _encoded(grey / 255.0)).max() < 1.5
    assert (seen == seen[..., :1]).all()
    of_colour = _saved(tmp_path / "of-colour.png", SCENE, rgb_profile(ADOBE_RGB, 1.0), "L")
    assert np.abs(read_picture(of_colour).astype(int) - seen).max() <= 1


def test_inks_are_those_that_the_profile_means(tmp_path: Path) -> None:
    inks = np.zeros((128, 128, 4), np.uint8)
    inks[:, 32:64, 0] = 255  # cyan, which is light grey in this profile
    inks[:, 64:96, 3] = 128
    inks[:, 96:, 3] = 255
    path = tmp_path / "print.tiff"
    Image.fromarray(inks, "CMYK").save(path, icc_profile=ink_profile())
    seen = read_picture(path)[64, [16, 48, 80, 112]].astype(int)
    assert np.ptp(seen, axis=1).max() <= 2
    # Lightness of 100, 67, 50 and 0 in sRGB.
    assert np.abs(seen[:, 0] - [255, 162, 119, 0]).max() <= 4
    assert read_picture(path, colours="stored")[64, 48].tolist() == [0, 255, 255]


@pytest.mark.parametrize(
    ("name", "profile", "mode", "reason"),
    [
        ("cut-off.png", rgb_profile(ADOBE_RGB)[:200], "RGB", "colour profile cannot be read"),
        ("rubbish.png", b"no profile at all" * 20, "RGB", "colour profile cannot be read"),
        ("grey.png", grey_profile(1.8), "RGB", "is for GRAY colours, its pixels are RGB"),
        ("print.jpg", rgb_profile(ADOBE_RGB), "CMYK", "is for RGB colours, its pixels are CMYK"),
        ("cie.png", ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes(), "RGB", "is for Lab colours"),
    ],
)
def test_what_cannot_be_converted_is_refused_by_name(
    tmp_path: Path, name: str, profile: bytes, mode: str, reason: str
) -> None:
    path = _saved(tmp_path / name, SCENE, profile, mode)
    with pytest.raises(
        PictureRefused, match=rf"{name}: its colour profile .*{reason.split('profile ')[-1]}"
    ) as refusal:
        read_picture(path)
    assert "save it as sRGB" in str(refusal.value)


def test_a_profile_that_the_file_cannot_unpack_is_refused(tmp_path: Path) -> None:
    path = _saved(tmp_path / "a.png", SCENE, rgb_profile(ADOBE_RGB))
    content = path.read_bytes()
    place = content.index(b"iCCP") + 4 + len(b"ICC Profile\0\0")
    damaged = content[:place] + bytes(10) + content[place + 10 :]
    length = int.from_bytes(content[content.index(b"iCCP") - 4 : content.index(b"iCCP")], "big")
    end = content.index(b"iCCP") + 4 + length
    checked = zlib.crc32(damaged[content.index(b"iCCP") : end]).to_bytes(4, "big")
    path.write_bytes(damaged[:end] + checked + damaged[end + 4 :])
    with pytest.raises(PictureRefused, match=r"a.png: its colour profile cannot be read"):
        read_picture(path)
