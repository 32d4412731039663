"""From folders in the layout of ImageNet-C to the files and rows of a stimulus set; what is there is not made again."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction

from analysis.compute import executor
from analysis.errors import PictureRefused
from analysis.generation.imagenet_c import Likeness, cut_into_import_shards, import_shard, measure_likeness, plan_import
from analysis.generation.plan import OriginalPlan
from analysis.generation.shards import METRIC_NAME
from analysis.native_size import MAXIMUM_ENLARGEMENT
from humanexp.core.batches import batches_of
from humanexp.core.errors import InputRefused, InvalidRequest, JobError
from humanexp.core.models import User
from humanexp.core.names import check_new_name
from humanexp.core.storage import media_path
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.imagenet_c_layout import (
    LevelFolder,
    MatchedPictures,
    Originals,
    Unmatched,
    find_level_folders,
    matched_pictures,
)
from humanexp.stimuli.models import Framing, Sampling, SourceSet, StimulusSet, framing_named
from humanexp.stimuli.selectors.sets import digests_of_originals, originals_by_key
from humanexp.stimuli.services.descriptions import SIZES_PX, shown_side_px, smaller_than
from humanexp.stimuli.services.generated_sets import close_folder, folder_of, open_folder, stored_as_made
from humanexp.stimuli.services.generation import complete_stimulus_set
from humanexp.stimuli.services.sources import freeze_source_set

IMPORT_JOB_KIND = "stimuli.import_imagenet_c"
#: Originals whose weakest pictures are compared with them before anything is written.
_PROBES = 20
_ORIGINALS_PER_QUERY = 100
_REFUSALS_TOLD = 8
_MESSAGE = "pictures imported"


@dataclass(frozen=True)
class Scan:
    """What lies in the folders, and what of it has an original."""

    folders: list[LevelFolder]
    functions: list[str]
    n_pictures: int
    n_originals: int
    #: matched originals that lack some of the levels that are there
    n_incomplete: int
    probes: list[MatchedPictures]
    unmatched: Unmatched


@dataclass(frozen=True)
class ImageNetCImport:
    """A described set whose pictures a job takes over, and what was found before."""

    stimulus_set: StimulusSet
    job: Job
    scan: Scan
    likeness: Likeness


def import_imagenet_c(
    *,
    folder: Path,
    source_set: SourceSet,
    name: str,
    functions: Sequence[str] = (),
    framing: str = Framing.IMAGENET,
    size_px: int = 224,
    by: User | None = None,
) -> ImageNetCImport:
    """Look through a folder in the layout of ImageNet-C, describe a stimulus set and queue the job that imports it.

    Refused before anything is written: no original for any picture, or pictures that do not look like their originals.
    """
    check_new_name(name, taken=StimulusSet.objects.filter(name=name).exists(), what="stimulus set")
    if framing not in Framing.values:
        raise InvalidRequest(
            f"There is no framing {framing!r}: choose {' or '.join(Framing.values)}.",
            fields={"framing": "imagenet or whole"},
        )
    _check_sizes(source_set, Framing(framing), size_px)
    folder = folder.resolve()
    scan = scan_folder(folder, source_set, functions)
    likeness = _likeness(scan, source_set, Framing(framing), size_px)
    if likeness.refusal:
        raise InputRefused(f"{folder}: {likeness.refusal} Nothing was imported.")
    stimulus_set, job = _describe(
        folder=folder, scan=scan, source_set=source_set, name=name, framing=framing, size_px=size_px, by=by
    )
    return ImageNetCImport(stimulus_set, job, scan, likeness)


@transaction.atomic
def resume_import(*, stimulus_set: StimulusSet) -> Job:
    """Queue the set's import again, which goes on where it stopped and repairs; one that runs is left alone."""
    job = latest_for(stimulus_set.job_subject, IMPORT_JOB_KIND)
    if job is None:
        raise InvalidRequest(f"The stimulus set {stimulus_set} was not imported: generate_stimuli goes on with it.")
    # A complete set is looked through again: files that were lost or altered since are taken over once more.
    return jobs.start(IMPORT_JOB_KIND, subject=job.subject, **job.parameters)


def scan_folder(folder: Path, source_set: SourceSet, functions: Sequence[str]) -> Scan:
    """Match every file with its original; refused with what was found instead when none has one."""
    folders = find_level_folders(folder, functions)
    unmatched = Unmatched()
    levels = Counter(one.function for one in folders)
    n_pictures = n_originals = n_incomplete = 0
    seen: Counter[str] = Counter()
    probes = EvenlySpread(_PROBES)
    for matched in matched_pictures(folders, Originals(source_set), unmatched):
        n_originals += 1
        n_pictures += len(matched.sources)
        n_incomplete += len(matched.sources) < levels.total()
        seen.update(function for function, _, _ in matched.sources)
        probes.add(matched)
    if not n_pictures:
        found = "; ".join(unmatched.sentences()) or "there is no picture in the class folders"
        raise InputRefused(
            f"{folder}: no picture has its original in the set of pictures {source_set} ({found}). Import the "
            "originals first, under the names that they have in ImageNet; nothing was imported."
        )
    for function in levels:
        if function not in seen:
            unmatched.strange.add(f"{function} (none of its pictures has an original)")
    return Scan(
        folders=folders,
        functions=[function for function in levels if function in seen],
        n_pictures=n_pictures,
        n_originals=n_originals,
        n_incomplete=n_incomplete,
        probes=probes.kept,
        unmatched=unmatched,
    )


def _check_sizes(source_set: SourceSet, framing: Framing, size_px: int) -> None:
    """Every original is also shown clean, so each has to be large enough."""
    if size_px not in SIZES_PX:
        raise InvalidRequest(
            f"The size must lie between {SIZES_PX.start} and {SIZES_PX.stop - 1} px, not {size_px}.",
            fields={"size_px": f"{SIZES_PX.start} to {SIZES_PX.stop - 1} px"},
        )
    n_small, example = smaller_than(source_set, math.ceil(shown_side_px(framing, size_px) / MAXIMUM_ENLARGEMENT))
    if n_small:
        raise InvalidRequest(
            f"{n_small} pictures of {source_set} are too small to be shown at {size_px} px, for example {example}. "
            "Import larger ones."
        )


class EvenlySpread:
    """Keeps some of a stream whose length is not known, evenly spread over it."""

    def __init__(self, most: int) -> None:
        self._most, self._step, self._n = most, 1, 0
        self._kept: list[MatchedPictures] = []

    def add(self, matched: MatchedPictures) -> None:
        if self._n % self._step == 0:
            self._kept.append(matched)
            if len(self._kept) == 2 * self._most:
                self._kept = self._kept[::2]
                self._step *= 2
        self._n += 1

    @property
    def kept(self) -> list[MatchedPictures]:
        step = -(-len(self._kept) // self._most) or 1
        return list(itertools.islice(self._kept, 0, None, step))


def _likeness(scan: Scan, source_set: SourceSet, framing: Framing, size_px: int) -> Likeness:
    originals = originals_by_key(source_set, [probe.key for probe in scan.probes])
    plans = [
        plan_import(originals[probe.key], probe.sources, size_px=size_px, framing=framing_named(framing), digests={})
        for probe in scan.probes
    ]
    try:
        return measure_likeness(plans, size_px=size_px, framing=framing_named(framing))
    except PictureRefused as error:
        raise InputRefused(f"{error} Nothing was imported.") from error


@transaction.atomic
def _describe(
    *, folder: Path, scan: Scan, source_set: SourceSet, name: str, framing: str, size_px: int, by: User | None
) -> tuple[StimulusSet, Job]:
    freeze_source_set(source_set=source_set, by=by)
    stimulus_set = StimulusSet.objects.create(
        name=name,
        source_set=source_set,
        corruptions=scan.functions,
        sampling=Sampling.IMPORTED,
        framing=framing,
        count_per_corruption=0,
        size_px=size_px,
        metric=METRIC_NAME,
        lab_id=source_set.lab_id,
        created_by=by,
    )
    job = jobs.submit(
        IMPORT_JOB_KIND,
        subject=stimulus_set.job_subject,
        by=by,
        stimulus_set_id=stimulus_set.pk,
        folder=str(folder),
        n_pictures=scan.n_pictures,
    )
    return stimulus_set, job


def import_pictures(stimulus_set: StimulusSet, folder: Path, n_pictures: int, progress: Progress) -> int:
    """Take over every picture that is not there yet, and complete the set; returns how many it holds.

    Files that cannot be used are told together at the end, when all others are in.
    """
    made = media_path(folder_of(stimulus_set))
    open_folder(made)
    done = _take_over(stimulus_set, folder, made, n_pictures + stimulus_set.source_set.images.count(), progress)
    close_folder(made)
    complete_stimulus_set(stimulus_set=stimulus_set)
    progress(done, done, _MESSAGE)
    return done


def _take_over(stimulus_set: StimulusSet, folder: Path, made: Path, total: int, progress: Progress) -> int:
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
