"""A site's time: the machine's, plus what somebody has advanced it by. It never goes back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self

from django.db import models, transaction
from django.utils import timezone


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
