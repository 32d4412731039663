"""Rows of every site: one is found or refused, fields of one are changed, and one holds the site's time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

from django.db import models, transaction
from django.db.models import Model, QuerySet
from django.utils import timezone

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


class Advanced(models.Model):
    """One row, so that a restart does not turn the clock back."""

    advance_seconds = models.FloatField(default=0)

    class Meta:
        abstract = True

    @classmethod
    def current(cls) -> Self:
        return cls._default_manager.filter(pk=1).first() or cls(pk=1)

    @classmethod
    def now(cls) -> datetime:
        return timezone.now() + timedelta(seconds=cls.current().advance_seconds)

    @classmethod
    @transaction.atomic
    def advance(cls, seconds: float) -> None:
        row, _ = cls._default_manager.select_for_update().get_or_create(pk=1)
        row.advance_seconds += seconds
        row.save(update_fields=["advance_seconds"])
