"""Label spaces of this installation: stored, mended, deleted; and those that the product ships, stored on first use."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from analysis.labels.files import default_labels, labels_to_toml, shipped_names
from analysis.labels.space import LabelSpace
from humanexp.core import ownership
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User, record
from humanexp.core.names import check_new_name
from humanexp.core.ownership import Right
from humanexp.stimuli.models import LabelSet
from humanexp.stimuli.selectors.labels import space_named


def label_set_named(name: str, *, by: User | None = None) -> LabelSet | None:
    """The row that pictures with these labels refer to; None for the default."""
    if name in ("", default_labels().name):
        return None
    space = space_named(name)
    stored = LabelSet.objects.filter(name=name).first()
    if stored is not None:
        return stored
    try:
        with transaction.atomic():
            return _create(space, name, by)
    except IntegrityError:  # somebody else's first use of these labels was quicker
        return LabelSet.objects.get(name=name)


@transaction.atomic
def store_labels(space: LabelSpace, *, by: User | None = None, mends: bool = True) -> LabelSet:
    """Store a label space under its name; where there is one of this name, mend what people see of it.

    Raises
    ------
    Conflict
        If pictures have the labels of this name and the new ones mean something else, or if there are labels of this
        name and nothing is to be mended.
    InvalidRequest
        If the product ships other labels under this name.
    """
    if space.name in shipped_names():
        raise InvalidRequest(
            f"The product ships labels called {space.name}. Give yours another name.",
            fields={"name": "the product ships labels of this name"},
        )
    stored = LabelSet.objects.select_for_update().filter(name=space.name).first()
    if stored is None:
        check_new_name(space.name, taken=False, what="label space", reserved=frozenset({"new"}))
        return _create(space, space.name, by)
    ownership.check(by, Right.CHANGE, stored)
    if not mends:
        raise Conflict(f"There are labels called {space.name} already: give these another name, or replace them.")
    used = stored.source_sets.first()
    if used is not None and stored.identity != space.identity:
        raise Conflict(
            f"The pictures {used} have the labels {stored.name}, and the new ones mean something else: "
            f"{_difference(stored.space, space)} Words, icons and the grid can be mended; for other labels or groups, "
            "store them under another name."
        )
    stored.identity, stored.presentation = space.identity, space.presentation
    stored.document, stored.drawings = labels_to_toml(space), dict(space.drawings)
    stored.save()
    record(action="mend-labels", subject=f"label space:{stored.name}", by=by)
    return stored


@transaction.atomic
def delete_labels(stored: LabelSet, *, by: User | None = None) -> None:
    """Remove labels that no pictures have."""
    ownership.check(by, Right.CHANGE, stored)
    used = stored.source_sets.first()
    if used is not None:
        raise Conflict(f"The labels {stored.name} are those of the pictures {used}: delete these first.")
    stored.delete()
    record(action="delete-labels", subject=f"label space:{stored.name}", by=by)


def _create(space: LabelSpace, name: str, by: User | None) -> LabelSet:
    created = LabelSet.objects.create(
        name=name,
        identity=space.identity,
        presentation=space.presentation,
        document=labels_to_toml(space),
        drawings=dict(space.drawings),
        lab_id=ownership.lab_of(by),
        created_by=by,
    )
    record(action="store-labels", subject=f"label space:{name}", by=by)
    return created


def _difference(old: LabelSpace, new: LabelSpace) -> str:
    gone, come = sorted(set(old.ids) - set(new.ids)), sorted(set(new.ids) - set(old.ids))
    told = [f"{word} {', '.join(ids[:5])}" for word, ids in (("without", gone), ("with", come)) if ids]
    return f"{', '.join(told)}." if told else "their groups differ."
