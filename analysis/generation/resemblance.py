"""Which pictures look like an earlier one, by small thumbnails."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

SIDE = 16
#: Mean difference of two thumbnails, in grey levels of 255. The same photograph at JPEG quality 30 or half the size
#: differs by 0.6, at most 1.2; two of 750 photographs of ImageNet by at least 10, line drawings by 2.6.
MOST_DIFFERENCE = 1.5
#: And as a share of the thumbnail's contrast (sd): at quality 30 at most 0.044. Pictures that are flat at this size are
#: not compared: nothing of what they show is left in it.
_MOST_OF_CONTRAST = 0.1
_FLAT = 1.0
_BLOCKS = 4
#: Neighbours that are compared for each picture: a series of equal frames does not make every pair.
_NEIGHBOURS = 4


def thumbnail_of(picture: Image.Image) -> bytes:
    """Grey levels of an RGB picture brought to 16 x 16, row by row."""
    return picture.resize((SIDE, SIDE), Image.Resampling.BOX).convert("L").tobytes()


def resembling(thumbnails: Sequence[bytes]) -> list[tuple[int, int]]:
    """Places of pictures that look like an earlier one, each with the place of that one.

    Parameters
    ----------
    thumbnails : sequence of bytes
        From `thumbnail_of`.

    Returns
    -------
    list of (int, int)
        Later and earlier place, in order; each later place once.

    Notes
    -----
    Means over blocks differ by no more than what they are means of: nearest neighbours among 16 means a picture are the
    only candidates, so that the time hardly grows faster than the number of pictures.
    """
    if len(thumbnails) < 2:
        return []
    from scipy.spatial import cKDTree

    levels = np.frombuffer(b"".join(thumbnails), dtype=np.uint8).reshape(-1, SIDE, SIDE)
    cells = SIDE // _BLOCKS
    blocks = levels.reshape(-1, _BLOCKS, cells, _BLOCKS, cells).mean(axis=(2, 4), dtype=np.float32).reshape(-1, 16)
    contrasts = levels.reshape(len(levels), -1).std(axis=1)
    most = np.where(contrasts > _FLAT, np.minimum(MOST_DIFFERENCE, _MOST_OF_CONTRAST * contrasts), -1.0)
    _, near = cKDTree(blocks).query(
        blocks, k=_NEIGHBOURS + 1, p=1, distance_upper_bound=MOST_DIFFERENCE * _BLOCKS**2 + 1e-3
    )
    pairs: dict[int, int] = {}
    for place, others in enumerate(np.atleast_2d(near)):
        for other in sorted(int(one) for one in others if one < len(levels) and one != place):
            later, earlier = max(place, other), min(place, other)
            difference = np.abs(levels[later].astype(np.int16) - levels[earlier]).mean()
            if difference <= most[later]:
                pairs[later] = min(earlier, pairs.get(later, earlier))
    return sorted(pairs.items())
