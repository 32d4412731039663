"""Which pictures stand in sessions, and which people may have seen."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import F, QuerySet

from humanexp.participation.models import Response, Session, Trial
from humanexp.participation.pictures import Picture
from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Study


def stimulus_pks(study: Study, keys: Collection[str]) -> dict[str, int]:
    found = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, key__in=list(keys))
    return dict(found.values_list("key", "pk"))


def stimulus_pictures(study: Study, keys: Collection[str]) -> dict[str, Picture]:
    found = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, key__in=list(keys))
    return {key: Picture(*picture) for key, *picture in found.values_list("key", *Picture._fields)}


#: Fields of a trial that name its pictures, in the order of their showings.
PICTURES = ("stimulus", "second_stimulus", "third_stimulus")


def seen_originals(sessions: Iterable[Session], study: Study) -> set[str]:
    """Originals of the study's set that may have been shown in these sessions, told by their content."""
    shown = Trial.objects.filter(session__in=list(sessions), position__lte=F("session__cursor"))
    contents = {
        content
        for pictures in shown.values_list(*(f"{name}__source_image__sha256" for name in PICTURES))
        for content in pictures
        if content
    }
    mine = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, source_image__sha256__in=contents)
    return set(mine.values_list("source_image__key", flat=True))


def stimuli_of(study: Study, originals: Collection[str]) -> set[str]:
    """Names of the study's stimuli that were made from these originals."""
    mine = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, source_image__key__in=originals)
    return set(mine.values_list("key", flat=True))


def given_out(study: Study) -> set[str]:
    """Names of the stimuli that stand in any session of the study, planned or as a replacement."""
    trials = Trial.objects.filter(session__study=study)
    names = trials.values_list(*(f"{name}__key" for name in PICTURES)).distinct()
    return {name for pictures in names for name in pictures if name}


def unfetched_answers(sessions: QuerySet[Session]) -> dict[int, int]:
    """Answers whose pictures were never given out, by the session's primary key; without those for which nobody kept
    that. Hardly any session has one, and the answers of the others are not read."""
    kept = sessions.exclude(pictures_fetched=None).order_by().only("pk", "cursor", "pictures_fetched")
    fetched = {one.pk: (one.fetched or frozenset(), one.cursor) for one in kept.iterator()}
    counts = dict.fromkeys(fetched, 0)
    # A qualification that was passed leaves out the tries that would have followed: no answers are there.
    open_to_doubt = [pk for pk, (known, cursor) in fetched.items() if not known.issuperset(range(cursor))]
    answered = Response.objects.filter(session__in=open_to_doubt).order_by()
    for pk, position in answered.values_list("session_id", "position").iterator():
        counts[pk] += position not in fetched[pk][0]
    return counts
