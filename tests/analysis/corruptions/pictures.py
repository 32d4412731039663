"""Pictures that the tests of several families share."""

from __future__ import annotations

import cv2
import numpy as np


def textured(side: int = 128, seed: int = 5) -> np.ndarray:
    """Blobs, edges and grain in colour: something to lose at every scale."""
    rng = np.random.default_rng(seed)
    coarse = cv2.resize(rng.random((6, 6, 3), dtype=np.float32), (side, side), interpolation=cv2.INTER_CUBIC)
    fine = cv2.GaussianBlur(rng.random((side, side, 3), dtype=np.float32), (0, 0), 1.0)
    picture = 200 * coarse + 120 * (fine - 0.5) + 30
    cv2.rectangle(picture, (side // 4, side // 3), (side // 2, 3 * side // 4), (230, 60, 20), -1)
    cv2.circle(picture, (3 * side // 4, side // 3), side // 8, (20, 90, 220), -1)
    return np.rint(np.clip(picture, 0, 255)).astype(np.uint8)
