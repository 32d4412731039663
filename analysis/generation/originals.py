"""From a picture file of any camera to the square RGB picture that is corrupted, measured and shown."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from analysis.corruptions.registry import Picture
from analysis.errors import PictureRefused
from analysis.visual_change import MINIMUM_SIDE_PX

#: Other formats are refused unread: some decoders start programs, all of them widen the door.
FORMATS: tuple[str, ...] = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF")
MAXIMUM_PIXELS = 80_000_000
#: A picture may be enlarged this much at most; more of it would show interpolation, not the picture.
MAXIMUM_ENLARGEMENT = 2.0

_MODES = frozenset({"RGB", "L", "1", "P", "PA", "LA", "La", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr"})
_DEEP_MODES = frozenset({"I;16", "I;16B", "I;16L", "I;16N"})


def check_original(path: Path) -> tuple[int, int]:
    """Decode a picture file completely.

    Parameters
    ----------
    path : Path
        Picture file.

    Returns
    -------
    tuple of int
        Width and height in px, as seen (after the orientation that the camera noted).

    Raises
    ------
    PictureRefused
        Naming the file, what is wrong with it, and what to do.
    """
    with _refusing(path):
        picture = _open_rgb(path)
    if min(picture.size) < MINIMUM_SIDE_PX:
        raise PictureRefused(
            f"{path}: {picture.width} x {picture.height} px is too small; take a picture with sides of at least "
            f"{MINIMUM_SIDE_PX} px."
        )
    luminance = np.asarray(picture.convert("L"))
    if luminance.min() == luminance.max():
        raise PictureRefused(f"{path}: the picture has one single grey level; remove it.")
    return picture.size


@dataclass(frozen=True)
class Inspection:
    """What was found in a picture file: its digest and size as seen, or a sentence that says why it is refused."""

    path: str
    sha256: str = ""
    width_px: int = 0
    height_px: int = 0
    refusal: str = ""


def inspect_originals(paths: Sequence[str]) -> list[Inspection]:
    """Look at picture files one by one, so that all refusals can be told at once."""
    return [_inspect(Path(path)) for path in paths]


def _inspect(path: Path) -> Inspection:
    try:
        width_px, height_px = check_original(path)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    except PictureRefused as error:
        return Inspection(str(path), refusal=str(error))
    return Inspection(str(path), sha256, width_px, height_px)


def prepare_original(path: Path, size_px: int) -> Picture:
    """Read a picture file, bring its shorter side to ``size_px``, and cut the square in the middle.

    Camera orientation is applied; grey, palette, 16-bit grey and CMYK pictures become 8-bit RGB; an alpha channel that
    hides nothing is dropped.

    Parameters
    ----------
    path : Path
        Picture file.
    size_px : int
        Side of the square.

    Returns
    -------
    ndarray of uint8, shape (size_px, size_px, 3)

    Raises
    ------
    PictureRefused
        Naming the file, what is wrong with it, and what to do: animated or partly transparent pictures, broken files,
        files over 80 megapixels, and pictures that would have to be enlarged more than twofold.
    """
    with _refusing(path):
        picture = _open_rgb(path)
    shorter = min(picture.size)
    if shorter * MAXIMUM_ENLARGEMENT < size_px:
        raise PictureRefused(
            f"{path}: {picture.width} x {picture.height} px cannot be shown at {size_px} px without enlarging it more "
            f"than {MAXIMUM_ENLARGEMENT:g}-fold; take a larger picture or a smaller size."
        )
    if shorter != size_px:
        width, height = (max(size_px, round(side * size_px / shorter)) for side in picture.size)
        picture = picture.resize((width, height), Image.Resampling.BICUBIC)
    left, top = (picture.width - size_px) // 2, (picture.height - size_px) // 2
    return np.array(picture.crop((left, top, left + size_px, top + size_px)), dtype=np.uint8)


def read_picture(path: Path) -> Picture:
    """Read a picture file as it is, without cutting or scaling it.

    Parameters
    ----------
    path : Path
        Picture file.

    Returns
    -------
    ndarray of uint8, shape (h, w, 3)

    Raises
    ------
    PictureRefused
        Naming the file, what is wrong with it, and what to do.
    """
    with _refusing(path):
        return np.array(_open_rgb(path), dtype=np.uint8)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Every way in which a decoder fails becomes one sentence that names the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a decoder only doubts is decided below
            yield
    except PictureRefused:
        raise
    except FileNotFoundError as error:
        raise PictureRefused(f"{path}: there is no such file.") from error
    except UnidentifiedImageError as error:
        raise PictureRefused(
            f"{path}: this is no picture that can be read ({', '.join(FORMATS)}); convert or remove it."
        ) from error
    except Image.DecompressionBombError as error:
        raise PictureRefused(f"{path}: over {MAXIMUM_PIXELS // 10**6} megapixels; scale it down.") from error
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, MemoryError) as error:
        raise PictureRefused(f"{path}: the file is broken or cut off ({error}); copy it again or remove it.") from error


def _open_rgb(path: Path) -> Image.Image:
    with Image.open(path, formats=FORMATS) as file:
        if file.width * file.height > MAXIMUM_PIXELS:
            raise Image.DecompressionBombError
        # A telephone's MPO file is a JPEG with copies behind it; a TIFF or GIF holds different pictures.
        frames = int(getattr(file, "n_frames", 1))
        if file.format != "MPO" and frames > 1:
            raise PictureRefused(f"{path}: the file holds {frames} pictures; save the wanted one alone.")
        file.load()
        return _to_rgb(ImageOps.exif_transpose(file), path)


def _to_rgb(picture: Image.Image, path: Path) -> Image.Image:
    if picture.mode in _DEEP_MODES:
        return Image.fromarray(np.rint(np.asarray(picture) / 257.0).astype(np.uint8)).convert("RGB")
    if picture.mode == "I" and picture.format in (None, "PNG"):
        levels = np.asarray(picture)
        if levels.min() >= 0 and levels.max() <= 65535:
            return Image.fromarray(np.rint(levels / 257.0).astype(np.uint8)).convert("RGB")
    if picture.mode not in _MODES:
        raise PictureRefused(f"{path}: pixels of kind {picture.mode} cannot be shown; save it as 8-bit RGB.")
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        if np.asarray(picture.getchannel("A")).min() < 255:
            raise PictureRefused(f"{path}: parts of the picture are transparent; save it on a background.")
    return picture.convert("RGB")
