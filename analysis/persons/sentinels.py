"""Families of sentinel pictures in which people and machines differ, and how they are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray
from analysis.errors import InvalidInput, PictureRefused, UnknownName
from analysis.study.persons import MOST_PERSON_TRIALS

Picture = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class Sentinel:
    """A family of sentinel pictures.

    Parameters
    ----------
    name : str
        Lower-case identifier, as stored with every trial.
    label : str
        Name for people.
    version : str
        Counted up whenever the pictures change for equal originals.
    make : callable, optional
        ``(picture) -> picture`` from an ordinary RGB photograph, shape (h, w, 3); None where a lab brings the pictures.
        It raises `analysis.errors.PictureRefused` for a photograph that does not lend itself.
    has_lure : bool
        Whether each picture has a second category that machines tend to name.
    source : str
        Where it is from.
    """

    name: str
    label: str
    version: str
    make: Callable[[Picture], Picture] | None = None
    has_lure: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        if not (self.name.isidentifier() and self.name.islower()):
            raise InvalidInput(f"A sentinel's name must be lower-case letters, digits and _, not {self.name!r}.")


#: Every family by name.
SENTINELS: dict[str, Sentinel] = {}


def register_sentinel(sentinel: Sentinel) -> Sentinel:
    """Make a family known under its name.

    Raises
    ------
    InvalidInput
        If another family has the name.
    """
    if SENTINELS.get(sentinel.name, sentinel) != sentinel:
        raise InvalidInput(f"There is a family of sentinels called {sentinel.name!r} already. Choose another name.")
    SENTINELS[sentinel.name] = sentinel
    return sentinel


def find_sentinel(name: str) -> Sentinel:
    """The family of this name.

    Raises
    ------
    UnknownName
        If there is none.
    """
    if name not in SENTINELS:
        raise UnknownName(
            f"There is no family of sentinels called {name!r}; there are: {', '.join(sorted(SENTINELS))}."
        )
    return SENTINELS[name]


@dataclass(frozen=True)
class SentinelCost:
    """What sentinels cost a study: trials, and the people's time at the study's pay, in minor units of its currency."""

    trials: int
    seconds: int
    pay: int


def sentinel_cost(per_session: int, sessions: int, *, trial_ms: int, pay_per_hour: int) -> SentinelCost:
    """What so many sentinels cost.

    Parameters
    ----------
    per_session : int
        0 to 4.
    sessions : int
    trial_ms : int
        How long one trial takes, breaks and fixation included.
    pay_per_hour : int
        In minor units, such as cents.

    Returns
    -------
    SentinelCost
        Seconds and pay are rounded up.

    Raises
    ------
    InvalidInput
        If there are more than 4 a session, or any number is negative.
    """
    if not 0 <= per_session <= MOST_PERSON_TRIALS:
        raise InvalidInput(f"A session has 0 to {MOST_PERSON_TRIALS} sentinels, not {per_session}.")
    if min(sessions, trial_ms, pay_per_hour) < 0:
        raise InvalidInput("Sessions, time and pay are not negative.")
    trials = per_session * sessions
    return SentinelCost(trials, -(-trials * trial_ms // 1000), -(-trials * trial_ms * pay_per_hour // 3_600_000))


#: Of the smaller side: what is blurred away, and what is not; 3 px at 224 px, as in Geirhos et al.'s second step.
_BLUR = 3.0 / 224.0
#: Of the smaller side: border that is taken for background.
_BORDER = 0.06
#: Share of the picture that an outline may fill.
_LEAST, _MOST = 0.05, 0.7


def high_pass(picture: Picture) -> Picture:
    """Grey edges on grey: luminance without what a Gaussian of 3 px at 224 px keeps, its contrast stretched.

    Raises
    ------
    PictureRefused
        If the picture has no edges.
    """
    from scipy.ndimage import gaussian_filter

    grey = _luminance(picture)
    fine = grey - gaussian_filter(grey, _BLUR * min(grey.shape), mode="nearest")
    reach = float(np.quantile(np.abs(fine), 0.99))
    if reach < 1.0:
        raise PictureRefused("The picture has no edges: choose another original.")
    shown = np.clip(127.5 + 127.5 * fine / reach, 0.0, 255.0).round().astype(np.uint8)
    return np.repeat(shown[..., np.newaxis], 3, axis=2)


def silhouette(picture: Picture) -> Picture:
    """The object in black on white: what differs in colour from the border, as one piece without holes.

    Raises
    ------
    PictureRefused
        If no single object stands out: it would fill less than 5 % or more than 70 %, or most of it would touch the
        border. Look at the outlines that are left, too: people must recognise them.
    """
    from scipy.ndimage import binary_fill_holes, binary_opening, gaussian_filter, label

    height, width = picture.shape[:2]
    smooth = np.stack([gaussian_filter(picture[..., c].astype(np.float64), 1.0) for c in range(3)], axis=2)
    edge = max(2, round(_BORDER * min(height, width)))
    frame = np.ones((height, width), dtype=np.bool_)
    frame[edge:-edge, edge:-edge] = False
    away = _distance(smooth, smooth[frame])
    ground = away > _threshold(away)
    pieces, count = label(binary_opening(ground, iterations=2))
    if count == 0:
        raise PictureRefused("No object stands out from the border of the picture: choose another original.")
    sizes = np.bincount(pieces.ravel())[1:]
    shape = np.asarray(binary_fill_holes(pieces == 1 + int(np.argmax(sizes))), dtype=np.bool_)
    if not _LEAST <= shape.mean() <= _MOST or shape[frame].mean() > 0.3:
        raise PictureRefused("No single object stands out from the border of the picture: choose another original.")
    return np.repeat(np.where(shape, 0, 255).astype(np.uint8)[..., np.newaxis], 3, axis=2)


def _luminance(picture: Picture) -> FloatArray:
    return np.asarray(picture.astype(np.float64) @ np.array([0.299, 0.587, 0.114]))


def _distance(colours: FloatArray, ground: FloatArray) -> FloatArray:
    """Mahalanobis distance of every pixel's colour from those of the border."""
    spread = np.linalg.inv(np.cov(ground.T) + 25.0 * np.eye(3))
    apart = colours - np.median(ground, axis=0)
    return np.asarray(np.sqrt(np.einsum("hwi,ij,hwj->hw", apart, spread, apart)))


def _threshold(values: FloatArray) -> float:
    """Between two groups of values, where they differ most (Otsu 1979)."""
    counts, edges = np.histogram(values, 128)
    middles = (edges[1:] + edges[:-1]) / 2.0
    below, above = np.cumsum(counts)[:-1], np.cumsum(counts[::-1])[::-1][1:]
    low = np.cumsum(counts * middles)[:-1] / np.maximum(below, 1)
    high = np.cumsum((counts * middles)[::-1])[::-1][1:] / np.maximum(above, 1)
    return float(edges[1 + int(np.argmax(below * above * (low - high) ** 2))])


CUE_CONFLICT = register_sentinel(
    Sentinel(
        name="cue_conflict",
        label="Cue conflict: the shape of one category, the texture of another",
        version="1",
        has_lure=True,
        source="Geirhos et al. (2019); a lab brings the pictures, named as bird3-clock1 (shape, then texture).",
    )
)
HIGH_PASS = register_sentinel(
    Sentinel(
        name="high_pass", label="Edges only", version="1", make=high_pass, source="after Geirhos et al. (2018, 2019)"
    )
)
SILHOUETTE = register_sentinel(
    Sentinel(
        name="silhouette", label="Outline only", version="1", make=silhouette, source="after Geirhos et al. (2019)"
    )
)
