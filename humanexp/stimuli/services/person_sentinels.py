"""Sentinels of persons in a stimulus set: which families it can have, and which pictures a lab may bring."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.corruptions import CORRUPTIONS
from analysis.labels.conflicts import conflicts
from analysis.persons.sentinels import CUE_CONFLICT, SENTINELS, Sentinel
from humanexp.core.errors import InvalidRequest
from humanexp.stimuli.models import SourceSet


def made_families() -> list[Sentinel]:
    """Families whose pictures are made from a set's own."""
    return [sentinel for sentinel in SENTINELS.values() if sentinel.make is not None]


def families_of(made: Sequence[str], cue_conflicts: SourceSet | None) -> list[str]:
    """The families of a set, by name."""
    return sorted({*made, *([CUE_CONFLICT.name] if cue_conflicts is not None else [])})


def check_sentinels(source_set: SourceSet, made: Sequence[str], cue_conflicts: SourceSet | None) -> None:
    """Refuse families that cannot be made, and pictures that are no cue conflicts, with the field at fault."""
    known = [sentinel.name for sentinel in made_families()]
    unknown = [name for name in made if name not in known or name in CORRUPTIONS]
    if unknown:
        raise InvalidRequest(
            f"No sentinels of persons of the family {unknown[0]!r} are made here: choose from {', '.join(known)}.",
            fields={"person_families": f"one of {', '.join(known)}"},
        )
    if cue_conflicts is not None:
        _check_conflicts(source_set, cue_conflicts)


def _check_conflicts(source_set: SourceSet, cue_conflicts: SourceSet) -> None:
    pictures = list(cue_conflicts.images.order_by("key").values_list("key", "category"))
    shapes, _, are_conflicts = conflicts(np.array([key for key, _ in pictures], dtype=np.str_))
    if not are_conflicts.any():
        raise _refused(
            f"No picture of {cue_conflicts} is a cue conflict by its name. Name the files like cat3-elephant1.png "
            "(shape, then texture), and import them again under another name."
        )
    for (key, category), shape, is_conflict in zip(pictures, shapes.tolist(), are_conflicts.tolist(), strict=True):
        if is_conflict and shape != category:
            raise _refused(
                f"{key} has the shape {shape} by its name, but was imported as {category}: put cue conflicts into the "
                "folder of their shape, and import them again under another name."
            )
    shared = cue_conflicts.images.filter(key__in=source_set.images.values("key")).order_by("key").first()
    if shared is not None:
        raise _refused(
            f"The picture {shared.key} is in both {source_set} and {cue_conflicts}: choose a set of cue conflicts "
            "that shares no name with the pictures."
        )


def _refused(sentence: str) -> InvalidRequest:
    return InvalidRequest(sentence, fields={"cue_conflicts": sentence})
