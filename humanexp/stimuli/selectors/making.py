"""What is there of a set while it is made, checked or counted; nothing here reads all rows at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Avg, Count, F, Q, QuerySet

from analysis.categories import conflicts
from analysis.original import Original
from humanexp.core import file_store
from humanexp.core.storage import media_path
from humanexp.stimuli.models import SourceImage, SourceSet, Stimulus, StimulusSet

_NAMES_PER_QUERY = 500


def digests_of(stimulus_set: StimulusSet, keys: Sequence[str]) -> dict[str, str]:
    """Digests of those of the named stimuli that are recorded."""
    return dict(stimulus_set.stimuli.order_by().filter(key__in=keys).values_list("key", "sha256"))


def image_ids_of(source_sets: Sequence[SourceSet], keys: Sequence[str]) -> dict[str, int]:
    """Primary keys of the named originals, whose names differ between the sets."""
    images = SourceImage.objects.filter(source_set__in=source_sets, key__in=keys)
    return dict(images.order_by().values_list("key", "pk"))


def files_without_row(stimulus_set: StimulusSet, files: Sequence[str]) -> list[str]:
    """Those of the named files that no stimulus of the set has."""
    known: set[str] = set()
    for start in range(0, len(files), _NAMES_PER_QUERY):
        batch = files[start : start + _NAMES_PER_QUERY]
        keys = [name.rsplit("/", 1)[-1].removesuffix(".png") for name in batch]
        known.update(stimulus_set.stimuli.order_by().filter(key__in=keys).values_list("file", flat=True))
    return [name for name in files if name not in known]


def changes_of(stimulus_set: StimulusSet, corruption: str) -> Iterator[float]:
    """Visual change of every stimulus of one function, rising."""
    of_function = stimulus_set.stimuli.filter(corruption=corruption).order_by("visual_change")
    yield from of_function.values_list("visual_change", flat=True).iterator()


def making_of(stimulus_set: StimulusSet, corruption: str) -> dict[str, Any]:
    """Of one function: stimuli whose target was not reached or lies outside what the picture reaches, mean tries."""
    not_reached = Q(reached=False)
    outside = Q(target__gt=F("reach_high")) | Q(target__lt=F("reach_low"))
    return (
        stimulus_set.stimuli.filter(corruption=corruption)
        .order_by()
        .aggregate(
            missed=Count("pk", filter=not_reached),
            unreachable=Count("pk", filter=not_reached & outside),
            tries=Avg("evaluations"),
        )
    )


def places_by_original(stimulus_set: StimulusSet) -> Iterator[tuple[int, int]]:
    """(original, stimulus) as primary keys, all stimuli of an original side by side."""
    stimuli = stimulus_set.stimuli.order_by("source_image_id", "corruption", "visual_change", "pk")
    yield from stimuli.values_list("source_image_id", "pk").iterator()


def stimuli_by_pk(pks: Sequence[int]) -> list[Stimulus]:
    return list(Stimulus.objects.filter(pk__in=pks).order_by("pk"))


def bring_originals(source_set: SourceSet) -> None:
    """Have all pictures of a set here: many at once are fetched faster than one after the other."""
    _bring(source_set.images.all())


def bring_stimuli(stimulus_set: StimulusSet) -> None:
    _bring(stimulus_set.stimuli.all())


def _bring(pictures: QuerySet[SourceImage] | QuerySet[Stimulus]) -> None:
    """Pictures of a set lie in one folder."""
    if settings.FILE_STORE and (file := pictures.order_by().values_list("file", flat=True).first()):
        file_store.bring("/".join(file.split("/")[:2]))


def originals_of(stimulus_set: StimulusSet) -> list[Original]:
    """Originals of a set as the analysis knows them, with absolute paths."""
    return [_original(image) for image in stimulus_set.source_set.images.order_by("key").iterator()]


def conflicts_of(stimulus_set: StimulusSet) -> list[Original]:
    """Pictures that are cue conflicts as they are; others of their set, whose shape is their texture, are left out."""
    if stimulus_set.cue_conflicts is None:
        return []
    pictures = [_original(image) for image in stimulus_set.cue_conflicts.images.order_by("key").iterator()]
    _, _, are_conflicts = conflicts(np.array([picture.key for picture in pictures], dtype=np.str_))
    return [picture for picture, is_conflict in zip(pictures, are_conflicts.tolist(), strict=True) if is_conflict]


def originals_by_key(source_set: SourceSet, keys: Sequence[str]) -> dict[str, Original]:
    return {image.key: _original(image) for image in source_set.images.filter(key__in=keys)}


def original_by_pk(pk: int) -> Original:
    return _original(SourceImage.objects.get(pk=pk))


def _original(image: SourceImage) -> Original:
    return Original(image.key, image.category, str(media_path(image.file)), image.sha256)


def digests_of_originals(stimulus_set: StimulusSet, keys: Sequence[str]) -> dict[str, str]:
    """Digests of what has been made from some originals, by the stimulus's name."""
    made = stimulus_set.stimuli.order_by().filter(source_image__key__in=keys)
    return dict(made.values_list("key", "sha256"))
