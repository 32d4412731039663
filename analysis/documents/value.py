"""`Document`: what a report says, without a word on how it looks."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.figures import Figure, Table


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


@dataclass(frozen=True)
class TableBlock:
    """A table; its title and notes are the caption."""

    table: Table


Block = Paragraph | Items | Facts | FigureBlock | TableBlock


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
        return sum(isinstance(block, FigureBlock) for section in self.sections for block in section.blocks)
