"""Textures of ice on a window pane, drawn the way frost grows.

Seeds of ice sit on the pane; from each, stems run out, curve a little, and carry two rows of branches, which carry
branches again, all near the angle of hexagonal ice. Young crystals lie over old, dim ones; in between lies a film of
fine grains. Light and tint vary slowly over the pane. The textures differ in density, size, clarity and tint, from
clear panes with single ferns to panes frozen all over.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from analysis import opencv as cv2

SIDE_PX = 512

Texture = NDArray[np.uint8]
_Plane = NDArray[np.float32]
_Points = NDArray[np.float64]

#: Drawing coordinates count 1/16 px.
_SHIFT_BITS = 4


@dataclass(frozen=True)
class _Pane:
    """What one texture looks like: crystals on it, length of their stems, light of ice and of the clear pane, tint."""

    crystals: int
    stem_px: float
    ice: float
    clear: float
    grain: float
    tint: tuple[float, float, float]


_PANES = (
    _Pane(crystals=30, stem_px=180, ice=250, clear=30, grain=30, tint=(0.86, 0.96, 1.00)),
    _Pane(crystals=80, stem_px=110, ice=265, clear=60, grain=36, tint=(0.95, 0.98, 1.00)),
    _Pane(crystals=16, stem_px=280, ice=240, clear=20, grain=24, tint=(0.72, 0.92, 1.00)),
    _Pane(crystals=130, stem_px=80, ice=265, clear=85, grain=40, tint=(0.97, 0.98, 1.00)),
    _Pane(crystals=46, stem_px=155, ice=260, clear=50, grain=44, tint=(0.85, 0.93, 1.00)),
    _Pane(crystals=100, stem_px=100, ice=250, clear=25, grain=30, tint=(0.91, 0.96, 1.00)),
)
TEXTURES = len(_PANES)


@lru_cache(maxsize=TEXTURES)
def ice_texture(number: int) -> Texture:
    """Texture of ice.

    Parameters
    ----------
    number : int
        From 0 to ``TEXTURES - 1``.

    Returns
    -------
    ndarray of uint8, shape (SIDE_PX, SIDE_PX, 3)
        RGB, read-only. The same number, the same texture.
    """
    pane = _PANES[number]
    rng = np.random.default_rng([number, 7])
    # Old, dim growth behind; large crystals in front.
    ice = np.float32(0.45) * _growth(rng, 3 * pane.crystals // 2, 0.65 * pane.stem_px)
    ice = np.maximum(ice, _growth(rng, pane.crystals, pane.stem_px))
    return _lit(rng, ice, pane)


def _growth(rng: np.random.Generator, crystals: int, stem_px: float) -> _Plane:
    """Crystals over crystals; height 0 to 1."""
    growth = np.zeros((SIDE_PX, SIDE_PX), dtype=np.uint8)
    for seed in _scattered(rng, crystals):
        _draw_crystal(growth, rng, seed, stem_px)
    return growth.astype(np.float32) / np.float32(255.0)


def _scattered(rng: np.random.Generator, count: int) -> _Points:
    """Points over the pane that keep their distance, shape (count, 2): the farthest of a few draws, again and again."""
    points = rng.uniform(0, SIDE_PX, (1, 2))
    while len(points) < count:
        candidates = rng.uniform(0, SIDE_PX, (6, 2))
        distance = np.min(np.linalg.norm(candidates[:, None] - points, axis=2), axis=1)
        points = np.vstack([points, candidates[np.argmax(distance)]])
    return np.asarray(points, dtype=np.float64)


def _draw_crystal(canvas: Texture, rng: np.random.Generator, seed: _Points, stem_px: float) -> None:
    """A fan of feathers, or sometimes a star."""
    stems = int(rng.integers(2, 7))
    spread = 2 * np.pi if rng.random() < 0.2 else rng.uniform(0.5, 1.0) * stems * 0.5
    towards = rng.uniform(0, 2 * np.pi)
    sway = rng.normal(0, 0.5)
    for stem in range(stems):
        angle = towards + spread * (stem - (stems - 1) / 2) / stems + rng.normal(0, 0.08)
        _draw_feather(canvas, rng, seed, angle, stem_px * rng.uniform(0.5, 1.3), sway + rng.normal(0, 0.25))


def _draw_feather(
    canvas: Texture, rng: np.random.Generator, root: _Points, angle: float, length_px: float, sway: float
) -> None:
    """A stem that bends by ``sway`` radians, over branches, over the branches' own branches."""
    steps = max(8, int(length_px / 4))
    headings = angle + sway * np.linspace(0, 1, steps) ** 1.5
    path = root + np.cumsum(length_px / steps * _unit(headings), axis=0)
    along = np.repeat(np.linspace(0.04, 0.98, max(4, int(length_px / 6.5))), 2)
    side = np.tile([-1.0, 1.0], len(along) // 2)
    place = np.minimum((along * steps).astype(int), steps - 1)
    reach = 0.36 * length_px * (1 - along) ** 0.8 * np.minimum(1.0, 5 * along)
    reach *= rng.uniform(0.35, 1.2, len(along)) * (rng.random(len(along)) < 0.9)
    branch_heading = headings[place] + side * rng.normal(0.85, 0.06, len(along))
    # Branches bend towards the tip of the stem.
    elbow = path[place] + 0.5 * reach[:, None] * _unit(branch_heading)
    tip = elbow + 0.5 * reach[:, None] * _unit(branch_heading - 0.25 * side)

    share = np.linspace(0.15, 0.95, 8)
    twig_root = path[place][:, None] + (tip - path[place])[:, None] * share[:, None]
    twig_side = np.tile([-1.0, 1.0], (*twig_root.shape[:2], 1))
    twig_heading = branch_heading[:, None, None] + 0.9 * twig_side
    twig_px = np.minimum(0.28 * reach[:, None] * (1 - share) + 1.0, 8.0) * rng.uniform(0.4, 1.1, twig_root.shape[:2])
    twig_tip = twig_root[:, :, None] + twig_px[:, :, None, None] * _unit(twig_heading)
    twigs = np.stack([np.broadcast_to(twig_root[:, :, None], twig_tip.shape), twig_tip], axis=3)

    grown = reach > 3
    light = rng.integers(0, 40, 3)
    _draw_lines(canvas, twigs[grown].reshape(-1, 2, 2), 60 + int(light[0]))
    _draw_lines(canvas, np.stack([path[place], elbow, tip], axis=1)[grown], 130 + int(light[1]))
    _draw_lines(canvas, path[None], 205 + int(light[2]))


def _unit(angle: NDArray[np.float64]) -> _Points:
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _draw_lines(canvas: Texture, lines: _Points, light: int) -> None:
    points = np.rint(lines * (1 << _SHIFT_BITS)).astype(np.int32)
    cv2.polylines(canvas, list(points), isClosed=False, color=light, lineType=cv2.LINE_AA, shift=_SHIFT_BITS)


def _clouds(rng: np.random.Generator, power: float) -> _Plane:
    """Noise whose amplitude falls as ``frequency ** -power``, mean 0, standard deviation 1."""
    frequency = np.hypot(np.fft.fftfreq(SIDE_PX)[:, None], np.fft.rfftfreq(SIDE_PX))
    frequency[0, 0] = np.inf
    phase = rng.random(frequency.shape)
    clouds = np.fft.irfft2(frequency**-power * np.exp(2j * np.pi * phase), s=(SIDE_PX, SIDE_PX))
    return np.asarray((clouds - clouds.mean()) / clouds.std(), dtype=np.float32)


def _lit(rng: np.random.Generator, ice: _Plane, pane: _Pane) -> Texture:
    """Light on ice of height 0 to 1: edges that face the light gleam, the others lie in shade."""
    height = cv2.GaussianBlur(ice, (0, 0), 0.5)
    body = cv2.GaussianBlur(ice, (0, 0), 6.0)
    relief = cv2.Sobel(height, cv2.CV_32F, 1, 0) + cv2.Sobel(height, cv2.CV_32F, 0, 1)
    slow = _clouds(rng, 2.0)
    grain = _clouds(rng, 0.5)
    film = np.clip(0.5 + 0.35 * _clouds(rng, 1.5), 0.0, 1.0)
    share = np.clip(1.05 * height + 0.25 * body + 0.2 * film - 0.1, 0.0, 1.0)
    light = pane.clear + (pane.ice - pane.clear) * share
    light = light * (1.0 + 0.12 * slow) + 14.0 * relief + pane.grain * (0.1 + 0.9 * film * film) * grain * 0.4
    tint = np.array(pane.tint, dtype=np.float32)
    # Thick ice is white, the film between takes the tint.
    colour = tint + (1.0 - tint) * share[..., None]
    texture: Texture = np.rint(np.clip(light[..., None] * colour, 0.0, 255.0)).astype(np.uint8)
    texture.flags.writeable = False
    return texture
