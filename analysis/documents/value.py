"""`Document`: what a report says, and its drawings, made once for the HTML and the PDF file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from analysis.figures.paper import sheet_to_file, to_file
from analysis.figures.table import Table
from analysis.figures.value import Figure


def draw_figures(document: Document, *, report: Callable[[int], None] = lambda done: None) -> tuple[str, ...]:
    """Every figure of the document as SVG text, in order.

    Parameters
    ----------
    document : Document
    report : callable
        Called with the number of figures drawn so far.
    """
    drawn: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for section in document.sections:
            for block in section.blocks:
                if isinstance(block, Drawing):
                    path = block.to_file(Path(folder) / f"{len(drawn)}.svg")
                    text = path.read_text(encoding="utf-8")
                    drawn.append(text[text.index("<svg") :])
                    report(len(drawn))
    return tuple(drawn)


@dataclass(frozen=True)
class Paragraph:
    """Running text; a note is set off from it (a caveat)."""

    text: str
    is_note: bool = False


@dataclass(frozen=True)
class Items:
    """A list of short texts."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Names with values: versions, digests, dates."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FigureBlock:
    """A figure with its caption."""

    figure: Figure
    caption: str
    #: one of `analysis.figures.drawing.WIDTHS`
    width: str = "text"

    @property
    def title(self) -> str:
        return self.figure.title

    @property
    def description(self) -> str:
        """What is seen, in words."""
        return self.figure.description

    def to_file(self, path: Path) -> Path:
        return to_file(self.figure, path, width=self.width)


@dataclass(frozen=True)
class SheetBlock:
    """Several figures as panels of one drawing, with their caption."""

    title: str
    #: What stands above a panel, and what is drawn in it.
    panels: tuple[tuple[str, Figure], ...]
    caption: str

    @property
    def description(self) -> str:
        """What is seen, in words."""
        return " ".join(f"{name}: {figure.description}" for name, figure in self.panels)

    def to_file(self, path: Path) -> Path:
        return sheet_to_file(self.panels, path, title=self.title, width="text")


@dataclass(frozen=True)
class TableBlock:
    """A table; its title and notes are the caption."""

    table: Table


Drawing = FigureBlock | SheetBlock
Block = Paragraph | Items | Facts | Drawing | TableBlock


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A report as a value.

    Parameters
    ----------
    title, subtitle : str
    abstract : tuple of str
        Paragraphs above the first heading: the answer first.
    sections : tuple of Section
    language : str
        Of the texts, as in HTML's ``lang``.
    """

    title: str
    subtitle: str
    abstract: tuple[str, ...]
    sections: tuple[Section, ...]
    language: str = "en"

    @property
    def figures(self) -> int:
        """Number of figures: what writing takes is nearly all theirs."""
        return sum(isinstance(block, Drawing) for section in self.sections for block in section.blocks)
