"""From a picture file of any camera to the square sRGB picture that is corrupted, measured and shown."""

from __future__ import annotations

import hashlib
import math
import mmap
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, get_args

import numpy as np
from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

from analysis.corruptions.registry import Picture
from analysis.errors import InvalidInput, PictureRefused, UnknownName
from analysis.generation.colour_profiles import in_srgb
from analysis.generation.resemblance import thumbnail_of
from analysis.native_size import MAXIMUM_ENLARGEMENT, MINIMUM_NATIVE_PX, enlarge, native_side
from analysis.visual_change.vif import MINIMUM_SIDE_PX

#: Other formats are refused unread: some decoders start programs, all of them widen the door.
FORMATS: tuple[str, ...] = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF")
MAXIMUM_PIXELS = 80_000_000
MAXIMUM_BYTES = 200_000_000
#: Ordinary progressive JPEG files have about ten; each costs a pass over the whole picture.
MAXIMUM_SCANS = 100

#: How a picture is cut to a square. "whole": shorter side to the size (bicubic), middle square. "imagenet": shorter
#: side to 256/224 of the size (bilinear), middle square of the size, as pictures were prepared for ImageNet-C.
Framing = Literal["whole", "imagenet"]
_IMAGENET_MARGIN = 256 / 224
#: Which colours a file's pixels mean. "shown": those that its colour profile says, as viewers show them, in sRGB.
#: "stored": its numbers, whatever the profile; programs of published experiments and networks read them so.
Colours = Literal["shown", "stored"]

_MODES = frozenset({"RGB", "L", "1", "P", "PA", "LA", "La", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr"})
_DEEP_MODES = frozenset({"I;16", "I;16B", "I;16L", "I;16N"})
#: A marker of JPEG before a length; between markers decoders skip whatever stands there.
_MARKER = re.compile(rb"\xff[^\x00\x01\xff\xd0-\xd8]", re.DOTALL)
_SCAN, _END = 0xDA, 0xD9
#: Ordinary files have a few dozen; more would keep the walk busy for minutes.
_MAXIMUM_SEGMENTS = 20_000
#: Rows are looked at in strips of about this many pixels, so that a large picture is in memory once.
_STRIP_PIXELS = 1_000_000


@dataclass(frozen=True)
class Inspection:
    """What was found in a picture file, or a sentence that says why it is refused.

    Attributes
    ----------
    path : str
        As given.
    sha256 : str
        Digest of the file.
    pixel_sha256 : str
        Digest of size and pixels as seen: equal for one picture saved without loss as different kinds of file.
    width_px, height_px : int
        As seen (after the orientation that the camera noted).
    thumbnail : bytes
        For `resembling`; empty for a picture that is refused.
    refusal : str
        Empty for a picture that can be used.
    """

    path: str
    sha256: str = ""
    pixel_sha256: str = ""
    width_px: int = 0
    height_px: int = 0
    thumbnail: bytes = b""
    refusal: str = ""


def inspect_originals(paths: Sequence[str], names: Sequence[str] | None = None) -> list[Inspection]:
    """Look at picture files one by one, so that all refusals can be told at once.

    Parameters
    ----------
    paths : sequence of str
        Picture files.
    names : sequence of str, optional
        What refusals call them; the paths by default.
    """
    return [_inspect(Path(path), name) for path, name in zip(paths, names or paths, strict=True)]


def prepare_original(
    path: Path, size_px: int, framing: Framing = "whole", *, colours: Colours = "shown", enlarged: int = 1
) -> Picture:
    """Read a picture file, bring its shorter side to the size of the framing, and cut the square in the middle.

    Camera orientation is applied; grey, palette, 16-bit and CMYK pictures become 8-bit RGB; colours become sRGB by the
    file's profile; an alpha channel that hides nothing is dropped.

    Parameters
    ----------
    path : Path
        Picture file.
    size_px : int
        Side of the square.
    framing : {"whole", "imagenet"}
        "whole" brings the shorter side to ``size_px`` (bicubic). "imagenet" brings it to
        ``round(size_px * 256 / 224)`` (bilinear) and so cuts off a margin: Hendrycks and Dietterich (2019) prepared
        the pictures of ImageNet-C like that; sides and corners are rounded as by torchvision's Resize and CenterCrop.
    colours : {"shown", "stored"}
        "stored" leaves the file's colour profile out of account.
    enlarged : int
        Above 1 the picture must be a square of ``size_px / enlarged`` px: its pixels stay as they are, each enlarged
        that many times.

    Returns
    -------
    ndarray of uint8, shape (size_px, size_px, 3)

    Raises
    ------
    PictureRefused
        Naming the file, what is wrong with it, and what to do: animated or partly transparent pictures, broken files,
        files over 80 megapixels, pictures that would have to be enlarged more than twofold, pictures of another than
        the native size, and pictures of which the square has one single grey level.
    UnknownName
        If there is no such framing.
    InvalidInput
        If size and factor do not go together, or pictures that are enlarged would be cut.
    """
    if framing not in get_args(Framing):
        raise UnknownName(f"There is no framing {framing!r}; there are: {', '.join(get_args(Framing))}.")
    if enlarged > 1 and framing != "whole":
        raise InvalidInput("Pictures that are shown enlarged are used whole: choose the framing whole.")
    with _refusing(str(path)):
        picture = _open_rgb(path, str(path), colours)
    square = _square(picture, path, size_px, framing) if enlarged == 1 else _native(picture, path, size_px, enlarged)
    low, high = square.convert("L").getextrema()
    if low == high:
        raise PictureRefused(f"{path}: the middle of the picture has one single grey level; remove it.")
    return enlarge(np.array(square, dtype=np.uint8), enlarged)


def _native(picture: Image.Image, path: Path, size_px: int, enlarged: int) -> Image.Image:
    """The picture as it is: nothing is scaled or cut at native size."""
    native = native_side(size_px, enlarged)
    if picture.size != (native, native):
        raise PictureRefused(
            f"{path}: {picture.width} x {picture.height} px. Pictures that are shown at {size_px} px, enlarged "
            f"{enlarged} times, must be squares of {native} px: remove it, or choose another size or factor."
        )
    return picture


def _square(picture: Image.Image, path: Path, size_px: int, framing: Framing) -> Image.Image:
    target = size_px if framing == "whole" else round(size_px * _IMAGENET_MARGIN)
    shorter = min(picture.size)
    if shorter * MAXIMUM_ENLARGEMENT < target:
        raise PictureRefused(
            f"{path}: {picture.width} x {picture.height} px cannot be shown at {size_px} px without enlarging it more "
            f"than {MAXIMUM_ENLARGEMENT:g}-fold; take a larger picture or a smaller size."
        )
    return _whole_square(picture, size_px) if framing == "whole" else _imagenet_square(picture, size_px, target)


def _whole_square(picture: Image.Image, size_px: int) -> Image.Image:
    shorter = min(picture.size)
    if shorter != size_px:
        width, height = (max(size_px, round(side * size_px / shorter)) for side in picture.size)
        picture = picture.resize((width, height), Image.Resampling.BICUBIC)
    left, top = (picture.width - size_px) // 2, (picture.height - size_px) // 2
    return picture.crop((left, top, left + size_px, top + size_px))


def _imagenet_square(picture: Image.Image, size_px: int, target: int) -> Image.Image:
    shorter = min(picture.size)
    if shorter != target:
        width, height = (target if side == shorter else int(target * side / shorter) for side in picture.size)
        picture = picture.resize((width, height), Image.Resampling.BILINEAR)
    left, top = (round((side - size_px) / 2) for side in picture.size)
    return picture.crop((left, top, left + size_px, top + size_px))


def _inspect(path: Path, name: str) -> Inspection:
    try:
        return _look_at(path, name)
    except PictureRefused as error:
        return Inspection(str(path), refusal=str(error))


def _look_at(path: Path, name: str) -> Inspection:
    with _refusing(name):
        picture = _open_rgb(path, name)
        with path.open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    is_native = picture.width == picture.height >= MINIMUM_NATIVE_PX
    if min(picture.size) < MINIMUM_SIDE_PX and not is_native:
        raise PictureRefused(
            f"{name}: {picture.width} x {picture.height} px is too small; take a picture with sides of at least "
            f"{MINIMUM_SIDE_PX} px, or a square of {MINIMUM_NATIVE_PX} px or more, which can be shown enlarged."
        )
    pixels = hashlib.sha256(f"{picture.width}x{picture.height}".encode())
    side = min(picture.size)
    left, first_row = (picture.width - side) // 2, (picture.height - side) // 2
    levels: set[int] = set()
    rows = math.ceil(_STRIP_PIXELS / picture.width)
    for top in range(0, picture.height, rows):
        bottom = min(top + rows, picture.height)
        pixels.update(picture.crop((0, top, picture.width, bottom)).tobytes())
        in_square = max(top, first_row), min(bottom, first_row + side)
        if len(levels) < 2 and in_square[0] < in_square[1]:
            grey = np.asarray(picture.crop((left, in_square[0], left + side, in_square[1])).convert("L"))
            levels |= {int(grey.min()), int(grey.max())}
    if len(levels) == 1:
        raise PictureRefused(f"{name}: the middle of the picture has one single grey level; remove it.")
    return Inspection(str(path), sha256, pixels.hexdigest(), picture.width, picture.height, thumbnail_of(picture))


def pixel_digest(picture: Picture) -> str:
    """SHA-256 of size and pixels, as `Inspection.pixel_sha256` of a file with these.

    Parameters
    ----------
    picture : ndarray of uint8, shape (h, w, 3)
    """
    height, width = picture.shape[:2]
    return hashlib.sha256(f"{width}x{height}".encode() + picture.tobytes()).hexdigest()


def read_picture(path: Path, *, colours: Colours = "shown") -> Picture:
    """Read a picture file as it is, without cutting or scaling it.

    Parameters
    ----------
    path : Path
        Picture file.
    colours : {"shown", "stored"}
        "stored" leaves the file's colour profile out of account.

    Returns
    -------
    ndarray of uint8, shape (h, w, 3)

    Raises
    ------
    PictureRefused
        Naming the file, what is wrong with it, and what to do.
    """
    with _refusing(str(path)):
        return np.array(_open_rgb(path, str(path), colours), dtype=np.uint8)


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Every way in which a decoder fails becomes one sentence that names the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a decoder only doubts is decided below
            yield
    except PictureRefused:
        raise
    except FileNotFoundError as error:
        raise PictureRefused(f"{name}: there is no such file.") from error
    except UnidentifiedImageError as error:
        raise PictureRefused(
            f"{name}: this is no picture that can be read ({', '.join(FORMATS)}); convert or remove it."
        ) from error
    except Image.DecompressionBombError as error:
        raise PictureRefused(f"{name}: over {MAXIMUM_PIXELS // 10**6} megapixels; scale it down.") from error
    except Exception as error:  # decoders of hostile files raise whatever they meet
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise PictureRefused(
            f"{name}: the file is broken or cut off ({reason}); copy it again or remove it."
        ) from error


def _open_rgb(path: Path, name: str, colours: Colours = "shown") -> Image.Image:
    if path.stat().st_size > MAXIMUM_BYTES:
        raise PictureRefused(f"{name}: the file is over {MAXIMUM_BYTES // 10**6} MB; save the picture smaller.")
    _check_before_opening(path, name)
    with Image.open(path, formats=FORMATS) as file:
        if file.width * file.height > MAXIMUM_PIXELS:
            raise Image.DecompressionBombError
        # A telephone's MPO file is a JPEG with copies behind it; a TIFF or GIF holds different pictures.
        frames = int(getattr(file, "n_frames", 1))
        if file.format != "MPO" and frames > 1:
            raise PictureRefused(f"{name}: the file holds {frames} pictures; save the wanted one alone.")
        file.load()
        picture: Image.Image = file
        if file.getexif().get(ExifTags.Base.Orientation, 1) != 1:
            picture = ImageOps.exif_transpose(file)
        rgb = _to_rgb(picture, name)
        return in_srgb(picture, rgb, name) if colours == "shown" else rgb


def _check_before_opening(path: Path, name: str) -> None:
    """What a decoder would pay for before it tells the size, or pass by pass without end."""
    with path.open("rb") as stream:
        head = stream.read(32)
        if head[:4] == b"RIFF" and head[8:16] == b"WEBPVP8X":
            width, height = (1 + int.from_bytes(head[start : start + 3], "little") for start in (24, 27))
            if width * height > MAXIMUM_PIXELS:
                raise Image.DecompressionBombError
        if head[:3] == b"\xff\xd8\xff" and (scans := _scans(stream, name)) > MAXIMUM_SCANS:
            raise PictureRefused(f"{name}: the file takes {scans} passes to read; save it again.")


def _scans(stream: IO[bytes], name: str) -> int:
    """Scans of a JPEG file up to its end, by the steps of a decoder: a telephone puts a video behind the picture."""
    with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        scans, place = 0, 2
        for _ in range(_MAXIMUM_SEGMENTS):
            marker = _MARKER.search(content, place)
            if marker is None or marker.group()[1] == _END:
                return scans
            scans += marker.group()[1] == _SCAN
            place = marker.end()
            place += int.from_bytes(content[place : place + 2], "big")  # a length; thumbnails stand within segments
    raise PictureRefused(f"{name}: the file is in over {_MAXIMUM_SEGMENTS} parts; save it again.")


def _to_rgb(picture: Image.Image, name: str) -> Image.Image:
    if picture.mode in _DEEP_MODES:
        return Image.fromarray(np.rint(np.asarray(picture) / 257.0).astype(np.uint8)).convert("RGB")
    if picture.mode == "I" and picture.format in (None, "PNG"):
        levels = np.asarray(picture)
        if levels.min() >= 0 and levels.max() <= 65535:
            return Image.fromarray(np.rint(levels / 257.0).astype(np.uint8)).convert("RGB")
    if picture.mode not in _MODES:
        raise PictureRefused(f"{name}: pixels of kind {picture.mode} cannot be shown; save it as 8-bit RGB.")
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        if np.asarray(picture.getchannel("A")).min() < 255:
            raise PictureRefused(f"{name}: parts of the picture are transparent; save it on a background.")
    return picture if picture.mode == "RGB" else picture.convert("RGB")
