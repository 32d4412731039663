"""Tags of the results pages: `{% load results %}`."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from django import template
from django.template.context import Context
from django.urls import reverse

from analysis.figures.table import Cell, Table

register = template.Library()


@register.simple_tag(takes_context=True)
def address(context: Context, name: str, *parts: str, **query: object) -> str:
    """Address of a results page of the study, staying with the analysis that is being looked at."""
    chosen = {key: value for key, value in query.items() if value not in (None, "")}
    if context.get("run_chosen"):
        chosen["run"] = context["run"].pk
    found = reverse(f"results:{name}", args=[context["study"].slug, *parts])
    return f"{found}?{urlencode(chosen)}" if chosen else found


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
