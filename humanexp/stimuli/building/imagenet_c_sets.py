"""From folders in the layout of ImageNet-C to the files and rows of a stimulus set; what is there is not made again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from humanexp.core.batches import batches_of
from humanexp.core.errors import JobError
from humanexp.core.storage import media_path
from humanexp.jobs.registry import Progress
from humanexp.stimuli import services
from humanexp.stimuli.building.generated_sets import close_folder, folder_of, open_folder, stored_as_made
from humanexp.stimuli.building.imagenet_c_layout import (
    MatchedPictures,
    Originals,
    Unmatched,
    find_level_folders,
    matched_pictures,
)
from humanexp.stimuli.models import StimulusSet, framing_named
from humanexp.stimuli.selectors.making import digests_of_originals, originals_by_key

if TYPE_CHECKING:
    from analysis.generation import OriginalPlan

_ORIGINALS_PER_QUERY = 100
_REFUSALS_TOLD = 8
_MESSAGE = "pictures imported"


def import_pictures(stimulus_set: StimulusSet, folder: Path, n_pictures: int, progress: Progress) -> int:
    """Take over every picture that is not there yet, and complete the set; returns how many it holds.

    Files that cannot be used are told together at the end, when all others are in.
    """
    made = media_path(folder_of(stimulus_set))
    open_folder(made)
    done = _take_over(stimulus_set, folder, made, n_pictures + stimulus_set.source_set.images.count(), progress)
    close_folder(made)
    services.complete_stimulus_set(stimulus_set=stimulus_set)
    progress(done, done, _MESSAGE)
    return done


def _take_over(stimulus_set: StimulusSet, folder: Path, made: Path, total: int, progress: Progress) -> int:
    from analysis.compute import executor
    from analysis.generation.imagenet_c import cut_into_import_shards, import_shard

    done, n_refused, refusals = 0, 0, list[str]()
    shards = cut_into_import_shards(
        _plans(stimulus_set, folder),
        size_px=stimulus_set.size_px,
        framing=framing_named(stimulus_set.framing),
        folder=made,
    )
    with executor(settings.COMPUTE) as pool:
        for outcome in stored_as_made(
            stimulus_set, pool, import_shard, shards, total=total, progress=progress, told=_MESSAGE
        ):
            done += outcome.n_done
            n_refused += len(outcome.refusals)
            refusals = [*refusals, *outcome.refusals][:_REFUSALS_TOLD]
    if n_refused:
        raise JobError(_refusal_text(refusals, n_refused))
    return done


def _plans(stimulus_set: StimulusSet, folder: Path) -> Iterator[OriginalPlan]:
    """A plan for every original of the source set: first those with pictures, then those that only stay clean."""
    folders = find_level_folders(folder, stimulus_set.corruptions)
    seen: set[str] = set()
    for batch in batches_of(
        _ORIGINALS_PER_QUERY, matched_pictures(folders, Originals(stimulus_set.source_set), Unmatched())
    ):
        seen.update(one.key for one in batch)
        yield from _planned(stimulus_set, batch)
    keys = stimulus_set.source_set.images.order_by("key").values_list("key", flat=True)
    clean_only = (MatchedPictures(key, ()) for key in keys.iterator() if key not in seen)
    for batch in batches_of(_ORIGINALS_PER_QUERY, clean_only):
        yield from _planned(stimulus_set, batch)


def _planned(stimulus_set: StimulusSet, batch: list[MatchedPictures]) -> Iterator[OriginalPlan]:
    from analysis.generation.imagenet_c import plan_import

    keys = [one.key for one in batch]
    originals = originals_by_key(stimulus_set.source_set, keys)
    digests = digests_of_originals(stimulus_set, keys)
    for one in batch:
        yield plan_import(
            originals[one.key],
            one.sources,
            size_px=stimulus_set.size_px,
            framing=framing_named(stimulus_set.framing),
            digests=digests,
        )


def _refusal_text(refusals: Sequence[str], total: int) -> str:
    lines = [*refusals]
    if total > len(refusals):
        lines.append(f"and {total - len(refusals)} more")
    lines.append(
        f"{total} pictures cannot be used; all others are imported. Replace these files or move them away, then start "
        "the import again: it goes on where it stopped."
    )
    return "\n".join(lines)
