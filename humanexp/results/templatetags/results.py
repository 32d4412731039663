"""Tags of the results pages: `{% load results %}`."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from django import template
from django.template.context import Context
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from analysis.figures.table import Cell, Table
from analysis.figures.value import Observer, style_of
from analysis.findings.model.curves import Band
from analysis.findings.model.entry import Interval
from humanexp.results.pages.dashboard import Panel

register = template.Library()


@register.simple_tag(takes_context=True)
def address(context: Context, name: str, *parts: str, **query: object) -> str:
    """Address of a results page of the study, staying with the analysis that is being looked at."""
    chosen = {key: value for key, value in query.items() if value not in (None, "")}
    if context.get("run_chosen"):
        chosen["run"] = context["run"].pk
    found = reverse(f"results:{name}", args=[context["study"].slug, *parts])
    return f"{found}?{urlencode(chosen)}" if chosen else found


@register.simple_tag(takes_context=True)
def files(context: Context, said: str, name: str, key: str, **query: object) -> SafeString:
    """A line of files of one figure: what they are, and a link for each kind."""
    kinds = ("pdf", "svg", "png")
    links = ((address(context, name, key, kind, **query), kind.upper()) for kind in kinds)
    return format_html(
        "<li>{}: {}</li>", said, format_html_join(" · ", '<a href="{}" data-download download>{}</a>', links)
    )


@register.simple_tag
def swatch(observer: Observer) -> SafeString:
    """How an observer looks in figures."""
    style = style_of(observer)
    dash = format_html(' stroke-dasharray="{}"', " ".join(map(str, style.dash))) if style.dash else ""
    return format_html(
        '<svg viewBox="0 0 32 12" aria-hidden="true"><line x1="0" x2="32" y1="6" y2="6" stroke="{}" stroke-width="{}"'
        "{}/></svg>",
        style.colour,
        style.width,
        dash,
    )


@register.simple_tag
def named(panel: Panel, population: str) -> SafeString:
    """A population of a panel as its figure draws it, and its name."""
    one = panel.observers[population]
    return format_html('<span class="models__name">{} {}</span>', swatch(one), one.name)


@register.simple_tag
def colour(panel: Panel, population: str) -> str:
    return style_of(panel.observers[population]).colour


@register.filter
def at(band: Band, v: float) -> tuple[float, Interval | None]:
    """A curve at one place: estimate, and the ends of its pointwise band."""
    return band.at(v)


@register.filter
def pretty_json(content: object) -> str:
    """Plain values as JSON that people can read."""
    return json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True)


@register.inclusion_tag("results/_table.html")
def printed_table(table: Table, *, sortable: bool = False, most: int = 0) -> dict[str, object]:
    """A table as it is printed; with `most` only its first rows."""
    rows = [
        [
            {"text": text, "value": _sorted_by(cell), "is_number": column.is_number}
            for column, cell, text in zip(table.columns, cells, texts, strict=True)
        ]
        for cells, texts in zip(table.rows, table.texts, strict=True)
    ]
    return {
        "table": table,
        "rows": rows[:most] if most else rows,
        "left_out": max(0, len(rows) - most) if most else 0,
        "sortable": sortable,
    }


def _sorted_by(cell: Cell) -> object:
    """What a column is sorted by: of an estimate with its interval, the estimate."""
    value = cell[0] if isinstance(cell, tuple) else cell
    return "" if value is None else value
