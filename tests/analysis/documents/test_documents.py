"""One document, two files: the same words, figures and tables in HTML and PDF."""

from __future__ import annotations

import re
import zlib
from html.parser import HTMLParser

import pytest

from analysis.documents.html import to_html
from analysis.documents.pdf import _TEXT, _opened, _widths, to_pdf
from analysis.documents.value import Document, Facts, FigureBlock, Items, Paragraph, Section, TableBlock, draw_figures
from analysis.figures.rows import IndexRow, index_figure
from analysis.figures.table import Column, Table
from analysis.figures.value import Observer


@pytest.fixture(scope="module")
def document() -> Document:
    row = IndexRow(
        observer=Observer("net", "classifier"), hmri=0.8, hmri_interval=(0.7, 0.9), mrsi=0.0, mrsi_interval=None
    )
    figure = index_figure([row], title="Models against people")
    table = Table("areas", "Areas", (Column("who", "Observer"), Column("area", "R̂", "number")), (("people", 0.8125),))
    blocks = (
        Paragraph("People & models <b>compared</b>."),
        Paragraph("No claim beyond this.", is_note=True),
        FigureBlock(figure, "One model."),
        FigureBlock(figure, "The same again."),
        TableBlock(table),
        Facts((("digest", "5d" * 32),)),
        Items(("first", "second")),
    )
    return Document("How far behind?", "Analysis 1", ("The answer.",), (Section("Findings", blocks),))


@pytest.fixture(scope="module")
def drawings(document: Document) -> tuple[str, ...]:
    return draw_figures(document)


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_html_is_one_file_that_needs_nothing_else(document: Document, drawings: tuple[str, ...]) -> None:
    text = to_html(document, drawings)
    assert "People &amp; models &lt;b&gt;compared&lt;/b&gt;." in text
    assert text.count("<svg") == document.figures == 2
    assert "<script" not in text and "<link" not in text and 'src="' not in text
    assert re.search(r'href="(?!#|http://www\.w3\.org)', text) is None
    assert '<td class="n">0.812</td>' in text or '<td class="n">0.813</td>' in text
    for said in ("The answer.", "No claim beyond this.", "5d" * 32, "<li>second</li>"):
        assert said in text


def test_names_inside_the_drawings_are_unique(document: Document, drawings: tuple[str, ...]) -> None:
    class Ids(HTMLParser):
        found: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.found += [value for name, value in attrs if name == "id" and value]

    parser = Ids()
    parser.feed(to_html(document, drawings))
    assert len(parser.found) == len(set(parser.found)) > 10


def test_pdf_has_the_text_as_text_and_is_the_same_each_time(document: Document, drawings: tuple[str, ...]) -> None:
    told: list[int] = []
    pdf = to_pdf(document, drawings, report=told.append)
    assert pdf.startswith(b"%PDF") and told == [1, 2]
    assert pdf == to_pdf(document, drawings)
    assert pages_of(pdf) == 1
    # Letters are embedded with the table that makes them searchable.
    assert b"/ToUnicode" in pdf and b"/FontFile2" in pdf
    assert b"How far behind?".decode().encode("utf-16-be") in pdf or b"How far behind?" in pdf


def test_figures_in_the_pdf_are_vectors(document: Document, drawings: tuple[str, ...]) -> None:
    pdf = to_pdf(document, drawings)
    assert b"/Subtype /Image" not in pdf and b"/Subtype/Image" not in pdf
    streams = re.findall(rb"\bstream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    drawn = b"\n".join(zlib.decompress(one) for one in streams if one[:1] == b"x")
    assert len(re.findall(rb" [cl]\b", drawn)) > 50


def test_long_documents_break_into_pages() -> None:
    long = Section("Much", tuple(Paragraph("word " * 120) for _ in range(30)))
    assert pages_of(to_pdf(Document("Long", "", (), (long,)))) > 2


def test_a_crowded_table_breaks_lines_and_no_word() -> None:
    """With estimates and intervals in most columns, the head of a narrow one was cut in the middle of a word."""
    heads = ["Observer", "Squared difference of accuracy", *(f"Measure {number}" for number in range(6))]
    cells = ["efficientnet-lite0", "0.274", *["0.356 [0.281, 0.431]"] * 6]
    pdf = _opened(Document("Crowded", "", (), ()))
    pdf.set_font("DejaVu", "B", 7.0)
    needed = [
        max(pdf.get_string_width(word) for word in f"{head} {cell}".split())
        for head, cell in zip(heads, cells, strict=True)
    ]
    pdf.set_font("DejaVu", "", 7.0)
    widths = _widths(pdf, [heads, cells], [0.0] * len(heads))
    pdf.output()  # closes the files of its letters
    assert sum(widths) == pytest.approx(_TEXT)
    assert all(width > need + 0.8 for width, need in zip(widths, needed, strict=True))
