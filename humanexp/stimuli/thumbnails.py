from __future__ import annotations

from pathlib import Path

from humanexp.core.errors import NotFound

SIZE_PX = 128
_QUALITY = 85


def thumbnail(path: Path) -> bytes:
    """A picture file at 128 px, as JPEG."""
    import cv2

    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if pixels is None:
        raise NotFound(f"The file {path.name} is damaged: run verify_stimuli.")
    if max(pixels.shape[:2]) > SIZE_PX:
        pixels = cv2.resize(pixels, (SIZE_PX, SIZE_PX), interpolation=cv2.INTER_AREA)
    _, buffer = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return buffer.tobytes()
