"""The colours that a picture file means, brought to sRGB."""

from __future__ import annotations

import io
from functools import lru_cache

import numpy as np
from PIL import Image, ImageCms

from analysis.errors import PictureRefused

#: Colours of pictures and the pixels of Pillow that hold them.
_PIXELS = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}
#: A profile that moves no colour by more levels than this is sRGB: its makers round differently, and pixels stay.
_SAME_LEVELS = 2
#: Colours along each axis that a profile is tried on.
_STEPS = 17


def in_srgb(picture: Image.Image, rgb: Image.Image, name: str) -> Image.Image:
    """Convert a picture's colours from its profile to sRGB; unchanged without a profile, or with that of sRGB.

    Colours that sRGB has stay exactly those that the profile means (relative colorimetric, with black point
    compensation), as browsers show them; the perceptual intent would move them all, as each maker of tables likes.

    Parameters
    ----------
    picture : Image
        As it was read, with its profile.
    rgb : Image
        Its pixels as RGB.
    name : str
        What refusals call it.

    Raises
    ------
    PictureRefused
        If the profile is damaged, of another kind than the pixels, or of a kind that cannot be converted.
    """
    if "icc_profile" not in picture.info:
        return rgb
    try:
        space, transform = _transform(picture.info["icc_profile"] or b"")
    except (OSError, ImageCms.PyCMSError, ValueError) as error:
        raise PictureRefused(
            f"{name}: its colour profile cannot be read ({' '.join(str(error).split())[:80]}), so nobody knows its "
            "colours. Open it where its colours look right, and save it as sRGB."
        ) from error
    is_grey = Image.getmodebase(picture.mode) == "L" and picture.mode not in ("P", "PA")
    if space not in _PIXELS or (space == "CMYK") != (picture.mode == "CMYK") or (space == "GRAY" and not is_grey):
        raise PictureRefused(
            f"{name}: its colour profile is for {space or 'unknown'} colours, its pixels are {picture.mode}. Open it "
            "where its colours look right, and save it as sRGB."
        )
    if transform is None:
        return rgb
    own = {"RGB": rgb, "GRAY": rgb.getchannel("R"), "CMYK": picture}[space]
    return transform.apply(own)


@lru_cache(maxsize=8)
def _transform(profile: bytes) -> tuple[str, ImageCms.ImageCmsTransform | None]:
    """Kind of colours of a profile, and the way to sRGB; none where it is sRGB, or no way is known."""
    opened = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    space = str(opened.profile.xcolor_space).strip()
    if space not in _PIXELS:
        return space, None
    transform = ImageCms.buildTransform(
        opened,
        ImageCms.createProfile("sRGB"),
        _PIXELS[space],
        "RGB",
        ImageCms.Intent.RELATIVE_COLORIMETRIC,
        ImageCms.Flags.BLACKPOINTCOMPENSATION,
    )
    return space, None if space != "CMYK" and _changes_nothing(transform, space) else transform


def _changes_nothing(transform: ImageCms.ImageCmsTransform, space: str) -> bool:
    levels = np.rint(np.linspace(0, 255, _STEPS)).astype(np.uint8)
    axes = (levels, levels, levels) if space == "RGB" else (np.arange(256, dtype=np.uint8),)
    colours = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(1, -1, len(axes))
    seen = np.asarray(transform.apply(Image.fromarray(colours if space == "RGB" else colours[..., 0])))
    return int(np.abs(seen.astype(int) - colours).max()) <= _SAME_LEVELS
