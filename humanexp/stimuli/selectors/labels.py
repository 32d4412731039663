"""Label spaces: those stored here, and those that the product ships."""

from __future__ import annotations

from django.db.models import Count, QuerySet

from analysis.labels.files import default_labels, shipped, shipped_names
from analysis.labels.space import LabelSpace
from humanexp.core.errors import NotFound
from humanexp.stimuli.models import LabelSet


def label_sets() -> QuerySet[LabelSet]:
    """Stored ones, with the number of sets of pictures that have them."""
    return LabelSet.objects.annotate(n_used=Count("source_sets")).order_by("name")


def label_set_by_name(name: str) -> LabelSet | None:
    """The stored space of this name."""
    return LabelSet.objects.filter(name=name).first()


def space_named(name: str) -> LabelSpace:
    """Labels by the name of a stored space or of one that the product ships; empty: the default.

    Raises
    ------
    NotFound
        Naming those there are.
    """
    if name in ("", default_labels().name):
        return default_labels()
    stored = label_set_by_name(name)
    if stored is not None:
        return stored.space
    if name in shipped_names():
        return shipped(name)
    known = sorted({*shipped_names(), *LabelSet.objects.values_list("name", flat=True)})
    raise NotFound(f"There are no labels called {name!r}; there are: {', '.join(known)}.")


def label_choices() -> dict[str, str]:
    """What a form offers: the default first, then those stored here, then those that the product ships."""
    default = default_labels()
    stored = {one.name: _title(one.space) for one in LabelSet.objects.all()}
    others = {name: _title(shipped(name)) for name in shipped_names() if name not in (*stored, default.name)}
    return {"": _title(default), **stored, **others}


def _title(space: LabelSpace) -> str:
    return f"{space.name} ({len(space):,} labels)"
