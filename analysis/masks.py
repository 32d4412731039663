"""The noise mask that ends the visibility of a stimulus."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InvalidInput


def noise_mask(seed: int, size_px: int, contrast: float = 1.0) -> NDArray[np.uint8]:
    """Grey noise with power 1/f, periodic, of the full range.

    Parameters
    ----------
    seed : int
        Same arguments, same mask.
    size_px : int
        Side of the square.
    contrast : float
        Factor about the middle grey, clipped to the range; the second batch of Geirhos et al. (2018) used 4.

    Returns
    -------
    ndarray of uint8, shape (size_px, size_px)

    Raises
    ------
    InvalidInput
        For a side under 2 px, or a contrast that is not positive.

    Notes
    -----
    Geirhos et al. (2018), lab experiments, ``spatialPattern`` with beta = -1: power ``S(f) = 1 / f`` with ``S(0) = 0``,
    ``x = Re(ifft2(sqrt(S) exp(2 pi i phi)))`` with uniform phases, then stretched from its minimum to its maximum. So
    the *amplitude* falls as ``1 / sqrt(f)``.
    """
    if size_px < 2:
        raise InvalidInput(f"A mask needs a side of at least 2 px, not {size_px}.")
    if not contrast > 0:
        raise InvalidInput(f"The contrast of a mask must be positive, not {contrast}.")
    cycles_per_px = np.fft.fftfreq(size_px)
    frequency = np.hypot(cycles_per_px[:, None], cycles_per_px[None, :])
    frequency[0, 0] = np.inf
    phase = np.random.default_rng(seed).random((size_px, size_px))
    pattern: NDArray[np.float64] = np.fft.ifft2(frequency**-0.5 * np.exp(2j * np.pi * phase)).real
    pattern = (pattern - pattern.min()) / (pattern.max() - pattern.min())
    pattern = np.clip((pattern - 0.5) * contrast + 0.5, 0.0, 1.0)
    return np.asarray(np.rint(pattern * 255.0), dtype=np.uint8)
