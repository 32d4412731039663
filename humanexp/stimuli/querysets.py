"""Rows of a frozen set of pictures do not change, by whichever way the ORM is asked to change them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from django.db import models

from humanexp.core.errors import SetFrozen

if TYPE_CHECKING:
    from humanexp.stimuli.models import SourceImage, SourceSet

#: What classifiers said about a picture is no part of the picture.
RATINGS = frozenset({"classifiers_asked", "classifiers_agreeing", "smallest_probability"})
#: And which classifiers were asked, nor who is still known to have imported the set.
NOT_FROZEN = frozenset({"gold_classifiers", "created_by", "created_by_id"})


class SourceSetQuerySet(models.QuerySet["SourceSet"]):
    """Refuses changes to a frozen set."""

    def update(self, **values: Any) -> int:
        if set(values) - NOT_FROZEN:
            refuse_frozen(self)
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        refuse_frozen(self)
        return super().delete()

    def bulk_create(self, objs: Iterable[SourceSet], *args: Any, **options: Any) -> list[SourceSet]:
        if options.get("update_conflicts"):
            raise SetFrozen("Sets of pictures are not written over.")
        return super().bulk_create(objs, *args, **options)


class SourceImageQuerySet(models.QuerySet["SourceImage"]):
    """Refuses changes to the pictures of a frozen set, other than what classifiers said about them."""

    def update(self, **values: Any) -> int:
        if set(values) - RATINGS:
            _refuse_any({*self.order_by().values_list("source_set_id", flat=True).distinct(), _set_of(values)})
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        _refuse_any(set(self.order_by().values_list("source_set_id", flat=True).distinct()))
        return super().delete()

    def bulk_create(self, objs: Iterable[SourceImage], *args: Any, **options: Any) -> list[SourceImage]:
        images = list(objs)
        _refuse_any({image.source_set_id for image in images})
        return super().bulk_create(images, *args, **options)


def refuse_frozen(source_sets: models.QuerySet[SourceSet]) -> None:
    """Raise SetFrozen if one of these sets is frozen in the database."""
    frozen = source_sets.order_by().exclude(frozen_at=None).first()
    if frozen is not None:
        raise SetFrozen(
            f"The set of pictures {frozen.name} has been frozen since {frozen.frozen_at:%Y-%m-%d %H:%M} UTC: "
            "it can no longer be changed. Import the pictures under another name instead."
        )


def refuse_frozen_pk(pk: int | None) -> None:
    """The same for one set by its key."""
    _refuse_any({pk})


def allows(update_fields: Collection[str] | None, allowed: frozenset[str]) -> bool:
    """Whether a save of these fields changes nothing that freezing protects."""
    return update_fields is not None and not set(update_fields) - allowed


def _set_of(values: dict[str, Any]) -> int | None:
    """The set into which an update moves pictures, if it does."""
    moved = values.get("source_set", values.get("source_set_id"))
    return getattr(moved, "pk", moved)


def _refuse_any(pks: set[int | None]) -> None:
    from humanexp.stimuli.models import SourceSet

    refuse_frozen(SourceSet.objects.filter(pk__in=[pk for pk in pks if pk is not None]))
