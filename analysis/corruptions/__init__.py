"""Image corruptions of continuously varying strength: pure, seeded, one file a family.

A new function is written into its family's file and named there in ``FAMILY``; pages, commands and the API read
`CORRUPTIONS`. A new family is one file more, and its place in `FAMILIES`. A function of the user's own is in a module
of the user's, which calls `register`; `load_modules` imports it. One of another package is an entry point of the group
``humanexp.corruptions``, named as the function, whose object is the `Corruption`; `load_plugins` imports it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from analysis import plugins
from analysis.corruptions import blur, colour, noise, weather
from analysis.corruptions.imagenet_c import LEVELS
from analysis.corruptions.registry import (
    NO_CORRUPTION,
    Corruption,
    Picture,
    apply_corruption,
    check_picture,
    collect,
    lookup,
)
from analysis.errors import InvalidInput, ParameterOutOfDomain, PluginUnavailable, UnknownName

__all__ = [
    "CORRUPTIONS",
    "FAMILIES",
    "LEVELS",
    "NO_CORRUPTION",
    "Corruption",
    "corrupt",
    "find_corruption",
    "load_modules",
    "load_plugins",
    "plugged",
    "register",
]

#: The built-in families, in the order in which they are offered.
FAMILIES: tuple[tuple[Corruption, ...], ...] = (noise.FAMILY, blur.FAMILY, colour.FAMILY, weather.FAMILY)
#: Every corruption function by name.
CORRUPTIONS: dict[str, Corruption] = collect(*FAMILIES)


def find_corruption(name: str, version: str | None = None) -> Corruption:
    """Corruption function by name.

    Parameters
    ----------
    name : str
        Name in `CORRUPTIONS`.
    version : str, optional
        Exactly this version: the registered one, or that of the published levels in `LEVELS`.

    Raises
    ------
    UnknownName
        If there is no such function, or not in this version; the known ones are told.
    """
    if version is not None and name in LEVELS and LEVELS[name].version == version:
        return LEVELS[name]
    corruption = lookup(CORRUPTIONS, name)
    if version is not None and version != corruption.version:
        known = [corruption.version, *([LEVELS[name].version] if name in LEVELS else [])]
        raise UnknownName(f"There is no version {version!r} of {name} here; there is {' and '.join(known)}.")
    return corruption


def register(corruption: Corruption) -> Corruption:
    """Add a function of the user's own to `CORRUPTIONS`.

    Raises
    ------
    InvalidInput
        If its name is taken, or reserved for the clean picture.
    """
    both = collect(tuple(CORRUPTIONS.values()), (corruption,))
    CORRUPTIONS.clear()
    CORRUPTIONS.update(both)
    return corruption


def load_modules(names: Iterable[str]) -> None:
    """Import modules that register functions; one that is loaded already is left alone.

    What `plugged` names is loaded as a plug-in.

    Raises
    ------
    InvalidInput
        If a module cannot be found, or fails while it is imported.
    """
    for name in names:
        group, _, function = name.partition(":")
        if function and group == plugins.CORRUPTIONS:
            load_plugins([function])
            continue
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise InvalidInput(f"The corruption module {name!r} cannot be imported: {error}.") from error


#: Functions of other packages that this process has loaded.
_plugged: list[str] = []


def plugged() -> tuple[str, ...]:
    """Functions of other packages that this process has loaded, as `load_modules` takes them in another process."""
    return tuple(f"{plugins.CORRUPTIONS}:{name}" for name in _plugged)


def load_plugins(names: Iterable[str]) -> None:
    """Import the plug-ins that bring functions of these names; names that are known, or that none brings, are left.

    Raises
    ------
    PluginUnavailable
        If a plug-in cannot be imported, or brings something else.
    """
    for name in names:
        if name in CORRUPTIONS or (found := plugins.plugin(plugins.CORRUPTIONS, name)) is None:
            continue
        made = found.load()
        if not isinstance(made, Corruption) or made.name != name:
            raise PluginUnavailable(
                f"The plug-in {name} of {found.title} is {type(made).__name__} {getattr(made, 'name', '')!s}".rstrip()
                + f", not an analysis.corruptions.registry.Corruption that is called {name}."
            )
        register(replace(made, source=made.source or found.title))
        _plugged.append(name)


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
    version : str, optional
        See `find_corruption`.

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
