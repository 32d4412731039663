"""Stimulus sets, how far their making is, and single stimuli of sets of any size.

Every query for single stimuli seeks in an index, and none counts or skips rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.models import Avg, Count, F, FloatField, Q, QuerySet, Value
from django.db.models.functions import Cast, Floor

from analysis.labels.conflicts import conflicts
from analysis.original import Original
from analysis.tables.stimuli import stimuli_table
from analysis.visual_change.coverage import NARROW_BINS
from humanexp.core import file_store
from humanexp.core.errors import NotFound, existing
from humanexp.core.storage import media_path
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import newest_by_subject
from humanexp.stimuli.models import Sampling, SourceImage, SourceSet, Stimulus, StimulusSet

if TYPE_CHECKING:
    import pandas as pd


#: {function: {level, or None for a set without levels: {number of the narrow bin: stimuli}}}
Counted = dict[str, dict[int | None, dict[int, int]]]
_WITH_LEVELS = frozenset({Sampling.LEVELS, Sampling.IMPORTED})
_KEEP_S = 24 * 3600
#: The measure of a set of published pictures whose originals are not at hand: its stimuli have no Δv.
NOT_MEASURED = "not measured"


def stimulus_sets() -> QuerySet[StimulusSet]:
    """The newest first. They are not counted: a set may hold a million stimuli."""
    return StimulusSet.objects.select_related("source_set").order_by("-created_at")


def find_stimulus_set(name: str) -> StimulusSet | None:
    return StimulusSet.objects.select_related("source_set").filter(name=name).first()


def stimulus_set_by_name(name: str) -> StimulusSet:
    stimulus_set = find_stimulus_set(name)
    if stimulus_set is None:
        known = ", ".join(StimulusSet.objects.values_list("name", flat=True)) or "none yet"
        raise NotFound(f"There is no stimulus set named {name!r}. There are: {known}.")
    return stimulus_set


def stimulus_set_by_pk(pk: int) -> StimulusSet:
    return StimulusSet.objects.select_related("source_set").get(pk=pk)


def stimulus_by_pk(pk: int) -> Stimulus:
    return existing(Stimulus.objects.filter(pk=pk).first(), "There is no such stimulus.")


def jobs_of(stimulus_sets: list[StimulusSet]) -> dict[int, Job]:
    """The newest generation job of each set, by the set's key."""
    by_subject = {stimulus_set.job_subject: stimulus_set.pk for stimulus_set in stimulus_sets}
    return {by_subject[subject]: job for subject, job in newest_by_subject(by_subject).items()}


def stimuli_of_curves(stimulus_set: StimulusSet) -> QuerySet[Stimulus]:
    """Stimuli that models are asked about, too: all but those of practice and plain pairs."""
    return stimulus_set.stimuli.exclude(corruption__in=stimulus_set.plain_functions)


def manifest(stimulus_set: StimulusSet) -> pd.DataFrame:
    """All stimuli of a set, columns of their table; `file` is relative to MEDIA_ROOT."""
    return stimuli_table(stimulus_set.enlarged).frame(manifest_rows(stimulus_set))


def manifest_rows(stimulus_set: StimulusSet) -> Iterator[dict[str, Any]]:
    """The stimuli of a set one by one, columns of their table."""
    stimuli = stimulus_set.stimuli.select_related("source_image").order_by("corruption", "visual_change", "key")
    for stimulus in stimuli.iterator(chunk_size=500):
        yield {
            "stimulus": stimulus.key,
            "original": stimulus.source_image.key,
            "category": stimulus.source_image.category,
            "corruption": stimulus.corruption,
            "corruption_version": stimulus.corruption_version or None,
            "parameter": stimulus.parameter,
            "seed": stimulus.seed,
            "target": stimulus.target,
            "visual_change": stimulus.visual_change,
            "metric": stimulus_set.metric,
            "size_px": stimulus_set.size_px,
            **({} if stimulus_set.enlarged == 1 else {"enlarged": stimulus_set.enlarged}),
            "evaluations": stimulus.evaluations,
            "reached": stimulus.reached,
            "reach_low": stimulus.reach_low,
            "reach_high": stimulus.reach_high,
            "sha256": stimulus.sha256,
            "file": stimulus.file,
        }


def count_corrupted(stimulus_set: StimulusSet) -> int:
    """Stimuli of a set without the clean ones, through the index."""
    return Stimulus.objects.filter(stimulus_set=stimulus_set, corruption__in=stimulus_set.corruptions).count()


def counted_changes(stimulus_set: StimulusSet) -> Counted:
    """Stimuli in narrow bins of visual change, by function and level; the database counts, no row is read.

    A complete set never changes, so its counts are kept.
    """
    if stimulus_set.completed_at is None:
        return _count(stimulus_set)
    key = f"stimuli-counted-changes:{stimulus_set.pk}:{stimulus_set.completed_at.timestamp()}"
    kept: Counted | None = cache.get(key)
    if kept is None:
        kept = _count(stimulus_set)
        cache.set(key, kept, _KEEP_S)
    return kept


def has_levels(stimulus_set: StimulusSet) -> bool:
    """Whether the parameter of the set's stimuli is a published level."""
    return stimulus_set.sampling in _WITH_LEVELS


def _count(stimulus_set: StimulusSet) -> Counted:
    place = Floor(F("visual_change") * Value(float(NARROW_BINS), output_field=FloatField()))
    groups = ["corruption", "place", *(["parameter"] if has_levels(stimulus_set) else [])]
    rows: Any = (
        stimulus_set.stimuli.filter(corruption__in=stimulus_set.corruptions)
        .order_by()
        .annotate(place=Cast(place, FloatField()))
        .values(*groups)
        .annotate(n=Count("pk"))
    )
    counted: Counted = {name: {} for name in stimulus_set.corruptions}
    for row in rows:
        level = round(row["parameter"]) if "parameter" in row else None
        counted[row["corruption"]].setdefault(level, {})[int(row["place"])] = row["n"]
    return counted


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


Only = Literal["", "reached", "unreached"]


@dataclass(frozen=True)
class Cursor:
    """A place in the order of (visual change, row); a page begins behind it, or ends before it."""

    visual_change: float
    pk: int
    backwards: bool = False


@dataclass(frozen=True)
class Filters:
    """Which stimuli of one function are shown."""

    corruption: str
    low: float = 0.0
    high: float = 1.0
    #: whether a stimulus at exactly `high` is shown, as in the last bin
    includes_high: bool = True
    category: str = ""
    only: Only = ""


@dataclass(frozen=True)
class StimulusPage:
    """Some stimuli in order of visual change, and whether there are more on either side."""

    stimuli: list[Stimulus]
    has_lower: bool
    has_higher: bool


def page_of_stimuli(stimulus_set: StimulusSet, filters: Filters, cursor: Cursor | None, size: int) -> StimulusPage:
    """A page by keyset: what was seen is neither lost nor repeated when stimuli are added."""
    chosen = _chosen(stimulus_set, filters)
    found = _from(chosen, cursor, size + 1) if cursor else list(chosen.order_by("visual_change", "pk")[: size + 1])
    has_more = len(found) > size
    if cursor is not None and cursor.backwards:
        return StimulusPage(found[:size][::-1], has_lower=has_more, has_higher=True)
    return StimulusPage(found[:size], has_lower=cursor is not None, has_higher=has_more)


def neighbours(stimulus: Stimulus, size: int) -> tuple[list[Stimulus], list[Stimulus]]:
    """The nearest stimuli of the same function below and above, each in order of visual change."""
    chosen = _chosen(stimulus.stimulus_set, Filters(stimulus.corruption))
    here = Cursor(stimulus.visual_change, stimulus.pk)
    return _from(chosen, replace(here, backwards=True), size)[::-1], _from(chosen, here, size)


def stimulus_of(stimulus_set: StimulusSet, key: str) -> Stimulus:
    with_facts = Stimulus.objects.select_related("source_image", "stimulus_set__source_set").order_by()
    return existing(
        next(iter(with_facts.filter(stimulus_set=stimulus_set, key=key)), None),
        f"The set {stimulus_set.name} holds no stimulus named {key!r}.",
    )


def clean_stimulus(stimulus_set: StimulusSet, image: SourceImage) -> Stimulus | None:
    """The clean picture of an original, as it is shown; imported sets may lack it."""
    return _of_original(stimulus_set, image, "none").first()


def nearest_of_original(
    stimulus_set: StimulusSet, image: SourceImage, corruption: str, visual_change: float, size: int = 1
) -> list[Stimulus]:
    """Stimuli of one original and function that are nearest to a visual change, in its order."""
    of_original = _of_original(stimulus_set, image, corruption)
    below = of_original.filter(visual_change__lte=visual_change).order_by("-visual_change", "-pk")[:size]
    above = of_original.filter(visual_change__gt=visual_change).order_by("visual_change", "pk")[:size]
    nearest = sorted([*below, *above], key=lambda stimulus: abs(stimulus.visual_change - visual_change))[:size]
    return sorted(nearest, key=lambda stimulus: (stimulus.visual_change, stimulus.pk))


def first_in_range(stimulus_set: StimulusSet, filters: Filters, size: int) -> list[Stimulus]:
    """A few stimuli of one function, from the lower end of a range."""
    return list(_chosen(stimulus_set, filters).order_by("visual_change", "pk")[:size])


def nearest_to_levels(stimulus_set: StimulusSet, corruption: str, levels: Sequence[float]) -> list[Stimulus | None]:
    """For each level of visual change the stimulus of a function within half a step of it, or None."""
    of_function = _chosen(stimulus_set, Filters(corruption))
    reach = 0.5 / len(levels)
    chosen: list[Stimulus | None] = []
    for level in levels:
        below = of_function.filter(visual_change__lte=level, visual_change__gte=level - reach)
        above = of_function.filter(visual_change__gt=level, visual_change__lte=level + reach)
        found = [below.order_by("-visual_change", "-pk").first(), above.order_by("visual_change", "pk").first()]
        near = [stimulus for stimulus in found if stimulus is not None]
        chosen.append(min(near, key=lambda stimulus: abs(stimulus.visual_change - level), default=None))
    return chosen


def image_in(stimulus_set: StimulusSet, key: str) -> SourceImage:
    """An original of the set's pictures; without a key the first one."""
    images = _images(stimulus_set)
    image = images.filter(key=key).first() if key else images.order_by("key").first()
    what = f"named {key!r}" if key else "at all"
    return existing(image, f"The pictures of {stimulus_set.name} hold no original {what}.")


def categories_of(stimulus_set: StimulusSet) -> list[str]:
    return sorted(_images(stimulus_set).order_by().values_list("category", flat=True).distinct())


def first_original(source_set: SourceSet) -> SourceImage:
    return existing(
        SourceImage.objects.filter(source_set=source_set).order_by("key").first(),
        f"The set of pictures {source_set.name} is empty: import pictures first.",
    )


def count_originals(source_set: SourceSet) -> int:
    return SourceImage.objects.filter(source_set=source_set).count()


def count_between(stimulus_set: StimulusSet, corruption: str, edges: Sequence[float]) -> list[int]:
    """Stimuli of a function in [edge, next edge), the last interval closed: a range of the index each, in one query."""
    table = connection.ops.quote_name(Stimulus._meta.db_table)
    one = f"(SELECT COUNT(*) FROM {table} WHERE stimulus_set_id = %s AND corruption = %s AND visual_change >= %s AND"  # noqa: S608  a constant
    parameters: list[str | float] = []
    parts = []
    last = len(edges) - 2
    for place in range(len(edges) - 1):
        parts.append(f"{one} visual_change {'<=' if place == last else '<'} %s)")
        parameters += [stimulus_set.pk, corruption, edges[place], edges[place + 1]]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(parts)}", parameters)
        return [int(count) for count in cursor.fetchone()]


def out_of_reach(stimulus_set: StimulusSet, corruption: str) -> int:
    """How many targets of a function no picture met; they have an index of their own."""
    return Stimulus.objects.filter(stimulus_set=stimulus_set, corruption=corruption, reached=False).count()


def _chosen(stimulus_set: StimulusSet, filters: Filters) -> QuerySet[Stimulus]:
    ends_before = filters.high < 1 or not filters.includes_high
    wanted = {
        "visual_change__gte": filters.low if filters.low > 0 else None,
        "visual_change__lte" if filters.includes_high else "visual_change__lt": filters.high if ends_before else None,
        "source_image__category": filters.category or None,
        "reached": filters.only == "reached" if filters.only else None,
    }
    return Stimulus.objects.select_related("source_image").filter(
        stimulus_set=stimulus_set,
        corruption=filters.corruption,
        **{lookup: value for lookup, value in wanted.items() if value is not None},
    )


def _from(chosen: QuerySet[Stimulus], cursor: Cursor, size: int) -> list[Stimulus]:
    """Stimuli behind a place, or, nearest first, those before it.

    Two seeks instead of one comparison of pairs: first those of equal visual change, then those beyond.
    """
    beyond, order = ("lt", "-") if cursor.backwards else ("gt", "")
    equal = chosen.filter(visual_change=cursor.visual_change, **{f"pk__{beyond}": cursor.pk})
    found = list(equal.order_by(f"{order}pk")[:size])
    if len(found) < size:
        others = chosen.filter(**{f"visual_change__{beyond}": cursor.visual_change})
        found += others.order_by(f"{order}visual_change", f"{order}pk")[: size - len(found)]
    return found


def _images(stimulus_set: StimulusSet) -> QuerySet[SourceImage]:
    return SourceImage.objects.filter(source_set=stimulus_set.source_set_id)


def _of_original(stimulus_set: StimulusSet, image: SourceImage, corruption: str) -> QuerySet[Stimulus]:
    return _chosen(stimulus_set, Filters(corruption)).filter(source_image=image)
