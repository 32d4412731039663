"""What other packages add by entry points: found by name, and imported only when it is asked for.

A group maps names to objects, as the documents of each say. A name that the product has itself stays the product's;
what two packages call alike is neither's. Whoever calls `Plugin.load` runs the code of a package: that is for the
command line, never for a web form.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from analysis.errors import PluginUnavailable

CLASSIFIERS = "humanexp.classifiers"
OBSERVERS = "humanexp.observers"
CORRUPTIONS = "humanexp.corruptions"
GENERATORS = "humanexp.generators"


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point.

    Attributes
    ----------
    name : str
        Under which it is asked for.
    package, version : str
        Of the distribution that brings it.
    entry : EntryPoint
    """

    name: str
    package: str
    version: str
    entry: metadata.EntryPoint

    @property
    def title(self) -> str:
        """Package and version, as runs keep them."""
        return f"{self.package} {self.version}"

    def load(self) -> Any:
        """Import it.

        Raises
        ------
        PluginUnavailable
            Whatever goes wrong in its code.
        """
        try:
            return self.entry.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001  the code of others may raise anything
            raise PluginUnavailable(
                f"The plug-in {self.name} of {self.title} cannot be imported ({type(error).__name__}: {error}). Repair "
                "or uninstall the package."
            ) from error


def plugin(group: str, name: str) -> Plugin | None:
    """The plug-in of this name, without importing it; None where there is none.

    Raises
    ------
    PluginUnavailable
        If several packages have one of this name.
    """
    found = [one for one in _all(group) if one.name == name]
    if len({one.package for one in found}) > 1:
        raise PluginUnavailable(_twice(name, found))
    return found[0] if found else None


def offered(group: str, shipped: Collection[str]) -> tuple[Plugin, ...]:
    """Plug-ins that can be asked for: those whose names the product and other packages leave free."""
    every = _all(group)
    packages = {one.name: {other.package for other in every if other.name == one.name} for one in every}
    return tuple(one for one in every if one.name not in shipped and len(packages[one.name]) == 1)


def refusals(group: str, shipped: Collection[str]) -> tuple[str, ...]:
    """Why plug-ins are left out, a sentence each."""
    every = _all(group)
    names = {one.name: [other for other in every if other.name == one.name] for one in every}
    taken = [
        f"The plug-in {one.name} of {one.title} is left out: {one.name} is HumanExp's own. Give it another name in "
        f"the group {group}."
        for one in every
        if one.name in shipped
    ]
    twice = [
        _twice(name, found)
        for name, found in names.items()
        if name not in shipped and len({one.package for one in found}) > 1
    ]
    return (*taken, *twice)


def _twice(name: str, found: list[Plugin]) -> str:
    titles = " and ".join(sorted({one.title for one in found}))
    return f"There are two plug-ins {name}, of {titles}: uninstall one of them."


def _all(group: str) -> list[Plugin]:
    """By name; a package that is on the path twice counts once, as Python imports it."""
    found: dict[tuple[str, str], Plugin] = {}
    for entry in metadata.entry_points(group=group):
        package, version = (entry.dist.name, entry.dist.version) if entry.dist else ("a package without a name", "?")
        found.setdefault((entry.name, package), Plugin(entry.name, package, version, entry))
    return [found[key] for key in sorted(found)]
