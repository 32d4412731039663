"""What is done with rows everywhere: one is found or refused, and fields of one are changed."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)


def first_or(rows: QuerySet[Row], refusal: Exception) -> Row:
    """The first of the rows; the refusal is raised where there is none."""
    found = rows.first()
    if found is None:
        raise refusal
    return found


def change(row: Row, **values: Any) -> Row:
    """Set these fields and store them, and no others."""
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=list(values))
    return row
