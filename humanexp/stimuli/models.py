"""Sets of pictures and of stimuli. Rows of a frozen set of pictures do not change, however the ORM is asked."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from django.db import models
from django.db.models import Q

from analysis.labels.files import default_labels, labels_from_toml
from analysis.labels.space import LabelSpace
from humanexp.core.errors import SetFrozen
from humanexp.core.models import Owned

if TYPE_CHECKING:
    from analysis.generation.originals import Framing as FramingName


#: What classifiers said about a picture is no part of the picture.
_RATINGS = frozenset({"classifiers_asked", "classifiers_agreeing", "smallest_probability"})
#: And which classifiers were asked, nor who is still known to have imported the set.
_NOT_FROZEN = frozenset({"gold_classifiers", "created_by", "created_by_id"})


class LabelSet(Owned):
    """A label space: its identity stays once pictures have it, what people see of it can be mended."""

    name = models.SlugField(max_length=80, unique=True)
    #: digests of `LabelSpace.identity` and `LabelSpace.presentation`
    identity = models.CharField(max_length=64)
    presentation = models.CharField(max_length=64)
    #: as a TOML file, and the SVG of its own icons by name
    document = models.TextField()
    drawings = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def space(self) -> LabelSpace:
        """The labels as a value."""
        return _read_labels(self.document, json.dumps(self.drawings, sort_keys=True))


@lru_cache(maxsize=64)
def _read_labels(document: str, drawings: str) -> LabelSpace:
    return labels_from_toml(document, json.loads(drawings))


class SourceSetQuerySet(models.QuerySet["SourceSet"]):
    """Refuses changes to a frozen set."""

    def update(self, **values: Any) -> int:
        if set(values) - _NOT_FROZEN:
            _refuse_frozen(self)
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        _refuse_frozen(self)
        return super().delete()

    def bulk_create(self, objs: Iterable[SourceSet], *args: Any, **options: Any) -> list[SourceSet]:
        if options.get("update_conflicts"):
            raise SetFrozen("Sets of pictures are not written over.")
        return super().bulk_create(objs, *args, **options)


class SourceImageQuerySet(models.QuerySet["SourceImage"]):
    """Refuses changes to the pictures of a frozen set, other than what classifiers said about them."""

    def update(self, **values: Any) -> int:
        if set(values) - _RATINGS:
            _refuse_any({*self.order_by().values_list("source_set_id", flat=True).distinct(), _set_of(values)})
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        _refuse_any(set(self.order_by().values_list("source_set_id", flat=True).distinct()))
        return super().delete()

    def bulk_create(self, objs: Iterable[SourceImage], *args: Any, **options: Any) -> list[SourceImage]:
        images = list(objs)
        _refuse_any({image.source_set_id for image in images})
        return super().bulk_create(images, *args, **options)


def _refuse_frozen(source_sets: models.QuerySet[SourceSet]) -> None:
    """Raise SetFrozen if one of these sets is frozen in the database."""
    frozen = source_sets.order_by().exclude(frozen_at=None).first()
    if frozen is not None:
        raise SetFrozen(
            f"The set of pictures {frozen.name} has been frozen since {frozen.frozen_at:%Y-%m-%d %H:%M} UTC: "
            "it can no longer be changed. Import the pictures under another name instead."
        )


def _allows(update_fields: Collection[str] | None, allowed: frozenset[str]) -> bool:
    """Whether a save of these fields changes nothing that freezing protects."""
    return update_fields is not None and not set(update_fields) - allowed


def _set_of(values: dict[str, Any]) -> int | None:
    """The set into which an update moves pictures, if it does."""
    moved = values.get("source_set", values.get("source_set_id"))
    return getattr(moved, "pk", moved)


def _refuse_any(pks: set[int | None]) -> None:
    _refuse_frozen(SourceSet.objects.filter(pk__in=[pk for pk in pks if pk is not None]))


class SourceSet(Owned):
    """Labelled pictures from one place, with their provenance."""

    name = models.SlugField(max_length=80, unique=True)
    #: what its pictures are called; none: the product's default
    labels = models.ForeignKey(LabelSet, null=True, blank=True, on_delete=models.PROTECT, related_name="source_sets")
    provenance = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    #: from then on neither its pictures nor its notes change
    frozen_at = models.DateTimeField(null=True, blank=True)
    #: adapter strings of the classifiers whose agreement `SourceImage` holds, in the order they were asked
    gold_classifiers = models.JSONField(default=list, blank=True)
    #: what the import left out, and why
    import_report = models.JSONField(default=dict, blank=True)
    #: of a published set: the text of its `set.toml`, and the digest of that and of its pictures
    set_document = models.TextField(blank=True, default="")
    set_digest = models.CharField(max_length=64, blank=True, default="")

    objects = SourceSetQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **options: Any) -> None:
        """Refused with SetFrozen once the set is frozen in the database."""
        if not _allows(options.get("update_fields"), _NOT_FROZEN):
            _refuse_any({self.pk})
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> tuple[int, dict[str, int]]:
        """Refused with SetFrozen once the set is frozen."""
        _refuse_any({self.pk})
        return super().delete(*args, **options)

    @property
    def is_frozen(self) -> bool:
        return self.frozen_at is not None

    @property
    def space(self) -> LabelSpace:
        """The labels of its pictures."""
        return self.labels.space if self.labels is not None else default_labels()

    @property
    def job_subject(self) -> str:
        """Under this subject jobs about the set are found."""
        return f"source_set:{self.pk}"


class SourceImage(models.Model):
    """An original: one picture with its label."""

    source_set = models.ForeignKey(SourceSet, on_delete=models.CASCADE, related_name="images")
    #: unique in the set; the `original` column of every table
    key = models.CharField(max_length=200)
    category = models.CharField(max_length=40)
    #: labels that are right answers, where there are several; empty: its category alone
    accepted = models.JSONField(default=list, blank=True)
    #: what else the picture could be taken for, such as the texture of a cue conflict
    competing = models.CharField(max_length=40, blank=True)
    #: further properties by name
    factors = models.JSONField(default=dict, blank=True)
    #: relative to MEDIA_ROOT
    file = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    #: of size and pixels as seen: equal for one picture saved without loss as different kinds of file
    pixel_sha256 = models.CharField(max_length=64, blank=True)
    width_px = models.PositiveIntegerField(null=True, blank=True)
    height_px = models.PositiveIntegerField(null=True, blank=True)
    #: path within the folder, archive or bucket that it was imported from
    source_name = models.CharField(max_length=300, blank=True)
    #: WordNet id, where the source names it
    wnid = models.CharField(max_length=9, blank=True)
    #: classifiers that were asked for the category of the clean picture, and how many of them named it
    classifiers_asked = models.PositiveSmallIntegerField(null=True, blank=True)
    classifiers_agreeing = models.PositiveSmallIntegerField(null=True, blank=True)
    #: the smallest probability that one of them gave to the category
    smallest_probability = models.FloatField(null=True, blank=True)

    objects = SourceImageQuerySet.as_manager()

    class Meta:
        ordering = ["key"]
        constraints = [
            models.UniqueConstraint(fields=["source_set", "key"], name="source_image_key_once"),
            models.UniqueConstraint(fields=["source_set", "sha256"], name="source_image_content_once"),
        ]
        indexes = [models.Index(fields=["source_set", "category", "key"])]

    def __str__(self) -> str:
        return self.key

    def save(self, *args: Any, **options: Any) -> None:
        """Refused with SetFrozen when the set is frozen, but for what classifiers said."""
        if not _allows(options.get("update_fields"), _RATINGS):
            _refuse_any({self.source_set_id})
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> tuple[int, dict[str, int]]:
        """Refused with SetFrozen when the set is frozen."""
        _refuse_any({self.source_set_id})
        return super().delete(*args, **options)

    @property
    def is_rated(self) -> bool:
        return bool(self.classifiers_asked)

    @property
    def is_agreed(self) -> bool:
        """Every classifier that was asked named the category."""
        return self.is_rated and self.classifiers_agreeing == self.classifiers_asked


class Sampling(models.TextChoices):
    """How the strengths of a set's stimuli were chosen."""

    EVEN = "even", "evenly over visual change"
    UNIFORM = "uniform", "uniformly over the logarithm of the parameter"
    UNIFORM_PARAMETER = "uniform-parameter", "uniformly over the parameter, as published"
    LEVELS = "imagenet-c-levels", "the five published levels of ImageNet-C"
    IMPORTED = "imported", "imported from elsewhere"


class Framing(models.TextChoices):
    """How a picture is cut to the square that is shown."""

    WHOLE = "whole", "shorter side to the size, middle square"
    IMAGENET = "imagenet", "shorter side to 256/224 of the size, middle square, as for ImageNet-C"


def framing_named(name: str) -> FramingName:
    """A framing as the analysis names it; plain text, for it travels to processes without Django."""
    return cast("FramingName", Framing(name).value)


class StimulusSet(Owned):
    """Stimuli made from one source set with one configuration; complete once `completed_at` is set."""

    name = models.SlugField(max_length=80, unique=True)
    source_set = models.ForeignKey(SourceSet, on_delete=models.PROTECT, related_name="stimulus_sets")
    #: names of corruption functions, without the clean "none"
    corruptions = models.JSONField(default=list)
    #: two functions more, of which every original has one stimulus: practice and plain pairs alone show them
    plain_functions = models.JSONField(default=list, blank=True)
    #: families of sentinels of persons (`analysis.persons`): no curve shows them
    person_families = models.JSONField(default=list, blank=True)
    #: pictures that are cue conflicts as they are, where there are any
    cue_conflicts = models.ForeignKey(SourceSet, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    sampling = models.CharField(max_length=20, choices=Sampling.choices, default=Sampling.EVEN)
    framing = models.CharField(max_length=10, choices=Framing.choices, default=Framing.WHOLE)
    #: 0 where the sampling fixes it
    count_per_corruption = models.PositiveIntegerField()
    seed = models.BigIntegerField(default=0)
    #: side of what is shown
    size_px = models.PositiveSmallIntegerField(default=224)
    #: how many times pictures of their native size, size_px / enlarged, are enlarged after they were corrupted
    enlarged = models.PositiveSmallIntegerField(default=1)
    metric = models.CharField(max_length=40)
    #: strength to visual change, by function; measured before the first stimulus is made
    pilots = models.JSONField(default=dict, blank=True)
    #: counts in each bin of visual change and what making them took, by function; written when the set is complete
    coverage = models.JSONField(default=dict, blank=True)
    #: what making it took so far, over all attempts: seconds, kWh and kg CO2, measured or estimated
    energy = models.JSONField(default=dict, blank=True)
    #: digest of the manifest, a Parquet file beside the stimuli
    manifest_sha256 = models.CharField(max_length=64, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def job_subject(self) -> str:
        """Under this subject jobs about the set are found."""
        return f"stimulus_set:{self.pk}"

    @property
    def native_px(self) -> int:
        """Side of the pictures that were corrupted."""
        return self.size_px // self.enlarged


class Stimulus(models.Model):
    """The picture that people and networks get: a function of (original, corruption and version, parameter, seed)."""

    stimulus_set = models.ForeignKey(StimulusSet, on_delete=models.CASCADE, related_name="stimuli")
    #: unique in the set; the `stimulus` column of every table
    key = models.CharField(max_length=60)
    source_image = models.ForeignKey(SourceImage, on_delete=models.PROTECT, related_name="stimuli")
    #: "none" for the clean picture
    corruption = models.CharField(max_length=40)
    corruption_version = models.CharField(max_length=20)
    parameter = models.FloatField()
    seed = models.BigIntegerField()
    target = models.FloatField(null=True, blank=True)
    visual_change = models.FloatField()
    evaluations = models.PositiveSmallIntegerField(default=0)
    reached = models.BooleanField(default=True)
    #: the range of visual change that the tries spanned, where the target lies outside it
    reach_low = models.FloatField(null=True, blank=True)
    reach_high = models.FloatField(null=True, blank=True)
    sha256 = models.CharField(max_length=64)
    file = models.CharField(max_length=300)

    class Meta:
        ordering = ["key"]
        constraints = [
            models.UniqueConstraint(fields=["stimulus_set", "key"], name="stimulus_key_once"),
            models.CheckConstraint(
                condition=Q(visual_change__gte=0) & Q(visual_change__lte=1), name="stimulus_visual_change_in_unit"
            ),
        ]
        indexes = [
            models.Index(fields=["stimulus_set", "corruption", "visual_change"]),
            models.Index(fields=["stimulus_set", "source_image", "corruption", "visual_change"]),
            # Few among many: without it, showing them would read the whole set.
            models.Index(
                fields=["stimulus_set", "corruption", "visual_change"],
                condition=Q(reached=False),
                name="stimulus_out_of_reach",
            ),
        ]

    def __str__(self) -> str:
        return self.key
