"""A frozen set of pictures: nothing changes, on either database."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import transaction

from humanexp.core.errors import Conflict, InvalidRequest, SetFrozen
from humanexp.core.storage import media_path
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generation import create_stimulus_set
from humanexp.stimuli.services.sources import (
    Rating,
    delete_source_set,
    describe_source_set,
    freeze_source_set,
    store_ratings,
)
from tests.limits import LIMIT


def image(source_set: SourceSet, **changes: object) -> SourceImage:
    return SourceImage(source_set=source_set, key="cat-new", category="cat", file="x", sha256="0" * 64, **changes)


def _save(one: SourceImage | SourceSet, **changes: object) -> None:
    for name, value in changes.items():
        setattr(one, name, value)
    one.save()


def _renamed(one: SourceSet) -> list[SourceImage]:
    images = list(one.images.all())
    for number, row in enumerate(images):
        row.key = f"x-{number}"
    return images


#: Every way in which the ORM is asked to change something.
CHANGES: dict[str, Callable[[SourceSet], object]] = {
    "save a set": lambda one: _save(one, licence="mine"),
    "save fields of a set": lambda one: one.save(update_fields=["gold_classifiers", "licence"]),
    "thaw": lambda one: _save(one, frozen_at=None),
    "update sets": lambda one: SourceSet.objects.filter(pk=one.pk).update(licence="mine"),
    "thaw by update": lambda one: SourceSet.objects.update(frozen_at=None),
    "delete a set": lambda one: one.delete(),
    "delete sets": lambda one: SourceSet.objects.all().delete(),
    "write over sets": lambda one: SourceSet.objects.bulk_create(
        [SourceSet(name=one.name, licence="mine")],
        update_conflicts=True,
        update_fields=["licence"],
        unique_fields=["name"],
    ),
    "add a picture": lambda one: image(one).save(),
    "create a picture": lambda one: one.images.create(key="cat-new", category="cat", file="x", sha256="0" * 64),
    "add pictures": lambda one: SourceImage.objects.bulk_create([image(one)]),
    "save a picture": lambda one: _save(one.images.first(), category="dog"),
    "save fields of a picture": lambda one: one.images.first().save(update_fields=["classifiers_asked", "file"]),
    "update pictures": lambda one: one.images.update(category="dog"),
    "update pictures in bulk": lambda one: SourceImage.objects.bulk_update(_renamed(one), ["key"]),
    "move pictures away": lambda one: one.images.update(source_set=SourceSet.objects.create(name="other")),
    "delete a picture": lambda one: one.images.first().delete(),
    "delete pictures": lambda one: one.images.filter(category="cat").delete(),
    "update or create": lambda one: one.images.update_or_create(key="cat-0", defaults={"category": "dog"}),
    "describe": lambda one: describe_source_set(source_set=one, provenance="mine", licence=""),
    "delete by service": lambda one: delete_source_set(source_set=one),
}


def state(source_set: SourceSet) -> tuple[object, ...]:
    rows = SourceImage.objects.filter(source_set=source_set).order_by("pk").values_list()
    return (*SourceSet.objects.filter(pk=source_set.pk).values_list(), *rows)


@pytest.mark.django_db
@pytest.mark.parametrize("name", CHANGES)
def test_a_frozen_set_refuses(source_set: SourceSet, name: str) -> None:
    freeze_source_set(source_set=source_set)
    before = state(source_set)
    with pytest.raises(SetFrozen), transaction.atomic():
        CHANGES[name](SourceSet.objects.get(pk=source_set.pk))
    assert state(source_set) == before
    assert media_path(source_set.images.first().file).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("name", [name for name in CHANGES if name not in ("write over sets",)])
def test_the_same_is_possible_before(source_set: SourceSet, name: str) -> None:
    before = state(source_set)
    CHANGES[name](SourceSet.objects.get(pk=source_set.pk))
    if name not in ("thaw", "thaw by update", "save fields of a set", "save fields of a picture"):
        assert state(source_set) != before


@pytest.mark.django_db
def test_an_open_set_takes_no_picture_of_a_frozen_one(source_set: SourceSet) -> None:
    freeze_source_set(source_set=source_set)
    other = SourceSet.objects.create(name="other")
    image(other).save()
    with pytest.raises(SetFrozen):
        other.images.update(source_set=source_set)


@pytest.mark.django_db
def test_freezing_twice_keeps_the_first_time_and_empty_sets_are_not_frozen(source_set: SourceSet) -> None:
    first = freeze_source_set(source_set=source_set).frozen_at
    assert freeze_source_set(source_set=SourceSet.objects.get()).frozen_at == first
    with pytest.raises(InvalidRequest, match="empty"):
        freeze_source_set(source_set=SourceSet.objects.create(name="nothing"))


@pytest.mark.django_db
def test_a_stimulus_set_freezes_its_pictures(source_set: SourceSet) -> None:
    create_stimulus_set(
        Described(source_set=source_set, name="noise", corruptions=["gaussian_noise"], count=2, size_px=112)
    )
    with pytest.raises(SetFrozen):
        SourceImage.objects.first().delete()
    with pytest.raises(Conflict, match="used by the stimulus set noise"):
        delete_source_set(source_set=source_set)


@pytest.mark.django_db
def test_ratings_are_no_change_of_a_frozen_set(source_set: SourceSet) -> None:
    freeze_source_set(source_set=source_set)
    ratings = [Rating(pk, 1, 0.25) for pk in source_set.images.values_list("pk", flat=True)]
    store_ratings(source_set=source_set, classifiers=["export:a", "export:b"], ratings=ratings)
    rated = SourceImage.objects.first()
    assert (rated.classifiers_asked, rated.classifiers_agreeing, rated.smallest_probability) == (2, 1, 0.25)
    assert not rated.is_agreed
    assert SourceSet.objects.get().gold_classifiers == ["export:a", "export:b"]


@pytest.mark.postgres
def test_the_same_holds_on_postgresql(postgres_url: str, tmp_path: Path) -> None:
    environment = {**os.environ, "DATABASE_URL": postgres_url, "PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", __file__, "-q", "-p", "no:randomly", "-p", "no:cacheprovider"),
            *("-m", "not postgres", "--basetemp", str(tmp_path / "inner"), "--create-db"),
        ],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout
