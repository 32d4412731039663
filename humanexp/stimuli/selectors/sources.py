"""Source sets, and whether they suffice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.db.models import Count, F, Max, Min, Q, QuerySet
from django.db.models.functions import Greatest, Least

from analysis.labels.space import MOST_FOR_PEOPLE
from analysis.native_size import Enlargement, suggested_enlargement
from humanexp.core.errors import NotFound, existing
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import SourceImage, SourceSet

#: Filters of the gallery: what a picture's ratings must look like.
AGREED = Q(classifiers_asked__gt=0, classifiers_agreeing=F("classifiers_asked"))
RATED = Q(classifiers_asked__gt=0)


@dataclass(frozen=True)
class CategoryCount:
    category: str
    n: int
    #: pictures that every classifier named right
    n_agreed: int
    smallest_side_px: int | None


def source_sets() -> QuerySet[SourceSet]:
    return SourceSet.objects.annotate(
        n_images=Count("images"), n_categories=Count("images__category", distinct=True)
    ).order_by("-created_at")


def has_pictures() -> bool:
    """Whether stimuli could be made."""
    return SourceSet.objects.exists()


def source_set_by_name(name: str) -> SourceSet:
    source_set = SourceSet.objects.filter(name=name).first()
    if source_set is None:
        known = ", ".join(SourceSet.objects.values_list("name", flat=True)) or "none yet: import_images makes one"
        raise NotFound(f"There is no set of pictures named {name!r}. There are: {known}.")
    return source_set


def source_set_by_pk(pk: str) -> SourceSet:
    """A set of pictures by the key that a form sent."""
    return existing(
        SourceSet.objects.filter(pk=int(pk)).first() if pk.isdecimal() and len(pk) < 19 else None,
        "There is no such set of pictures.",
    )


def enlargement_of(source_set: SourceSet) -> Enlargement | None:
    """How pictures are best shown that are all small squares of one size; None for other sets."""
    return enlargements([source_set]).get(source_set.pk)


def enlargements(source_sets: Iterable[SourceSet]) -> dict[int, Enlargement]:
    """How the pictures of these sets are best shown, by the set's key, where they are all small squares of one size."""
    sides = (
        SourceImage.objects.filter(source_set__in=list(source_sets))
        .order_by()
        .values("source_set_id")
        .annotate(least=Min(Least("width_px", "height_px")), most=Max(Greatest("width_px", "height_px")))
        .annotate(unknown=Count("pk", filter=Q(width_px=None) | Q(height_px=None)))
    )
    found = {
        row["source_set_id"]: suggested_enlargement(row["least"])
        for row in sides
        if row["least"] is not None and row["least"] == row["most"] and not row["unknown"]
    }
    return {pk: one for pk, one in found.items() if one is not None}


def image_by_pk(pk: int) -> SourceImage:
    return existing(SourceImage.objects.filter(pk=pk).select_related("source_set").first(), "There is no such picture.")


def counts_by_category(source_set: SourceSet) -> list[CategoryCount]:
    """Labels of the set, those without a picture as well where people could choose among all of them."""
    counted = (
        source_set.images.order_by()
        .values("category")
        .annotate(
            n=Count("pk"), n_agreed=Count("pk", filter=AGREED), smallest_side_px=Min(Least("width_px", "height_px"))
        )
    )
    rows = {row["category"]: CategoryCount(**row) for row in counted}
    space = source_set.space
    shown = space.ids if len(space) <= MOST_FOR_PEOPLE else [label for label in space.ids if label in rows]
    return [rows.get(label) or CategoryCount(label, 0, 0, None) for label in shown]


def counts_by_label(counts: Mapping[str, int]) -> str:
    """How many pictures each label has, in words; of many labels, from the fewest to the most."""
    if len(counts) <= MOST_FOR_PEOPLE:
        return ", ".join(f"{label} {count}" for label, count in counts.items())
    fewest, most = min(counts.values()), max(counts.values())
    return f"of {len(counts):,} labels, {fewest:,} {'' if fewest == most else f'to {most:,} '}each"


def pictures_of(source_set: SourceSet, *, category: str = "", agreement: str = "") -> QuerySet[SourceImage]:
    """Pictures in the order of their names; `agreement` is "agreed", "disputed", or empty for all."""
    images = source_set.images.order_by("key")
    if category:
        images = images.filter(category=category)
    if agreement == "agreed":
        images = images.filter(AGREED)
    elif agreement == "disputed":
        images = images.filter(RATED).exclude(AGREED)
    return images


def agreed_originals(source_set: SourceSet) -> frozenset[str] | None:
    """Originals that every classifier named right; None where none was asked."""
    if not source_set.gold_classifiers:
        return None
    return frozenset(source_set.images.order_by().filter(AGREED).values_list("key", flat=True))


def import_job_of(name: str) -> Job | None:
    """The newest job that imports a set of this name."""
    return latest_for(f"source_import:{name}")


def rating_job_of(source_set: SourceSet) -> Job | None:
    """The newest job that rates the pictures of a set."""
    return latest_for(source_set.job_subject)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Whether a set of pictures is enough for one kind of study."""

    study: str
    verdict: Literal["yes", "smaller", "no"]
    #: what one person's session takes, or why none fits
    text: str


Ask = Callable[[int, int], Sequence[Answer]]
_ASKED: list[Ask] = []


def register(ask: Ask) -> None:
    """`ask` is given the numbers of originals and of labels."""
    _ASKED.append(ask)


def answers_for(n_originals: int, n_labels: int) -> list[Answer]:
    return [answer for ask in _ASKED for answer in ask(n_originals, n_labels)]
