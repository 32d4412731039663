"""A figure of the papers: what it needs, what may be chosen in it, and what drawing it gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from analysis.figures.drawing import draw
from analysis.figures.paper import canvas_to_file, draw_sheet
from analysis.figures.table import Table
from analysis.figures.value import Figure
from humanexp.core.errors import InvalidRequest, NotFound
from humanexp.core.pages.rendering import drawn

if TYPE_CHECKING:
    import matplotlib.figure

#: What a figure is of; one of nothing is drawn from its definition.
Subject = Literal["study", "stimulus set", "search", "step study", "retraining", "nothing"]
#: What can be chosen by a few words only, the usual one first.
OPTIONS = {"property": ("accuracy", "consistency"), "panels": ("found", "families", "published")}
#: What numbers of changes, and names, are separated by.
_COMMA = ","


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is chosen in a figure; empty takes what the figure says of itself."""

    #: accuracy or consistency
    property: str = "accuracy"
    #: corruption function, by its name
    function: str = ""
    #: classifier, by its name
    model: str = ""
    #: an original, by its key
    original: str = ""
    #: visual changes in [0, 1]
    at: tuple[float, ...] = ()
    #: another stimulus set, by its name
    beside: str = ""
    #: further searches, by their names
    searches: tuple[str, ...] = ()
    condition: str = ""
    #: share right, in [0, 1]
    accuracy: float = 0.5
    #: what a panel is: a class that was found, a family, or a published class
    panels: str = "found"

    @classmethod
    def of(cls, given: Mapping[str, str], allowed: Collection[str]) -> Wanted:
        """Read what somebody typed; refused is what this figure does not take, and a number out of its range."""
        known = {field.name for field in fields(cls)}
        chosen = {name: value for name, value in given.items() if name in known and value != ""}
        other = sorted(set(chosen) - set(allowed))
        if other:
            takes = f"it takes {', '.join(sorted(allowed))}" if allowed else "it takes no choices"
            raise InvalidRequest(f"Nothing can be chosen by {', '.join(other)} in this figure; {takes}.")
        values: dict[str, Any] = dict(chosen)
        if "at" in values:
            values["at"] = tuple(_share(one, "at") for one in chosen["at"].split(_COMMA))
        if "searches" in values:
            values["searches"] = tuple(dict.fromkeys(names_in(chosen["searches"])))
        if "accuracy" in values:
            values["accuracy"] = _share(chosen["accuracy"], "accuracy")
        for name, options in OPTIONS.items():
            if values.get(name, options[0]) not in options:
                listed = f"{', '.join(options[:-1])} or {options[-1]}"
                raise InvalidRequest(f"{name} is {listed}, not {values[name]!r}.")
        return cls(**values)


def names_in(text: str) -> list[str]:
    """Names that are separated by commas."""
    return [name.strip() for name in text.split(_COMMA) if name.strip()]


def _share(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise InvalidRequest(f"{name} takes numbers from 0 to 1 with a point, not {text.strip()[:20]!r}.")
    return value


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A figure ready to be written: nothing is drawn, and no picture read, before it is asked for."""

    title: str
    draw: Callable[[str], matplotlib.figure.Figure]
    #: the numbers behind it, the main table first
    tables: Callable[[], tuple[Table, ...]]
    #: what a caption has to say
    caption: tuple[str, ...] = ()
    #: what is seen, in words
    said: str = ""

    @classmethod
    def of_figure(cls, figure: Figure, *tables: Table, caption: tuple[str, ...] = ()) -> Drawn:
        return cls(
            title=figure.title,
            draw=lambda width: draw(figure, width=width),
            tables=lambda: tables,
            caption=(*figure.notes, *caption),
            said=figure.description,
        )

    @classmethod
    def of_panels(
        cls, panels: list[tuple[str, Figure]], *tables: Table, title: str, caption: tuple[str, ...] = ()
    ) -> Drawn:
        """Several on one sheet."""
        return cls(
            title=title,
            draw=lambda width: draw_sheet(panels, width=width),
            tables=lambda: tables,
            caption=(*dict.fromkeys(note for _, figure in panels for note in figure.notes), *caption),
            said=" ".join(f"{name}: {figure.description}" for name, figure in panels),
        )

    def write(self, path: Path, *, width: str, font: str = "") -> Path:
        """As .svg, .pdf or .png, by the suffix."""
        return canvas_to_file(lambda: self.draw(width), path, title=self.title, said=self.said, font=font)

    def content(self, suffix: str, *, width: str, font: str = "") -> bytes:
        """The same as bytes."""
        return drawn(suffix, partial(self.write, width=width, font=font))

    def write_all(self, folder: Path, name: str, kinds: Collection[str], *, width: str, font: str = "") -> list[Path]:
        """Into a folder, in each of these kinds, with a CSV file for each table: the first has the figure's name."""
        folder.mkdir(parents=True, exist_ok=True)
        written = [self.write(folder / f"{name}.{kind}", width=width, font=font) for kind in kinds]
        for place, table in enumerate(self.tables()):
            path = folder / (f"{name}.csv" if not place else f"{name}-{table.key}.csv")
            path.write_text(table.to_csv(), encoding="utf-8")
            written.append(path)
        return written


@dataclass(frozen=True, kw_only=True)
class PublishedFigure:
    """A figure that can be asked for by its name."""

    name: str
    title: str
    of: Subject
    #: which figures of which papers it is
    papers: str
    #: what must be there, in words that follow "It needs"
    needs: str
    build: Callable[[Any, Wanted], Drawn]
    #: names of `Wanted` that it takes
    choices: tuple[str, ...] = ()
    #: keys of its further tables
    tables: tuple[str, ...] = ()

    def drawn(self, subject: Any, given: Mapping[str, str]) -> Drawn:
        """Ready to be written; refused with what to do where data are missing."""
        return self.build(subject, Wanted.of(given, self.choices))


def chosen(names: Collection[str], wanted: str, what: str) -> str:
    """The one that is asked for, or the first; refused with those that there are."""
    if wanted and wanted not in names:
        raise NotFound(f"There is no {what} {wanted!r}; there are: {', '.join(names)}.")
    return wanted or next(iter(names))
