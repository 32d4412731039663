"""Reads of single stimuli out of sets of any size: every query seeks in an index, and none counts or skips rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from django.db import connection
from django.db.models import QuerySet

from humanexp.core.errors import existing
from humanexp.stimuli.models import SourceImage, SourceSet, Stimulus, StimulusSet

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


def image_by_pk(stimulus_set: StimulusSet, pk: int) -> SourceImage:
    return existing(
        _images(stimulus_set).filter(pk=pk).first(), f"The pictures of {stimulus_set.name} hold no such original."
    )


def images_around(stimulus_set: StimulusSet, image: SourceImage) -> tuple[SourceImage | None, SourceImage | None]:
    """The originals before and after one by key."""
    images = _images(stimulus_set)
    before = images.filter(key__lt=image.key).order_by("-key").first()
    return before, images.filter(key__gt=image.key).order_by("key").first()


def first_of_category(stimulus_set: StimulusSet, category: str) -> SourceImage:
    return existing(
        _images(stimulus_set).filter(category=category).order_by("key").first(),
        f"The pictures of {stimulus_set.name} hold none of the category {category!r}.",
    )


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
