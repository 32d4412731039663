"""Label spaces: those stored here, and those that the product ships."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, QuerySet

from analysis.labels.files import default_labels, shipped, shipped_names
from analysis.labels.space import LabelSpace
from humanexp.core import ownership
from humanexp.core.errors import NotFound
from humanexp.core.models import User
from humanexp.core.ownership import Right
from humanexp.stimuli.models import LabelSet, SourceSet


@dataclass(frozen=True, kw_only=True)
class ListedLabels:
    """Labels of a list, with the number of sets of pictures that have them."""

    space: LabelSpace
    #: None: the product ships them
    stored: LabelSet | None
    n_used: int


def listed_labels(user: User | AnonymousUser) -> list[ListedLabels]:
    """What this user may see: own labels first, then those that the product ships, by name."""
    shipped_ones, default = set(shipped_names()), default_labels()
    counted = LabelSet.objects.annotate(n_used=Count("source_sets")).order_by("name")
    stored = {one.name: one for one in counted}
    own = [
        ListedLabels(space=one.space, stored=one, n_used=one.n_used)
        for name, one in stored.items()
        if name not in shipped_ones and ownership.may(user, Right.READ, one)
    ]
    used = {name: one.n_used for name, one in stored.items()}
    used[default.name] = SourceSet.objects.filter(labels=None).count()
    return own + [
        ListedLabels(space=space_named(name), stored=None, n_used=used.get(name, 0))
        for name in sorted(shipped_ones | {default.name})
    ]


def pictures_with(name: str) -> QuerySet[SourceSet]:
    """Sets of pictures with the labels of this name."""
    chosen = {"labels": None} if name == default_labels().name else {"labels__name": name}
    return SourceSet.objects.filter(**chosen).order_by("name")


def own_labels(name: str) -> LabelSet | None:
    """The stored space of this name, unless it is one that the product ships, which is everybody's."""
    return None if name in (*shipped_names(), default_labels().name) else label_set_by_name(name)


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
