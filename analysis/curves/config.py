"""How a curve is fitted, and what holds it at its ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analysis.curves.binning import BinRule
from analysis.curves.bootstrap import Scheme
from analysis.errors import InvalidInput

AnchorKind = Literal["none", "fixed", "soft"]

#: Level at which two bands of equal width just touch when their difference has p = 0.05: 2 Phi(1.96 / sqrt 2) - 1.
OVERLAP_LEVEL = 0.8342


@dataclass(frozen=True)
class CurveConfig:
    """How a curve is fitted; validates itself.

    Parameters
    ----------
    n_bins : int
        Equal bins of visual change (M).
    segments, degree : int
        Shape of the B-spline basis.
    label_space : int
        Number of labels between which the observer chose (16, or 1000 for a classifier's own classes).
    level : float
        Level of intervals and of the pointwise band.
    simultaneous_level : float
        Level of the simultaneous band.
    n_bootstrap : int
        Refits per resampled unit; 0 for no bands.
    scheme : {"two-way", "image", "participant", "naive"} or None
        What is resampled; None when nothing is.
    method : str
        Name of the way in which the curve is drawn (`analysis.curves.METHODS`).
    bin_rule : {"equal", "paper", "open"}
    smallest_bin : int
        Answers that a bin needs to count.
    """

    n_bins: int = 40
    segments: int = 20
    degree: int = 3
    label_space: int = 16
    level: float = 0.95
    simultaneous_level: float = OVERLAP_LEVEL
    n_bootstrap: int = 0
    scheme: Scheme | None = None
    method: str = "spline"
    bin_rule: BinRule = "equal"
    smallest_bin: int = 1

    def __post_init__(self) -> None:
        if self.n_bins < 2:
            raise InvalidInput(f"A curve needs at least 2 bins, not {self.n_bins}.")
        if not (0.0 < self.level < 1.0 and 0.0 < self.simultaneous_level < 1.0):
            raise InvalidInput("Levels of bands lie strictly between 0 and 1.")
        if self.n_bootstrap < 0 or self.n_bootstrap == 1:
            raise InvalidInput(f"{self.n_bootstrap} bootstrap refits give no spread; ask for 0, or for 2 or more.")
        if self.label_space < 2:
            raise InvalidInput(f"A label space has at least 2 labels, not {self.label_space}.")


@dataclass(frozen=True)
class Anchor:
    """What holds the curve at an end of the axis."""

    kind: AnchorKind
    #: Fixed value, or rate of the trials there; None without an anchor.
    value: float | None = None
    #: Number of trials there (clean ones at 0, pure noise at 1).
    n: int = 0
    #: Sum of their outcomes.
    correct: float = 0.0
