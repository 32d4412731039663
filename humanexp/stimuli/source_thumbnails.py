"""Small copies of originals, made when they are first looked at and kept beside the set."""

from __future__ import annotations

import io
from pathlib import Path

from humanexp.core.errors import NotFound
from humanexp.core.storage import media_path, write_whole
from humanexp.stimuli.models import SourceImage

#: Longer side by name.
SIDES_PX = {"small": 192, "large": 1024}
_QUALITY = 85


def thumbnail_path(image: SourceImage, size: str) -> Path:
    """File of the small copy; made if it is not there."""
    if size not in SIDES_PX:
        raise NotFound(f"There is no size {size!r}; there are: {', '.join(SIDES_PX)}.")
    path = media_path(f"thumbnails/{image.source_set.name}/{image.pk}-{image.sha256[:16]}-{size}.jpg")
    if not path.is_file():
        write_whole(path, _made(media_path(image.file), SIDES_PX[size]))
    return path


def _made(original: Path, side_px: int) -> bytes:
    from PIL import Image

    from analysis.errors import PictureRefused
    from analysis.generation.originals import read_picture

    try:
        picture = Image.fromarray(read_picture(original))
    except PictureRefused as error:
        raise NotFound("The file of this picture is missing or damaged: restore it from the backup.") from error
    picture.thumbnail((side_px, side_px), Image.Resampling.BICUBIC, reducing_gap=2.0)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()
