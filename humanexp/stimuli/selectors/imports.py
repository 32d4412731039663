from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from humanexp.core.storage import media_path
from humanexp.stimuli.models import SourceSet, StimulusSet

if TYPE_CHECKING:
    from analysis.generation import Original


def originals_by_key(source_set: SourceSet, keys: Sequence[str]) -> dict[str, Original]:
    """Some originals of a set as the analysis knows them, with absolute paths."""
    from analysis.generation import Original

    return {
        image.key: Original(image.key, image.category, str(media_path(image.file)), image.sha256)
        for image in source_set.images.filter(key__in=keys)
    }


def digests_of_originals(stimulus_set: StimulusSet, keys: Sequence[str]) -> dict[str, str]:
    """Digests of what has been made from some originals, by the stimulus's name."""
    made = stimulus_set.stimuli.order_by().filter(source_image__key__in=keys)
    return dict(made.values_list("key", "sha256"))
