"""The drawings of a document: made once, for the HTML and the PDF file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from analysis.documents.value import Document, Drawing


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
