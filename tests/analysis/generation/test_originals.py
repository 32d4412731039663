from __future__ import annotations

import hashlib
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from analysis.errors import PictureRefused, UnknownName
from analysis.generation.originals import inspect_originals, prepare_original
from tests.analysis.generation.originals import check_original, coloured

SCENE = coloured(3, 160, 240)


def _save(path: Path, picture: Image.Image, **options: object) -> Path:
    picture.save(path, **options)
    return path


def test_shorter_side_is_brought_to_size_and_the_middle_is_cut(tmp_path: Path) -> None:
    path = _save(tmp_path / "wide.png", Image.fromarray(SCENE))
    assert check_original(path) == (240, 160)
    assert np.array_equal(prepare_original(path, 160), SCENE[:, 40:200])
    assert prepare_original(path, 100).shape == (100, 100, 3)
    # A picture twice as large, brought down, is the picture again (nearly: bicubic).
    doubled = _save(tmp_path / "large.png", Image.fromarray(np.kron(SCENE, np.ones((2, 2, 1), dtype=np.uint8))))
    assert np.abs(prepare_original(doubled, 160).astype(int) - SCENE[:, 40:200]).mean() < 3


@pytest.mark.parametrize(("width", "height"), [(97, 501), (333, 100), (100, 100), (101, 225)])
def test_any_shape_gives_exactly_the_square(tmp_path: Path, width: int, height: int) -> None:
    path = _save(tmp_path / "odd.png", Image.fromarray(coloured(1, height, width)))
    assert prepare_original(path, 112).shape == (112, 112, 3)


def test_camera_orientation_is_applied(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned a quarter to the right to be seen upright
    path = _save(tmp_path / "turned.png", Image.fromarray(SCENE), exif=exif)
    assert check_original(path) == (160, 240)
    assert np.array_equal(prepare_original(path, 160), np.rot90(SCENE, -1)[40:200])


def test_grey_palette_and_opaque_alpha_become_rgb(tmp_path: Path) -> None:
    grey = Image.fromarray(SCENE[..., 0])
    expected = np.repeat(SCENE[:, 40:200, :1], 3, axis=2)
    assert np.array_equal(prepare_original(_save(tmp_path / "grey.png", grey), 160), expected)
    opaque = Image.fromarray(np.dstack([SCENE, np.full(SCENE.shape[:2], 255, dtype=np.uint8)]))
    assert np.array_equal(prepare_original(_save(tmp_path / "opaque.png", opaque), 160), SCENE[:, 40:200])
    palette = Image.fromarray(SCENE).quantize(64)
    seen = prepare_original(_save(tmp_path / "palette.png", palette), 160)
    assert np.array_equal(seen, np.asarray(palette.convert("RGB"))[:, 40:200])
    still = prepare_original(_save(tmp_path / "still.gif", palette), 160)
    assert still.shape == (160, 160, 3)


def test_sixteen_bit_grey_keeps_its_levels(tmp_path: Path) -> None:
    deep = Image.fromarray(SCENE[..., 0].astype(np.uint16) * 257)
    for name in ("deep.png", "deep.tiff"):
        seen = prepare_original(_save(tmp_path / name, deep), 160)
        assert np.array_equal(seen[..., 1], SCENE[:, 40:200, 0])


def test_cmyk_becomes_rgb(tmp_path: Path) -> None:
    path = _save(tmp_path / "print.jpg", Image.fromarray(SCENE).convert("CMYK"), quality=95)
    seen = prepare_original(path, 160).astype(int)
    assert np.abs(seen - SCENE[:, 40:200]).mean() < 8


def test_a_telephones_jpeg_with_copies_behind_it_is_its_first_picture(tmp_path: Path) -> None:
    path = tmp_path / "telephone.jpg"
    first, second = Image.fromarray(SCENE), Image.fromarray(255 - SCENE)
    first.save(path, format="MPO", save_all=True, append_images=[second], quality=95)
    assert np.abs(prepare_original(path, 160).astype(int) - SCENE[:, 40:200]).mean() < 8


def _png_header(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    begun = struct.pack(">I", 8192) + b"IDAT" + zlib.compress(bytes(4096))
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk)) + begun


def _animated(path: Path) -> Path:
    frames = [Image.fromarray(coloured(seed)) for seed in (1, 2)]
    return _save(path, frames[0], save_all=True, append_images=frames[1:])


def _transparent(path: Path) -> Path:
    alpha = np.full(SCENE.shape[:2], 255, dtype=np.uint8)
    alpha[5, 5] = 0
    return _save(path, Image.fromarray(np.dstack([SCENE, alpha])))


def _cut_off(path: Path) -> Path:
    _save(path, Image.fromarray(SCENE))
    path.write_bytes(path.read_bytes()[:2000])
    return path


def _bytes(content: bytes):  # noqa: ANN202
    def write(path: Path) -> Path:
        path.write_bytes(content)
        return path

    return write


REFUSED = {
    "animated.gif": (_animated, "holds 2 pictures"),
    "animated.png": (_animated, "holds 2 pictures"),
    "pages.tiff": (_animated, "holds 2 pictures"),
    "transparent.png": (_transparent, "transparent"),
    "cut-off.jpg": (_cut_off, "broken or cut off"),
    "cut-off.png": (_cut_off, "broken or cut off"),
    "bomb.png": (_bytes(_png_header(60_000, 60_000)), "80 megapixels"),
    "large.png": (_bytes(_png_header(10_000, 9_000)), "80 megapixels"),
    "header-only.png": (_bytes(_png_header(300, 300)), "broken or cut off"),
    "empty.jpg": (_bytes(b""), "no picture that can be read"),
    "notes.jpg": (_bytes(b"not a picture at all"), "no picture that can be read"),
    "program.eps": (_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 200 200\n"), "no picture that can be read"),
    "float.tiff": (lambda p: _save(p, Image.fromarray(SCENE[..., 0].astype(np.float32))), "pixels of kind F"),
    "missing.png": (lambda p: p, "no such file"),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_files_that_cannot_be_used_are_refused_by_name(tmp_path: Path, name: str) -> None:
    write, reason = REFUSED[name]
    path = write(tmp_path / name)
    for read in (check_original, lambda path: prepare_original(path, 128)):
        with pytest.raises(PictureRefused, match=reason) as refusal:
            read(path)
        assert name in str(refusal.value)


def test_too_small_and_constant_pictures_are_refused_at_the_door(tmp_path: Path) -> None:
    small = _save(tmp_path / "small.png", Image.fromarray(coloured(1, 95, 200)))
    with pytest.raises(PictureRefused, match="200 x 95 px is too small"):
        check_original(small)
    constant = _save(tmp_path / "constant.png", Image.new("RGB", (200, 200), (9, 9, 9)))
    with pytest.raises(PictureRefused, match="single grey level"):
        check_original(constant)


def test_a_picture_is_not_enlarged_more_than_twofold(tmp_path: Path) -> None:
    path = _save(tmp_path / "medium.png", Image.fromarray(coloured(1, 100, 150)))
    assert prepare_original(path, 200).shape == (200, 200, 3)
    with pytest.raises(PictureRefused, match="medium.png: 150 x 100 px cannot be shown at 201 px"):
        prepare_original(path, 201)


def test_the_margin_of_imagenet_is_cut_off_as_torchvision_does(tmp_path: Path) -> None:
    scene = Image.fromarray(coloured(1, 375, 500))
    path = _save(tmp_path / "landscape.png", scene)
    # Resize(256), CenterCrop(224): 256 x int(256 * 500 / 375) = 341; left round(117 / 2), half to even; top 16.
    expected = scene.resize((341, 256), Image.Resampling.BILINEAR).crop((58, 16, 282, 240))
    assert np.array_equal(prepare_original(path, 224, "imagenet"), np.asarray(expected))
    upright = _save(tmp_path / "upright.png", scene.transpose(Image.Transpose.ROTATE_90))
    assert prepare_original(upright, 112, "imagenet").shape == (112, 112, 3)
    with pytest.raises(UnknownName, match="whole, imagenet"):
        prepare_original(path, 224, "stretched")  # type: ignore[arg-type]


def test_a_picture_of_the_margins_size_is_cut_without_resampling(tmp_path: Path) -> None:
    scene = coloured(1, 256, 300)
    path = _save(tmp_path / "fits.png", Image.fromarray(scene))
    assert np.array_equal(prepare_original(path, 224, "imagenet"), scene[16:240, 38:262])


def test_colour_of_sixteen_bit_becomes_eight(tmp_path: Path) -> None:
    import cv2

    path = tmp_path / "deep-colour.png"
    cv2.imwrite(str(path), SCENE[..., ::-1].astype(np.uint16) * 257)
    assert np.array_equal(prepare_original(path, 160), SCENE[:, 40:200])


def test_the_same_pixels_in_two_kinds_of_file_have_one_digest(tmp_path: Path) -> None:
    tall = SCENE.transpose(1, 0, 2)
    files = [
        _save(tmp_path / "a.png", Image.fromarray(SCENE)),
        _save(tmp_path / "a.bmp", Image.fromarray(SCENE)),
        _save(tmp_path / "tall.png", Image.fromarray(np.ascontiguousarray(tall))),
    ]
    png, bmp, other = inspect_originals(list(map(str, files)))
    assert png.pixel_sha256 == bmp.pixel_sha256 != other.pixel_sha256
    assert png.sha256 != bmp.sha256 == hashlib.sha256(files[1].read_bytes()).hexdigest()


def test_a_square_without_content_is_refused(tmp_path: Path) -> None:
    framed = np.full((200, 600, 3), 9, dtype=np.uint8)
    framed[:, :100] = coloured(1, 200, 100)
    path = _save(tmp_path / "framed.png", Image.fromarray(framed))
    for read in (check_original, lambda path: prepare_original(path, 128)):
        with pytest.raises(PictureRefused, match=r"framed.png: the middle of the picture has one single grey level"):
            read(path)


def test_a_jpeg_of_endless_passes_is_refused_unread(tmp_path: Path) -> None:
    path = _save(tmp_path / "passes.jpg", Image.fromarray(SCENE), progressive=True)
    content = path.read_bytes()
    last = content.rindex(b"\xff\xda")
    path.write_bytes(content[:-2] + content[last:-2] * 200 + b"\xff\xd9")
    with pytest.raises(PictureRefused, match=r"passes.jpg: the file takes 2\d\d passes"):
        check_original(path)


BEHIND = {
    "a video": b"\x00\x00\x00\x18ftypmp42" + b"\xff\xda" * 300,
    "another JPEG of many scans": b"\xff\xd8" + b"\xff\xda\x00\x02" * 300 + b"\xff\xd9",
    "notes": "the best one \N{CAT FACE}".encode() * 1000,
    "an archive": b"PK\x03\x04" + b"\xff\xda" * 200,
}


@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("behind", BEHIND.values(), ids=BEHIND)
def test_what_stands_behind_a_jpeg_does_not_count(tmp_path: Path, behind: bytes, progressive: bool) -> None:
    path = _save(tmp_path / "moving.jpg", Image.fromarray(SCENE), quality=95, progressive=progressive)
    alone = prepare_original(path, 160)
    path.write_bytes(path.read_bytes() + behind)
    assert np.array_equal(prepare_original(path, 160), alone)


def test_what_stands_within_a_segment_does_not_count_and_passes_behind_it_do(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x927C] = b"\xff\xda" * 500  # a maker's note
    path = _save(tmp_path / "noted.jpg", Image.fromarray(SCENE), exif=exif, progressive=True)
    assert check_original(path) == (240, 160)
    content = path.read_bytes()
    last = content.rindex(b"\xff\xda")
    path.write_bytes(content[:-2] + (b"rubbish" + content[last:-2]) * 200 + b"\xff\xd9")
    with pytest.raises(PictureRefused, match=r"noted.jpg: the file takes 2\d\d passes"):
        check_original(path)


def test_a_jpeg_of_endless_parts_is_refused_unread(tmp_path: Path) -> None:
    path = _save(tmp_path / "parts.jpg", Image.fromarray(SCENE))
    content = path.read_bytes()
    path.write_bytes(content[:2] + b"\xff\xfe\x00\x02" * 30_000 + content[2:])
    with pytest.raises(PictureRefused, match=r"parts.jpg: the file is in over 20000 parts"):
        check_original(path)


def test_a_refusal_calls_the_file_by_the_name_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"nothing")
    (found,) = inspect_originals([str(tmp_path / "x")], ["cat/tom.jpg"])
    assert found.refusal.startswith("cat/tom.jpg: this is no picture")
