"""Image corruptions of continuously varying strength: pure, seeded, one file a family.

A new function is written into its family's file and named there in ``FAMILY``; pages, commands and the API read
`CORRUPTIONS`. A new family is one file more, and one line here.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from analysis.corruptions import blur, colour, noise, weather
from analysis.corruptions.registry import (
    NO_CORRUPTION,
    Corruption,
    Picture,
    apply_corruption,
    check_picture,
    collect,
    lookup,
)
from analysis.errors import ParameterOutOfDomain, UnknownName

__all__ = ["CORRUPTIONS", "NO_CORRUPTION", "Corruption", "corrupt", "find_corruption", "load_modules"]

#: Every corruption function by name.
CORRUPTIONS: dict[str, Corruption] = collect(noise.FAMILY, blur.FAMILY, colour.FAMILY, weather.FAMILY)


def find_corruption(name: str, version: str | None = None) -> Corruption:
    """Corruption registered under a name; with a version, exactly that one. `UnknownName` tells the known ones."""
    corruption = lookup(CORRUPTIONS, name)
    if version is not None and version != corruption.version:
        raise UnknownName(f"There is no version {version!r} of {name}; this program has {corruption.version!r}.")
    return corruption


def load_modules(names: Iterable[str]) -> None:
    """Import modules that register functions of the user's own."""
    for name in names:
        importlib.import_module(name)


def corrupt(image: NDArray[Any], name: str, parameter: float, seed: int, *, version: str | None = None) -> Picture:
    """Corrupt a picture.

    Parameters
    ----------
    image : ndarray of uint8, shape (h, w, 3)
        RGB picture; it is not changed.
    name : str
        Name in `CORRUPTIONS`, or ``"none"`` with parameter 0, which returns a copy.
    parameter : float
        Within the function's domain.
    seed : int
        Same arguments, same bytes. For one seed the random field is the same at every parameter, so that the damage
        grows with it.

    Returns
    -------
    ndarray of uint8, shape (h, w, 3)
        Rounded to the nearest intensity.

    Raises
    ------
    UnknownName, ParameterOutOfDomain, PictureRefused
        For a name, a parameter or a picture that cannot be used.
    """
    if name == NO_CORRUPTION:
        if parameter != 0:
            raise ParameterOutOfDomain(f"The clean picture ({NO_CORRUPTION}) takes the parameter 0, not {parameter}.")
        return check_picture(image).copy()
    return apply_corruption(find_corruption(name, version), image, parameter, seed)
