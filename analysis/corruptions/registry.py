"""What a corruption function is, and the one place where a corruption is applied."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InvalidInput, ParameterOutOfDomain, PictureRefused, UnknownName

Picture = NDArray[np.uint8]
#: Intensities in [0, 255], not yet rounded or clipped, float32 of shape (h, w, 3).
Intensities = NDArray[np.float32]

#: Reserved name of the clean picture, which is a stimulus too.
NO_CORRUPTION = "none"


@dataclass(frozen=True, kw_only=True)
class Corruption:
    """A corruption function with its continuous domain.

    Parameters
    ----------
    name : str
        Registry name, as stored with every stimulus.
    label : str
        Name for people.
    family : str
        Name of the family's file, and its heading on pages; a user's own may have any other.
    version : str
        Counted up whenever the bytes change for equal arguments.
    low, high : float
        Parameter at the weakest and at the strongest end; ``low > high`` where a falling parameter damages more.
    scale : {"log", "linear"}
        How the domain is traversed.
    unit : str
        What the parameter counts.
    function : callable
        ``(intensities, parameter, seed) -> intensities``; for one seed, ever the same random field at every parameter.
        It must not change its argument, and may return values outside [0, 255], which are clipped.
    redraws : int
        How many seeds may be tried for one target: above 1 where the seed draws a direction that may lead nowhere.
    is_levelled : bool
        Whether the parameter counts published levels: whole numbers only.
    formula, source, departure : str
        For people: what is computed, where it is from, and how it differs from there.

    Raises
    ------
    InvalidInput
        If the name is no lower-case identifier, the version is empty, the domain has no width or cannot be traversed
        as said, or no seed may be tried.
    """

    name: str
    label: str
    family: str
    version: str
    low: float
    high: float
    scale: Literal["log", "linear"]
    unit: str
    function: Callable[[Intensities, float, int], Intensities]
    redraws: int = 1
    is_levelled: bool = False
    formula: str = ""
    source: str = ""
    departure: str = ""

    def __post_init__(self) -> None:
        if not (self.name.isidentifier() and self.name.islower()):
            raise InvalidInput(f"A corruption's name must be lower-case letters, digits and _, not {self.name!r}.")
        if not self.version:
            raise InvalidInput(f"The corruption {self.name} needs a version.")
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low != self.high):
            raise InvalidInput(f"The domain of {self.name} needs two different ends, not {self.low} and {self.high}.")
        if self.scale == "log" and min(self.low, self.high) <= 0:
            raise InvalidInput(f"The domain of {self.name} can only be traversed on a log scale if it lies above 0.")
        if self.redraws < 1:
            raise InvalidInput(f"At least one seed must be tried for a target of {self.name}, not {self.redraws}.")

    def parameter_at(self, t: float, *, scale: Literal["log", "linear"] | None = None) -> float:
        """Parameter at relative strength t in [0, 1].

        Parameters
        ----------
        t : float
        scale : {"log", "linear"}, optional
            How the domain is traversed; as it usually is, if left out.

        Raises
        ------
        ParameterOutOfDomain
            If t lies outside [0, 1].
        """
        if not 0.0 <= t <= 1.0:
            raise ParameterOutOfDomain(f"Relative strength of {self.name} must lie in [0, 1], not {t}.")
        if (scale or self.scale) == "log":
            parameter = math.exp((1.0 - t) * math.log(self.low) + t * math.log(self.high))
        else:
            parameter = (1.0 - t) * self.low + t * self.high
        if self.is_levelled:
            parameter = math.floor(parameter + 0.5)
        return min(max(parameter, min(self.low, self.high)), max(self.low, self.high))

    def check(self, parameter: float) -> float:
        """Return the parameter as a float.

        Raises
        ------
        ParameterOutOfDomain
            If it lies outside the domain, is no number, or falls between two levels.
        """
        lowest, highest = min(self.low, self.high), max(self.low, self.high)
        if not lowest <= parameter <= highest:
            raise ParameterOutOfDomain(
                f"{self.name} takes a parameter from {lowest:g} to {highest:g} ({self.unit}), not {parameter}."
            )
        if self.is_levelled and parameter != int(parameter):
            raise ParameterOutOfDomain(
                f"{self.name} of version {self.version} has the levels {lowest:g} to {highest:g}, not {parameter}."
            )
        return float(parameter)


def check_picture(picture: NDArray[Any]) -> Picture:
    """Return the picture, which must be RGB uint8.

    Raises
    ------
    PictureRefused
        If dtype or shape differ, or a side is empty.
    """
    if getattr(picture, "dtype", None) != np.uint8:
        kind = getattr(picture, "dtype", type(picture).__name__)
        raise PictureRefused(f"A picture must be an array of uint8, not {kind}.")
    if picture.ndim != 3 or picture.shape[2] != 3 or 0 in picture.shape:
        raise PictureRefused(f"A picture must have the shape (height, width, 3), not {picture.shape}.")
    return picture


def stream_seed(seed: int, name: str, version: str) -> int:
    """Seed of a corruption's own random stream: a hash, so that neighbouring seeds and functions share nothing."""
    key = f"{name}/{version}/{int(seed)}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=16).digest(), "big")


def apply_corruption(corruption: Corruption, picture: NDArray[Any], parameter: float, seed: int) -> Picture:
    """Corrupt a picture with a given function; see `analysis.corruptions.corrupt`."""
    source = check_picture(picture)
    intensities = corruption.function(
        source.astype(np.float32), corruption.check(parameter), stream_seed(seed, corruption.name, corruption.version)
    )
    rounded = np.rint(intensities)
    return np.clip(rounded, 0.0, 255.0, out=rounded).astype(np.uint8)


def lookup(corruptions: dict[str, Corruption], name: str) -> Corruption:
    """Corruption registered under a name.

    Raises
    ------
    UnknownName
        If nothing is registered under it.
    """
    try:
        return corruptions[name]
    except KeyError:
        known = ", ".join(sorted(corruptions))
        raise UnknownName(f"There is no corruption named {name!r}; choose from {known}.") from None


def collect(*families: tuple[Corruption, ...]) -> dict[str, Corruption]:
    """Registry of several families, sorted by name.

    Raises
    ------
    InvalidInput
        If a name is taken twice, or reserved.
    """
    corruptions: dict[str, Corruption] = {}
    for corruption in (corruption for family in families for corruption in family):
        if corruption.name in corruptions or corruption.name == NO_CORRUPTION:
            raise InvalidInput(f"The corruption name {corruption.name!r} is taken.")
        corruptions[corruption.name] = corruption
    return dict(sorted(corruptions.items()))
