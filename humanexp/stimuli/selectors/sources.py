from __future__ import annotations

from django.db.models import Count, QuerySet

from humanexp.core.errors import NotFound
from humanexp.stimuli.models import SourceSet


def source_sets() -> QuerySet[SourceSet]:
    return SourceSet.objects.annotate(
        n_images=Count("images"), n_categories=Count("images__category", distinct=True)
    ).order_by("-created_at")


def source_set_by_name(name: str) -> SourceSet:
    source_set = SourceSet.objects.filter(name=name).first()
    if source_set is None:
        known = ", ".join(SourceSet.objects.values_list("name", flat=True)) or "none yet: import_images makes one"
        raise NotFound(f"There is no set of pictures named {name!r}. There are: {known}.")
    return source_set


def image_ids_by_key(source_set: SourceSet) -> dict[str, int]:
    return dict(source_set.images.order_by().values_list("key", "pk"))
