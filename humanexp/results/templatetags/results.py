"""Tags of the results pages: `{% load results %}`."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from django import template
from django.template.context import Context
from django.urls import reverse

from analysis.figures import Table

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
    rows = []
    for cells, texts in zip(table.rows, table.texts, strict=True):
        printed = []
        for column, cell, text in zip(table.columns, cells, texts, strict=True):
            value = cell[0] if isinstance(cell, tuple) else cell
            printed.append({"text": text, "value": "" if value is None else value, "is_number": column.is_number})
        rows.append(printed)
    return {
        "table": table,
        "rows": rows[:most] if most else rows,
        "left_out": max(0, len(rows) - most) if most else 0,
        "sortable": sortable,
    }
