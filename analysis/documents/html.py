"""Documents as HTML: one file with its style and its figures inside, readable offline and in print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from analysis.documents.value import Block, Document, Drawing, Facts, Items, Paragraph, TableBlock, draw_figures
from analysis.figures.table import Table

_STYLE = """
:root{color-scheme:light}*{box-sizing:border-box}
body{margin:0 auto;padding:2rem 1.25rem 4rem;max-width:48rem;color:#16202b;
font:400 1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .25rem}h2{font-size:1.25rem;margin:2.5rem 0 .75rem}
.sub{color:#4a5865;margin:0 0 1.5rem}.abstract{font-size:1.0625rem}
.note{border-left:3px solid #b4bec8;padding-left:.75rem;color:#4a5865;font-size:.875rem}
figure{margin:1.5rem 0;break-inside:avoid}figure svg{zoom:1.25;max-width:100%;height:auto}
figcaption,caption{font-size:.875rem;color:#4a5865;text-align:left;padding:.25rem 0 .5rem;caption-side:top}
.wide{overflow-x:auto;margin:1.25rem 0}
table{border-collapse:collapse;width:100%;font-size:.8125rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .75rem .3rem 0;border-bottom:1px solid #dde3e9;text-align:left;vertical-align:baseline}
th{color:#4a5865;font-weight:600}.n{text-align:right}
dl{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.25rem 1.25rem;font-size:.875rem}
dt{color:#4a5865}dd{margin:0;overflow-wrap:anywhere}nav{font-size:.875rem;columns:2}nav a{color:#0b5cad}
@media print{body{max-width:none;padding:0;font-size:10pt}nav{display:none}.wide{overflow:visible}
tr{break-inside:avoid}h2{break-after:avoid}}
"""


def to_html(document: Document, drawings: Sequence[str] | None = None) -> str:
    """The document as one HTML file.

    Parameters
    ----------
    document : Document
    drawings : sequence of str, optional
        From `draw_figures`, where they exist already.

    Returns
    -------
    str
    """
    parts = [
        f'<!doctype html>\n<html lang="{escape(document.language)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(document.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{escape(document.title)}</h1>\n<p class="sub">{escape(document.subtitle)}</p>\n',
        *(f'<p class="abstract">{escape(text)}</p>\n' for text in document.abstract),
        "<nav><ol>",
        *(f'<li><a href="#s{number}">{escape(s.title)}</a></li>' for number, s in enumerate(document.sections, 1)),
        "</ol></nav>\n",
    ]
    waiting = iter(draw_figures(document) if drawings is None else drawings)
    drawn = 0
    for number, section in enumerate(document.sections, 1):
        parts.append(f'<section id="s{number}">\n<h2>{number}. {escape(section.title)}</h2>\n')
        for block in section.blocks:
            if isinstance(block, Drawing):
                drawn += 1
                parts += _figure(block, next(waiting), drawn)
            else:
                parts += _block(block)
        parts.append("</section>\n")
    return "".join([*parts, "</main>\n</body>\n</html>\n"])


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph():
            yield f'<p class="note">{escape(block.text)}</p>\n' if block.is_note else f"<p>{escape(block.text)}</p>\n"
        case Items():
            yield "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in block.texts) + "</ul>\n"
        case Facts():
            pairs = (f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in block.pairs)
            yield "<dl>" + "".join(pairs) + "</dl>\n"
        case TableBlock():
            yield from _table(block.table)


def _table(table: Table) -> Iterator[str]:
    classes = [' class="n"' if column.is_number else "" for column in table.columns]
    yield f'<div class="wide"><table><caption><b>{escape(table.title)}.</b> {escape(" ".join(table.notes))}</caption>'
    heads = (f'<th scope="col"{kind}>{escape(c.label)}</th>' for c, kind in zip(table.columns, classes, strict=True))
    yield "<thead><tr>" + "".join(heads) + "</tr></thead><tbody>"
    for row in table.texts:
        yield "<tr>" + "".join(f"<td{kind}>{escape(text)}</td>" for text, kind in zip(row, classes, strict=True))
        yield "</tr>"
    yield "</tbody></table></div>\n"


def _figure(block: Drawing, drawing: str, number: int) -> Iterator[str]:
    """The drawing with names of its own: ids of several figures would meet in one file."""
    for reference in ('id="', 'href="#', "url(#"):
        drawing = drawing.replace(reference, f"{reference}f{number}-")
    drawing = drawing.replace("<svg", f'<svg role="img" aria-label="{escape(block.description)}"', 1)
    yield f'<figure role="group" aria-label="{escape(block.title)}">{drawing}'
    yield f"<figcaption><b>Figure {number}.</b> {escape(block.caption)}</figcaption></figure>\n"
