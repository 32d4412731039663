from __future__ import annotations

import errno
import io
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from isal import isal_zlib
from PIL import Image

from analysis.errors import PictureRefused, StorageFailed
from analysis.generation.files import (
    UNFINISHED,
    decode_png,
    digest,
    encode_png,
    is_intact,
    storage_sentence,
    write_atomically,
)
from tests.analysis.generation.originals import coloured

ROOT = Path(__file__).parents[3]


def test_a_file_is_whole_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.png"
    for content in (b"first", b"second" * 100_000):
        write_atomically(path, content, beside=tmp_path / UNFINISHED)
        assert path.read_bytes() == content
        assert is_intact(path, digest(content))
    assert not is_intact(path, digest(b"first"))
    assert not is_intact(tmp_path / "none", digest(b"first"))
    assert not is_intact(path, None)
    assert list((tmp_path / UNFINISHED).iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"in the way")
    with pytest.raises(StorageFailed, match=r"a/b.png could not be written \(.*\). Make the folder writable.*goes on"):
        write_atomically(tmp_path / "a" / "b.png", b"content", beside=tmp_path / UNFINISHED)
    assert list((tmp_path / UNFINISHED).iterdir()) == []


def _limit_files() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))


@pytest.mark.process
def test_when_space_runs_out_no_part_of_the_file_stays(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from analysis.generation.files import write_atomically\n"
        "folder = Path(sys.argv[1]); write_atomically(folder / 'small', b'x' * 4000, beside=folder / 'un')\n"
        "write_atomically(folder / 'large', b'x' * 9000, beside=folder / 'un')\n"
    )
    finished = subprocess.run(  # noqa: PLW1509
        [sys.executable, "-c", program, str(tmp_path)],
        preexec_fn=_limit_files,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "StorageFailed" in finished.stderr
    assert "Free some space, then start again" in finished.stderr
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["small"]


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "the disk is full .*Free some space"),
        (errno.EDQUOT, "the disk is full .*Free some space"),
        (errno.EROFS, "Make the folder writable"),
        (errno.EACCES, "Make the folder writable"),
        (errno.EIO, "Check the storage"),
    ],
)
def test_every_failure_says_what_to_do(number: int, remedy: str, tmp_path: Path) -> None:
    sentence = storage_sentence(tmp_path, OSError(number, os.strerror(number)))
    assert sentence.startswith(str(tmp_path))
    assert re.search(remedy, sentence)
    assert "goes on where it stopped" in sentence


@pytest.mark.parametrize("shape", [(96, 96, 3), (97, 131, 3), (1, 1, 3), (224, 224, 3)])
def test_png_files_show_the_very_pixels_to_other_readers(shape: tuple[int, int, int], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for picture in (
        rng.integers(0, 256, shape).astype(np.uint8),
        np.zeros(shape, dtype=np.uint8),
        np.full(shape, 255, dtype=np.uint8),
        np.ascontiguousarray(coloured(1, *shape[:2])) if min(shape[:2]) > 90 else np.zeros(shape, dtype=np.uint8),
    ):
        png = encode_png(picture)
        (tmp_path / "x.png").write_bytes(png)
        with Image.open(tmp_path / "x.png") as read:
            assert read.mode == "RGB"
            assert np.array_equal(np.asarray(read), picture)
        assert np.array_equal(decode_png(png), picture)
        assert encode_png(picture) == png


def test_every_kind_of_picture_comes_back_from_its_file() -> None:
    rng = np.random.default_rng(1)
    ramp = np.arange(96 * 97 * 3, dtype=np.uint32).astype(np.uint8).reshape(96, 97, 3)
    pictures = [np.zeros((96, 96, 3), np.uint8), np.full((1, 1, 3), 255, np.uint8), ramp]
    pictures += [rng.integers(0, 256, (224, 224, 3), dtype=np.uint8) for _ in range(3)]
    for picture in pictures:
        png = encode_png(picture)
        assert np.array_equal(decode_png(png), picture)
        with Image.open(io.BytesIO(png)) as file:
            file.verify()
        assert np.array_equal(np.array(Image.open(io.BytesIO(png))), picture)
        assert encode_png(picture) == png


@pytest.mark.parametrize("side", ["deflate", "inflate"])
def test_a_file_that_does_not_hold_its_picture_is_refused(side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that loses a byte: what it wrote is compared with the picture, and what it reads with what it wrote."""
    deflate, inflate = isal_zlib.compress, isal_zlib.decompress

    def losing(rows: memoryview, level: int) -> bytes:
        return deflate(bytes(rows)[:-1] + b"\0", level)

    if side == "deflate":
        monkeypatch.setattr(isal_zlib, "compress", losing)
    else:
        monkeypatch.setattr(isal_zlib, "decompress", lambda packed: inflate(packed)[:-1] + b"\0")
    with pytest.raises(PictureRefused, match="does not survive"):
        encode_png(coloured(3))


def test_half_a_png_is_no_picture() -> None:
    png = encode_png(coloured(3))
    for content in (b"", b"no picture", png[:20], b"\x89PNG"):
        with pytest.raises(PictureRefused):
            decode_png(content)
