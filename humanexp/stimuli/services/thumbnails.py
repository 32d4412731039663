"""Small copies of pictures: of stimuli made anew, of originals kept beside their set when they are first looked at."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from analysis.errors import PictureRefused
from analysis.generation.originals import read_picture
from humanexp.core.errors import NotFound
from humanexp.core.storage import current_path, media_path, write_whole
from humanexp.stimuli.models import SourceImage

#: Longer side of an original's copies by name, and of a stimulus's.
SIDES_PX = {"small": 192, "large": 1024}
STIMULUS_PX = 128
_QUALITY = 85


def original_thumbnail(image: SourceImage, size: str) -> Path:
    """File of the small copy; made if it is not there."""
    if size not in SIDES_PX:
        raise NotFound(f"There is no size {size!r}; there are: {', '.join(SIDES_PX)}.")
    path = media_path(f"thumbnails/{image.source_set.name}/{image.pk}-{image.sha256[:16]}-{size}.jpg")
    if not path.is_file():
        try:
            write_whole(path, _jpeg(current_path(image.file), SIDES_PX[size]))
        except PictureRefused as error:
            raise NotFound("The file of this picture is missing or damaged: restore it from the backup.") from error
    return path


def stimulus_thumbnail(path: Path) -> bytes:
    """A stimulus's file at 128 px, as JPEG."""
    try:
        return _jpeg(path, STIMULUS_PX)
    except PictureRefused as error:
        raise NotFound(f"The file {path.name} is damaged: run verify_stimuli.") from error


def _jpeg(path: Path, side_px: int) -> bytes:
    picture = Image.fromarray(read_picture(path))
    picture.thumbnail((side_px, side_px), Image.Resampling.BICUBIC, reducing_gap=2.0)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()
