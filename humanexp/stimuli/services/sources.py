from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction

from humanexp.core import clock, file_store, ownership
from humanexp.core.batches import batches_of
from humanexp.core.errors import Conflict, InvalidRequest, SetFrozen
from humanexp.core.models import User, record
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path
from humanexp.stimuli.models import SourceImage, SourceSet

_BATCH = 500
MOST_PROVENANCE = 5000


@dataclass(frozen=True)
class Rating:
    """What classifiers said about one clean picture."""

    image_id: int
    agreeing: int
    smallest_probability: float


def check_notes(provenance: str, licence: str) -> None:
    """Refuse notes on pictures that are too long to be stored."""
    if len(provenance) > MOST_PROVENANCE or len(licence) > 200:
        raise InvalidRequest(f"At most {MOST_PROVENANCE} characters on where pictures come from, 200 on the licence.")


@transaction.atomic
def freeze_source_set(*, source_set: SourceSet, by: User | None = None) -> SourceSet:
    """From now on neither its pictures nor its notes change; there is no way back."""
    locked = _locked(source_set)
    if not locked.is_frozen:
        ownership.check(by, Right.CHANGE, locked)
        if not locked.images.exists():
            raise InvalidRequest(f"The set of pictures {locked} is empty: there is nothing to freeze.")
        locked.frozen_at = clock.now()
        locked.save(update_fields=["frozen_at"])
        record(action="freeze-pictures", subject=f"source set:{locked.name}", by=by)
    source_set.frozen_at = locked.frozen_at
    return source_set


@transaction.atomic
def describe_source_set(*, source_set: SourceSet, provenance: str, licence: str, by: User | None = None) -> SourceSet:
    """Note where the pictures come from and under which licence, until the set is frozen."""
    ownership.check(by, Right.CHANGE, source_set)
    check_notes(provenance, licence)
    locked = _locked(source_set)
    locked.provenance, locked.licence = provenance.strip(), licence.strip()
    locked.save(update_fields=["provenance", "licence"])
    record(action="describe-pictures", subject=f"source set:{locked.name}", by=by)
    source_set.provenance, source_set.licence = locked.provenance, locked.licence
    return source_set


def delete_source_set(*, source_set: SourceSet, by: User | None = None) -> None:
    """Remove a set that is neither frozen nor used, with its files."""
    ownership.check(by, Right.CHANGE, source_set)
    name = source_set.name
    with transaction.atomic():
        locked = _locked(source_set)
        used = locked.stimulus_sets.first()
        if used is not None:
            raise Conflict(f"The set of pictures {name} is used by the stimulus set {used}: delete that one first.")
        locked.delete()
        file_store.forget(f"originals/{name}")
        record(action="delete-pictures", subject=f"source set:{name}", by=by)
    # The name is free only now: a folder without rows is swept by the next import of that name.
    shutil.rmtree(media_path(f"originals/{name}"), ignore_errors=True)
    shutil.rmtree(media_path(f"thumbnails/{name}"), ignore_errors=True)


@transaction.atomic
def store_ratings(*, source_set: SourceSet, classifiers: Sequence[str], ratings: Iterable[Rating]) -> SourceSet:
    """Store how many classifiers named each picture right; earlier ratings are written over.

    Ratings are facts about pictures, not a part of them: a frozen set takes them. They end with the first session of a
    study that uses the set, because its golds were chosen by them.
    """
    locked = _locked(source_set)
    check_ratings_open(locked)
    images = (
        SourceImage(
            pk=rating.image_id,
            classifiers_asked=len(classifiers),
            classifiers_agreeing=rating.agreeing,
            smallest_probability=rating.smallest_probability,
        )
        for rating in ratings
    )
    for batch in batches_of(_BATCH, images):
        locked.images.bulk_update(batch, ["classifiers_asked", "classifiers_agreeing", "smallest_probability"])
    locked.gold_classifiers = list(classifiers)
    locked.save(update_fields=["gold_classifiers"])
    source_set.gold_classifiers = locked.gold_classifiers
    return source_set


def check_ratings_open(source_set: SourceSet) -> None:
    """Refuse new ratings once somebody has taken part in a study that uses the set."""
    used = source_set.stimulus_sets.filter(studies__frozen_at__isnull=False).first()
    if used is not None:
        raise SetFrozen(
            f"The pictures of {source_set} are shown in a study that has begun (stimulus set {used}): its gold "
            "pictures were chosen by the present ratings. Import the pictures under another name to rate them again."
        )


def _locked(source_set: SourceSet) -> SourceSet:
    return SourceSet.objects.select_for_update().get(pk=source_set.pk)
