"""Stimulus sets described, started, completed and deleted, with the sentinels of persons that they can have."""

from __future__ import annotations

import array
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import PROTECT, ForeignObjectRel, ProtectedError, Q

from analysis.corruptions import CORRUPTIONS, find_corruption
from analysis.corruptions.imagenet_c import LEVELS
from analysis.design.pairs import choose_plain
from analysis.errors import InvalidInput, UnknownName
from analysis.generation.files import storage_sentence
from analysis.generation.shards import METRIC_NAME
from analysis.labels.conflicts import conflicts
from analysis.native_size import MAXIMUM_ENLARGEMENT, native_side
from analysis.persons.sentinels import CUE_CONFLICT, SENTINELS, Sentinel
from analysis.visual_change.coverage import coverage_report
from humanexp.core import clock, file_store, ownership
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User, record
from humanexp.core.names import check_new_name
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress, silent
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import Framing, Sampling, SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.selectors.sets import changes_of, image_ids_of, making_of
from humanexp.stimuli.selectors.sources import enlargement_of
from humanexp.stimuli.services.set_files import write_manifest
from humanexp.stimuli.services.sources import freeze_source_set


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


JOB_KIND = "stimuli.generate"
DELETION_KIND = "stimuli.delete"
SIZES_PX = range(96, 1025)
MOST_PER_CORRUPTION = 1_000_000
#: What can be asked for here; a set that was imported says so itself.
SAMPLINGS = (Sampling.EVEN, Sampling.UNIFORM, Sampling.LEVELS)
_ROWS_PER_DELETION = 500


@dataclass(frozen=True, kw_only=True)
class Described:
    """A set of stimuli as it is asked for: `count` a corruption function, and one clean stimulus an original."""

    source_set: SourceSet
    name: str
    corruptions: Sequence[str]
    #: stays 0 with the sampling "imagenet-c-levels", which shows every original at every level
    count: int = 0
    seed: int = 0
    size_px: int = 224
    sampling: str = Sampling.EVEN
    framing: str = Framing.WHOLE
    #: an enlarged picture is blurred before any corruption: this says that it is wanted
    enlarge: bool = False
    #: pictures of size_px / enlarged px are corrupted as they are, then shown with each pixel as a square of so many
    enlarged: int = 1
    #: adds what practice and plain pairs of same/different and ABX need: one stimulus an original of two more functions
    with_plain: bool = False
    #: adds sentinels of persons: families that are made of the pictures, and a set of pictures that are cue conflicts
    person_families: Sequence[str] = ()
    cue_conflicts: SourceSet | None = None

    @property
    def functions(self) -> list[str]:
        return list(dict.fromkeys(self.corruptions))

    @property
    def plain_functions(self) -> list[str]:
        return plain_functions_beside(self.functions) if self.with_plain else []

    def columns(self) -> dict[str, Any]:
        """What a set that is made like this has in its row."""
        return {
            "source_set": self.source_set,
            "corruptions": self.functions,
            "plain_functions": self.plain_functions,
            "person_families": families_of(self.person_families, self.cue_conflicts),
            "cue_conflicts": self.cue_conflicts,
            "sampling": self.sampling,
            "framing": self.framing,
            "count_per_corruption": self.count,
            "seed": self.seed,
            "size_px": self.size_px,
            "enlarged": self.enlarged,
        }


@transaction.atomic
def create_stimulus_set(described: Described, *, by: User | None = None) -> StimulusSet:
    """Keep the description of a set, whose stimuli are made by a job; its pictures are frozen."""
    name, source_set = described.name, described.source_set
    check_new_name(name, taken=StimulusSet.objects.filter(name=name).exists(), what="stimulus set")
    _check_kinds(described)
    _check_corruptions(described)
    _check_shown(described)
    check_sentinels(source_set, described.person_families, described.cue_conflicts)
    for pictures in filter(None, (source_set, described.cue_conflicts)):
        freeze_source_set(source_set=pictures, by=by)
    return StimulusSet.objects.create(
        name=name, metric=METRIC_NAME, lab_id=source_set.lab_id, created_by=by, **described.columns()
    )


def plain_functions_beside(corruptions: Sequence[str]) -> list[str]:
    """The two functions that a set of these functions shows in practice and plain pairs."""
    chosen = choose_plain(CORRUPTIONS, compared=corruptions)
    if chosen is None:
        raise InvalidRequest(
            "No two plainly different functions remain: leave two functions out of the set, or make it without "
            "pictures for plain pairs.",
            fields={"with_plain": "no two functions are left"},
        )
    return sorted(chosen)


@transaction.atomic
def start_generation(*, stimulus_set: StimulusSet, by: User | None = None) -> Job:
    """Queue the set's job; one that failed or was cancelled goes on, one that waits or runs is left alone."""
    ownership.check(by, Right.CHANGE, stimulus_set)
    if stimulus_set.sampling == Sampling.IMPORTED:
        raise InvalidRequest(f"The stimuli of {stimulus_set} were imported: start their import again instead.")
    return jobs.start(JOB_KIND, subject=stimulus_set.job_subject, by=by, stimulus_set_id=stimulus_set.pk)


def store_pilots(*, stimulus_set: StimulusSet, pilots: Mapping[str, Mapping[str, Any]]) -> StimulusSet:
    """Keep the pilot maps: a resumed job must plan the very same stimuli."""
    stimulus_set.pilots = dict(pilots)
    stimulus_set.save(update_fields=["pilots"])
    return stimulus_set


@transaction.atomic
def store_stimuli(*, stimulus_set: StimulusSet, folder: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Record made stimuli. A stimulus made a second time is the same one, so its row is written over."""
    if not rows:
        return
    source_sets = [one for one in (stimulus_set.source_set, stimulus_set.cue_conflicts) if one is not None]
    ids = image_ids_of(source_sets, list({row["original"] for row in rows}))
    fields = (
        *("source_image_id", "corruption", "corruption_version", "parameter", "seed", "target", "visual_change"),
        *("evaluations", "reached", "reach_low", "reach_high", "sha256", "file"),
    )
    Stimulus.objects.bulk_create(
        [
            Stimulus(
                stimulus_set=stimulus_set,
                key=row["stimulus"],
                source_image_id=ids[row["original"]],
                corruption=row["corruption"],
                corruption_version=row["corruption_version"] or "",
                parameter=row["parameter"],
                seed=row["seed"],
                target=row["target"],
                visual_change=row["visual_change"],
                evaluations=row["evaluations"],
                reached=row["reached"],
                reach_low=row.get("reach_low"),
                reach_high=row.get("reach_high"),
                sha256=row["sha256"],
                file=f"{folder}/{row['file']}",
            )
            for row in rows
        ],
        update_conflicts=True,
        unique_fields=["stimulus_set", "key"],
        update_fields=[field.removesuffix("_id") for field in fields],
        batch_size=500,
    )


def complete_stimulus_set(*, stimulus_set: StimulusSet) -> StimulusSet:
    """Count what the set covers, write its manifest, and only then let studies use it."""
    coverage: dict[str, Any] = {}
    for name in stimulus_set.corruptions:
        changes = array.array("d", changes_of(stimulus_set, name))
        coverage[name] = {**coverage_report({name: changes})[name], **making_of(stimulus_set, name)}
    stimulus_set.manifest_sha256 = write_manifest(stimulus_set)
    file_store.publish(f"stimuli/{stimulus_set.name}")
    stimulus_set.coverage = coverage
    stimulus_set.completed_at = clock.now()
    stimulus_set.save(update_fields=["coverage", "manifest_sha256", "completed_at"])
    return stimulus_set


@transaction.atomic
def request_deletion(*, stimulus_set: StimulusSet, by: User | None = None) -> Job:
    """Queue the deletion of a set: rows go at some thousand a second. Refused at once where it would be refused."""
    ownership.check(by, Right.CHANGE, stimulus_set)
    _withdraw(stimulus_set)
    record(action="delete-stimuli", subject=f"stimulus set:{stimulus_set.name}", by=by)
    return jobs.submit(DELETION_KIND, subject=stimulus_set.job_subject, by=by, stimulus_set_id=stimulus_set.pk)


def delete_stimulus_set(*, stimulus_set: StimulusSet, progress: Progress = silent) -> int:
    """Delete a set with its rows and files; refused while something uses it or makes it. Returns the number of stimuli.

    First the set counts as incomplete, so that no study takes it up; then files, then rows. Whatever interrupts this
    leaves an incomplete set that can be deleted again, or made again.
    """
    _withdraw(stimulus_set)
    _remove_folder(stimulus_set)
    count, total = 0, stimulus_set.stimuli.count()
    while pks := list(stimulus_set.stimuli.order_by("pk").values_list("pk", flat=True)[:_ROWS_PER_DELETION]):
        _deleting(stimulus_set, Stimulus.objects.filter(pk__in=pks))
        count += len(pks)
        progress(count, total, "stimuli deleted")
    _deleting(stimulus_set, StimulusSet.objects.filter(pk=stimulus_set.pk))
    return count


@transaction.atomic
def _withdraw(stimulus_set: StimulusSet) -> None:
    job = latest_for(stimulus_set.job_subject)
    if job is not None and not job.is_finished and job.kind != DELETION_KIND:
        raise Conflict(f"The stimuli of {stimulus_set} are being made: cancel that job first, then delete the set.")
    _check_unused(stimulus_set)
    stimulus_set.completed_at = None
    stimulus_set.save(update_fields=["completed_at"])


def _check_unused(stimulus_set: StimulusSet) -> None:
    """Whoever points at the set or at a stimulus with PROTECT uses it; this app need not know who that is."""
    for model, path in ((StimulusSet, ""), (Stimulus, "__stimulus_set")):
        for relation in model._meta.get_fields(include_hidden=True):
            if not isinstance(relation, ForeignObjectRel) or relation.on_delete is not PROTECT:
                continue
            users = relation.related_model._base_manager.filter(**{f"{relation.field.name}{path}": stimulus_set})
            user = users.first()
            if user is not None:
                raise _used(stimulus_set, user)


def _deleting(stimulus_set: StimulusSet, rows: Any) -> None:
    try:
        rows.delete()
    except ProtectedError as error:
        raise _used(stimulus_set, next(iter(error.protected_objects))) from error


def _used(stimulus_set: StimulusSet, user: Any) -> Conflict:
    return Conflict(
        f"The stimulus set {stimulus_set} is used by the {user._meta.verbose_name} {user}: what people saw is kept."
    )


def _remove_folder(stimulus_set: StimulusSet) -> None:
    """Out of the way by one rename, then file by file."""
    file_store.forget(f"stimuli/{stimulus_set.name}")
    folder = media_path(f"stimuli/{stimulus_set.name}")
    doomed = folder.with_name(f".{stimulus_set.name}.deleted")
    try:
        if doomed.exists():
            shutil.rmtree(doomed)
        if folder.exists():
            folder.rename(doomed)
            shutil.rmtree(doomed)
    except OSError as error:
        raise InvalidRequest(storage_sentence(folder, error)) from error


def _check_kinds(described: Described) -> None:
    asked = (("sampling", described.sampling, SAMPLINGS), ("framing", described.framing, Framing.values))
    for what, kind, kinds in asked:
        if kind not in kinds:
            known = ", ".join(kinds)
            raise InvalidRequest(f"There is no {what} {kind!r}: choose from {known}.", fields={what: f"one of {known}"})


def _check_corruptions(described: Described) -> None:
    if not described.functions:
        raise InvalidRequest("Choose at least one corruption function.", fields={"corruptions": "choose at least one"})
    for name in described.functions:
        try:
            find_corruption(name)
        except UnknownName as error:
            raise InvalidRequest(str(error), fields={"corruptions": str(error)}) from error
    without = [name for name in described.functions if name not in LEVELS]
    if described.sampling == Sampling.LEVELS and without:
        known = ", ".join(name for name in CORRUPTIONS if name in LEVELS)
        raise InvalidRequest(
            f"No levels of {', '.join(without)} as ImageNet-C publishes them are made here: choose from {known}, or "
            "another sampling.",
            fields={"corruptions": f"with these levels: {known}"},
        )


def refusal_of(described: Described) -> str:
    """Why pictures cannot be shown as described; empty where they can."""
    try:
        _check_shown(described)
    except InvalidRequest as error:
        return error.message
    return ""


def _check_shown(described: Described) -> None:
    _check_numbers(described)
    _check_enlargement(described)
    _check_originals(described)


def _check_numbers(described: Described) -> None:
    count, seed, size_px = described.count, described.seed, described.size_px
    by_levels = described.sampling == Sampling.LEVELS
    if by_levels and count:
        raise InvalidRequest(
            "With the levels of ImageNet-C every picture is shown at every level: leave the number of stimuli out.",
            fields={"count": "leave it out with these levels"},
        )
    if not by_levels and not 1 <= count <= MOST_PER_CORRUPTION:
        raise InvalidRequest(
            f"The number of stimuli a function must lie between 1 and {MOST_PER_CORRUPTION}, not {count}.",
            fields={"count": f"1 to {MOST_PER_CORRUPTION}"},
        )
    native_side_of(described)
    if size_px not in SIZES_PX:
        raise InvalidRequest(
            f"The size must lie between {SIZES_PX.start} and {SIZES_PX.stop - 1} px, not {size_px}: visual change is "
            "undefined for smaller pictures.",
            fields={"size_px": f"{SIZES_PX.start} to {SIZES_PX.stop - 1} px"},
        )
    if not 0 <= seed < 2**63:
        raise InvalidRequest(f"The seed must lie between 0 and 2^63 - 1, not {seed}.", fields={"seed": "0 or more"})


def native_side_of(described: Described) -> int:
    """Side of the pictures that are corrupted; refused where size and factor do not go together."""
    try:
        return native_side(described.size_px, described.enlarged)
    except InvalidInput as error:
        raise InvalidRequest(str(error), fields={"enlarged": str(error)}) from error


def _check_enlargement(described: Described) -> None:
    """What cannot be together with pictures that are shown enlarged."""
    if described.enlarged == 1:
        return
    refusals = (
        (
            described.enlarge,
            "enlarge",
            "Pictures that are shown enlarged have their native size already: leave out “Enlarge small pictures” "
            "(--enlarge), which scales and blurs pictures, or give no factor (--enlarged).",
        ),
        (
            described.framing != Framing.WHOLE,
            "framing",
            "Pictures that are shown enlarged are used whole: choose the framing whole.",
        ),
        (
            described.sampling == Sampling.LEVELS,
            "sampling",
            "The levels of ImageNet-C are published for pictures of 224 px, and mean something else at native size: "
            "choose the sampling even or uniform.",
        ),
    )
    for is_refused, field, sentence in refusals:
        if is_refused:
            raise InvalidRequest(sentence, fields={field: sentence})


def _check_originals(described: Described) -> None:
    source_set, size_px = described.source_set, described.size_px
    if not source_set.images.exists():
        raise InvalidRequest(f"The set of pictures {source_set} is empty: import pictures first.")
    if described.enlarged > 1:
        for pictures in filter(None, (source_set, described.cue_conflicts)):
            _check_native(pictures, described)
        return
    side_px = shown_side_px(Framing(described.framing), size_px)
    n_small, example = smaller_than(source_set, math.ceil(side_px / MAXIMUM_ENLARGEMENT))
    if n_small:
        raise InvalidRequest(
            f"{n_small} pictures of {source_set} are too small to be shown at {size_px} px, for example "
            f"{example}. {_shown_enlarged(source_set) or 'Choose a smaller size, or import larger pictures.'}",
            fields={"size_px": "larger than the pictures allow"},
        )
    n_enlarged, example = smaller_than(source_set, side_px)
    if n_enlarged and not described.enlarge:
        raise InvalidRequest(
            f"{n_enlarged} of {source_set.images.count()} pictures of {source_set} have a side shorter than "
            f"{side_px} px and would be enlarged, which blurs them before any corruption; for example {example}. "
            "Choose a smaller size, import larger pictures (import_images --minimum-side leaves small ones out), or "
            "allow it: tick “Enlarge small pictures”, or add --enlarge.",
            fields={"enlarge": "some pictures are smaller than the size"},
        )


def _check_native(source_set: SourceSet, described: Described) -> None:
    """Every picture must have its native size already: nothing is scaled."""
    native = native_side_of(described)
    others = source_set.images.exclude(Q(width_px=native) & Q(height_px=native))
    image = others.order_by("key").first()
    if image is None:
        return
    remedy = _shown_enlarged(source_set) or "Choose another size or factor, or the factor 1, which scales pictures."
    sentence = (
        f"{others.count()} pictures of {source_set} do not have {native} x {native} px, for example {image.key} "
        f"({image.width_px} x {image.height_px} px). Pictures that are shown at {described.size_px} px, enlarged "
        f"{described.enlarged} times, must have that size already. {remedy}"
    )
    raise InvalidRequest(sentence, fields={"enlarged": "the pictures have another size"})


def _shown_enlarged(source_set: SourceSet) -> str:
    """How pictures that are all small squares of one size can be shown; empty for other sets."""
    found = enlargement_of(source_set)
    if found is None:
        return ""
    return (
        f"All have {found.native_px} x {found.native_px} px: show them enlarged {found.enlarged} times at "
        f"{found.size_px} px (--enlarged {found.enlarged} --size {found.size_px})."
    )


def shown_side_px(framing: Framing, size_px: int) -> int:
    """Shorter side of an original, of which a square of this size is cut."""
    return size_px if framing == Framing.WHOLE else round(size_px * 256 / 224)


def smaller_than(source_set: SourceSet, side_px: int) -> tuple[int, str]:
    """How many pictures have a shorter side, and one of them with its size."""
    small = source_set.images.filter(Q(width_px__lt=side_px) | Q(height_px__lt=side_px))
    image = small.order_by("key").first()
    return small.count(), f"{image.key} ({image.width_px} x {image.height_px} px)" if image else ""
