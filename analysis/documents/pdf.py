"""Documents as PDF: text that can be searched and copied, figures as vectors, letters embedded."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from analysis.documents.value import Block, Document, Drawing, Facts, Items, Paragraph, TableBlock, draw_figures
from analysis.figures.table import Table

if TYPE_CHECKING:
    from fpdf import FPDF

#: A4 with margins, mm.
_MARGIN, _TEXT = 20.0, 170.0
_FONT = "DejaVu"
_INK, _SOFT, _LINE = (22, 32, 43), (74, 88, 101), (221, 227, 233)
#: Drawings are at most this high, mm: a page's text.
_TALLEST = 225.0
_MM_PER_PT = 25.4 / 72
#: Size of a caption's letters, pt.
_CAPTION = 8.5
#: Height of a line per point of its letters, mm.
_LEADING = 0.52
#: What a table's cells keep from their edges, mm; sizes of letters for at most so many columns, pt.
_PADDING, _SIZES = 0.4, ((5, 8.0), (8, 7.0), (11, 6.5), (1000, 6.0))
_WORDS = re.compile(r"<(title|metadata)>.*?</\1>", re.DOTALL)
_INTERVAL = re.compile(r"\d \[.*\d\]$")
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
#: Documents made from the same value are the same file.
_UNDATED = datetime(2000, 1, 1, tzinfo=UTC)


def to_pdf(
    document: Document,
    drawings: Sequence[str] | None = None,
    *,
    report: Callable[[int], None] = lambda done: None,
) -> bytes:
    """The document as a PDF file of A4 pages; the same document gives the same bytes.

    Parameters
    ----------
    document : Document
    drawings : sequence of str, optional
        From `draw_figures`, where they exist already.
    report : callable
        Called with the number of figures that stand in the file so far.

    Returns
    -------
    bytes
    """
    pdf = _opened(document)
    _text(pdf, document.title, 17, bold=True)
    _text(pdf, document.subtitle, 9, soft=True)
    pdf.ln(3)
    for paragraph in document.abstract:
        _text(pdf, paragraph, 10.5)
        pdf.ln(2)
    drawings = draw_figures(document) if drawings is None else drawings
    drawn = 0
    for number, section in enumerate(document.sections, 1):
        begins_with_figure = bool(section.blocks) and isinstance(section.blocks[0], Drawing)
        _heading(pdf, f"{number}. {section.title}", _size(drawings[drawn])[1] if begins_with_figure else 0.0)
        for block in section.blocks:
            if isinstance(block, Drawing):
                drawn += 1
                _figure(pdf, block, drawings[drawn - 1], drawn)
                report(drawn)
            else:
                _block(pdf, block)
    return bytes(pdf.output())


def _opened(document: Document) -> FPDF:
    import matplotlib
    from fpdf import FPDF

    class Pages(FPDF):
        def footer(self) -> None:
            self.set_y(-13)
            self.set_font(_FONT, size=7)
            self.set_text_color(*_SOFT)
            self.cell(_TEXT / 2, 5, document.title[:80])
            self.cell(_TEXT / 2, 5, f"{self.page_no()} / {{nb}}", align="R")

    pdf = Pages(format="A4")
    pdf.set_margins(_MARGIN, 18, _MARGIN)
    pdf.set_auto_page_break(True, margin=20)
    pdf.set_creation_date(_UNDATED)
    pdf.set_title(document.title)
    pdf.set_lang(document.language)
    # The letters that figures are drawn with, too.
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    for style, file in (("", "DejaVuSans.ttf"), ("B", "DejaVuSans-Bold.ttf")):
        pdf.add_font(_FONT, style, fonts / file)
    pdf.add_page()
    return pdf


def _text(pdf: FPDF, text: str, size: float, *, bold: bool = False, soft: bool = False, indent: float = 0.0) -> None:
    pdf.set_font(_FONT, "B" if bold else "", size)
    pdf.set_text_color(*(_SOFT if soft else _INK))
    pdf.set_x(_MARGIN + indent)
    pdf.multi_cell(_TEXT - indent, _LEADING * size, text, align="L", new_x="LMARGIN", new_y="NEXT")


def _heading(pdf: FPDF, text: str, follows: float) -> None:
    pdf.ln(5)
    # A heading stands on the page of what follows it, `follows` mm high.
    if pdf.will_page_break(35 + follows):
        pdf.add_page()
    pdf.start_section(text)
    _text(pdf, text, 13, bold=True)
    pdf.ln(2)


def _block(pdf: FPDF, block: Block) -> None:
    match block:
        case Paragraph():
            _text(pdf, block.text, 8.5 if block.is_note else 9.5, soft=block.is_note, indent=4 if block.is_note else 0)
            pdf.ln(2)
        case Items():
            for text in block.texts:
                _text(pdf, f"•  {text}", 9, indent=2)
                pdf.ln(0.8)
            pdf.ln(1.5)
        case Facts():
            _facts(pdf, block)
        case TableBlock():
            _table(pdf, block.table)


def _facts(pdf: FPDF, facts: Facts) -> None:
    for name, value in facts.pairs:
        if pdf.will_page_break(6):
            pdf.add_page()
        top = pdf.get_y()
        _text(pdf, name, 8.5, soft=True)
        pdf.set_y(top)
        _text(pdf, value, 8.5, indent=45)
        pdf.ln(0.8)
    pdf.ln(2)


def _figure(pdf: FPDF, block: Drawing, drawing: str, number: int) -> None:
    # What is said about a drawing is no part of it, and the reader of drawings does not know it.
    drawing = _WORDS.sub("", drawing)
    width, height = _size(drawing)
    caption = f"Figure {number}. {block.caption}"
    pdf.set_font(_FONT, "", _CAPTION)
    below = cast("float", pdf.multi_cell(_TEXT, _LEADING * _CAPTION, caption, dry_run=True, output="HEIGHT"))
    # A drawing and its caption stand on one page.
    if pdf.will_page_break(height + 1 + below):
        pdf.add_page()
    pdf.image(io.BytesIO(drawing.encode()), x=_MARGIN, w=width, h=height, alt_text=block.description)
    pdf.set_y(pdf.get_y() + 1)
    _text(pdf, caption, _CAPTION, soft=True)
    pdf.ln(3)


def _size(drawing: str) -> tuple[float, float]:
    """Width and height on the page, mm: as large as drawn, smaller where that is too much."""
    found = _SIZE.search(drawing)
    drawn = (_MM_PER_PT * float(found[1]), _MM_PER_PT * float(found[2])) if found else (_TEXT, _TEXT)
    scale = min(1.0, _TEXT / drawn[0], _TALLEST / drawn[1])
    return drawn[0] * scale, drawn[1] * scale


def _table(pdf: FPDF, table: Table) -> None:
    from fpdf.enums import TableBordersLayout
    from fpdf.fonts import FontFace

    if pdf.will_page_break(30):
        pdf.add_page()
    _text(pdf, " ".join([f"{table.title}.", *table.notes]), 8.5, soft=True)
    size = _letters(len(table.columns))
    pdf.set_font(_FONT, "", size)
    pdf.set_text_color(*_INK)
    pdf.set_draw_color(*_LINE)
    texts = [[column.label for column in table.columns], *table.texts]
    gaps = [_after_number(table, place) for place in range(len(table.columns))]
    widths = _widths(pdf, texts, gaps)
    with pdf.table(
        borders_layout=TableBordersLayout.HORIZONTAL_LINES,
        headings_style=FontFace(emphasis="BOLD", color=_SOFT, size_pt=size),
        text_align=tuple("RIGHT" if column.is_number else "LEFT" for column in table.columns),
        col_widths=tuple(widths),
        width=_TEXT,
        line_height=0.6 * size,
        padding=_PADDING,
    ) as drawn:
        for row in texts:
            line = drawn.row()
            for text, gap in zip(row, gaps, strict=True):
                line.cell(text, padding=(_PADDING, _PADDING, _PADDING, _PADDING + gap))
    pdf.ln(4)


def _letters(columns: int) -> float:
    """Size of a table's letters, pt: many columns need small ones."""
    return next(size for most, size in _SIZES if columns <= most)


def _after_number(table: Table, place: int) -> float:
    """Room to the left of a column, mm: texts begin where the numbers before them end."""
    return 2.0 if place and table.columns[place - 1].is_number and not table.columns[place].is_number else 0.0


def _widths(pdf: FPDF, texts: list[list[str]], gaps: Sequence[float]) -> list[float]:
    """Columns as wide as what they hold; where that is too much, lines are broken, intervals last and words never."""
    unbroken, least, wanted = [], [], []
    for (head, *cells), gap in zip(zip(*texts, strict=True), gaps, strict=True):
        # Heads are bold, and so wider than they are measured.
        words = [1.15 * pdf.get_string_width(word) for text in (head, *cells) for word in text.split() or [""]]
        word, whole = max(words) + 1.8 + gap, max([max(words), *map(pdf.get_string_width, cells)]) + 1.8 + gap
        # Heads and names may stand in several lines; an estimate and its interval had better not.
        is_estimate = any(_INTERVAL.search(text) for text in cells)
        unbroken.append(word)
        least.append(whole if is_estimate else word)
        wanted.append(whole)
    for narrow, wide in ((least, wanted), (unbroken, least)):
        if sum(narrow) < _TEXT < sum(wide):
            share = (_TEXT - sum(narrow)) / (sum(wide) - sum(narrow))
            return [low + share * (high - low) for low, high in zip(narrow, wide, strict=True)]
    chosen = wanted if sum(wanted) <= _TEXT else unbroken
    return [_TEXT * width / sum(chosen) for width in chosen]
