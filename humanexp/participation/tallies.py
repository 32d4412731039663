"""Counts of sessions and answers, and how answers cover the axis.

A small study is counted when its page is asked for. Of a larger one, the last count is shown, with its time; another
one is made when answers have come, so seldom that it costs a twentieth of a core at most. A count with somebody in it
who took their answers back is shown to nobody from that moment on; one with somebody who was deleted is deleted, too.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum

from humanexp.core import clock, file_store
from humanexp.core.errors import NotFound
from humanexp.core.models import User
from humanexp.core.storage import current_path, media_path, write_whole
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress, registered, silent
from humanexp.participation.models import Response, Session, SessionState, StudyTally, counting
from humanexp.participation.sessions import taken_back
from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Origin, Study
from humanexp.studies.plans import plan_head

TALLY = "participation.tally"
#: Up to so many answers are counted while the page is made: a small part of what a page may take.
AT_ONCE = 2_000
#: A count that took a second is made again after so many, if answers have come meanwhile.
REST = 20


@dataclass(frozen=True, kw_only=True)
class Counted:
    content: dict[str, Any]
    #: everything, as JSON; empty where the content is all
    whole: bytes = b""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Something that is counted over all answers of a study."""

    name: str
    count: Callable[[Study, Progress], Counted]
    #: what else it depends on than the answers; is told how many sessions that count have ended
    beside: Callable[[Study, int], str] = field(default=lambda study, ended: "")
    #: where it is shown: a URL with one argument, the study's slug
    url_name: str


_KINDS: dict[str, Kind] = {}


def register_tally(kind: Kind) -> None:
    _KINDS[kind.name] = kind


def kind_called(name: str) -> Kind:
    if name not in _KINDS:
        raise NotFound(f"Nothing called {name!r} is counted over the answers of a study.")
    return _KINDS[name]


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What a page shows."""

    kind: str
    #: None: nothing was counted yet
    content: dict[str, Any] | None
    #: None: counted just now, for this page
    made_at: datetime | None = None
    #: answers that were counted, and that there are
    answers: int = 0
    answers_now: int = 0
    is_old: bool = False
    #: the last count is shown to nobody any more: somebody who is in it took their answers back
    is_taken_back: bool = False
    file: str = ""
    job: Job | None = None

    @property
    def is_being_made(self) -> bool:
        return self.job is not None and not self.job.is_finished


def tally_of(study: Study, name: str) -> Tally:
    """The last count, or, of a small study, one that is made now."""
    kind, (marker, answers) = kind_called(name), _marker(study, name)
    if answers <= AT_ONCE:
        return Tally(kind=name, content=kind.count(study, silent).content, answers=answers, answers_now=answers)
    job = _job(study, name)
    stored = study.tallies.filter(kind=name).first()
    if stored is None or _is_taken_back(stored):
        return Tally(kind=name, content=None, answers_now=answers, is_taken_back=stored is not None, job=job)
    return Tally(
        kind=name,
        content=stored.content,
        made_at=stored.made_at,
        answers=stored.answers,
        answers_now=answers,
        is_old=stored.marker != marker,
        file=stored.file,
        job=job,
    )


def content_of(study: Study, name: str) -> dict[str, Any] | None:
    """What `tally_of` says was counted, for a page that does not say how old it is: answers are not added up."""
    if not _is_large(study):
        return tally_of(study, name).content
    stored = study.tallies.filter(kind=name).first()
    return None if stored is None or _is_taken_back(stored) else stored.content


def _is_large(study: Study) -> bool:
    """Whether some of the sessions have too many answers already to be counted at once."""
    some = _counting_ended(study).order_by().values_list("cursor", flat=True)[: AT_ONCE // 4]
    return sum(some) > AT_ONCE


def whole_tally(study: Study, name: str) -> bytes:
    """Everything that was counted, as JSON. Raises NotFound where a large study was not counted yet."""
    tally = tally_of(study, name)
    if tally.made_at is None and tally.content is not None:
        return kind_called(name).count(study, silent).whole
    if not tally.file:
        raise NotFound("This was not counted yet: the page says how far it is.")
    return current_path(tally.file).read_bytes()


def request_tally(*, study: Study, name: str, by: User | None = None) -> Job:
    """Have it counted now; asked twice, one job."""
    kind_called(name)
    job = _job(study, name)
    if job is not None and not job.is_finished:
        return job
    return jobs.submit(TALLY, subject=f"study:{study.slug}", by=by, study_id=study.pk, name=name)


def make_tally(*, study: Study, name: str, report: Progress) -> StudyTally:
    """Count, and keep it in the place of the last one."""
    kind, began = kind_called(name), time.monotonic()
    # Looked at first: what comes while this counts is counted the next time.
    marker, answers = _marker(study, name)
    held = set(study.sessions.values_list("pk", flat=True))
    counted = kind.count(study, report)
    file = ""
    if counted.whole:
        file = _file(study, name)
        write_whole(media_path(file), counted.whole)
        file_store.publish(file)
    facts = {"content": counted.content, "file": file, "answers": answers, "marker": marker}
    facts |= {"seconds": time.monotonic() - began, "made_at": clock.now()}
    stored = StudyTally.objects.update_or_create(study=study, kind=name, defaults=facts)[0]
    if held - set(study.sessions.values_list("pk", flat=True)):
        drop_tallies(study=study)  # somebody was deleted while this counted
    return stored


def drop_tallies(*, study: Study) -> None:
    """Leave nothing behind of what was counted: rows, and files once this is committed."""
    study.tallies.all().delete()
    transaction.on_commit(partial(_sweep, study))


def _sweep(study: Study) -> None:
    """Rows once more: a count may have ended meanwhile that had seen none of it."""
    study.tallies.all().delete()
    for name in _KINDS:
        file_store.forget(_file(study, name))
        file_store.local_path(_file(study, name)).unlink(missing_ok=True)


def _file(study: Study, name: str) -> str:
    """Where everything is, where that is too much for a page."""
    return f"tallies/{study.slug}-{name}.json"


def due_tallies() -> Iterator[tuple[Study, str]]:
    """Of every study that is too large to be counted on its page: what has changed, and has rested."""
    for study in Study.objects.filter(origin=Origin.COLLECTED):
        if _marker(study, "")[1] <= AT_ONCE:
            continue
        kept = {stored.kind: stored for stored in study.tallies.defer("content")}
        for name in _KINDS:
            stored = kept.get(name)
            if stored is None or _is_taken_back(stored):
                yield study, name  # each session can cause this once
            elif stored.marker != _marker(study, name)[0] and _has_rested(stored):
                yield study, name


def _is_taken_back(stored: StudyTally) -> bool:
    return taken_back(stored.study, since=stored.began_at, opened_before=stored.made_at).exists()


def _has_rested(stored: StudyTally) -> bool:
    return clock.now() - stored.made_at >= timedelta(seconds=REST * stored.seconds)


def _job(study: Study, name: str) -> Job | None:
    """The newest that counts this."""
    mine = Job.objects.filter(subject=f"study:{study.slug}", kind__in=registered(TALLY).names, parameters__name=name)
    return mine.order_by("-pk").first()


def _marker(study: Study, name: str) -> tuple[str, int]:
    """Changes with every answer, withdrawal and listing of a session that counts; and how many answers there are.

    Reads no answers; and of sessions those alone that have not ended: an index tells of the others.
    """
    under_way = Session.objects.filter(counting(), study=study, completed_at=None)
    ended, others = (
        part.aggregate(sessions=Count("*"), answers=Sum("cursor")) for part in (_counting_ended(study), under_way)
    )
    answers = (ended["answers"] or 0) + (others["answers"] or 0)
    beside = _KINDS[name].beside(study, ended["sessions"]) if name in _KINDS else ""
    return f"{ended['sessions'] + others['sessions']}:{answers}:{beside}", answers


def _counting_ended(study: Study) -> QuerySet[Session]:
    """As `counting` says, in words for which the beginning of an index stands."""
    standing = [state for state in SessionState if state != SessionState.WITHDRAWN]
    return Session.objects.filter(study=study, is_verified__in=[True], state__in=standing, completed_at__isnull=False)


#: Bins of visual change in which progress is shown.
BINS = 10
#: Answers that enter curves: main trials that are no pairs, and the first showing of what is shown twice.
_COUNTED = Q(trial__role="main", trial__second_stimulus=None) | Q(trial__role="consistency_first")


@dataclass(frozen=True, kw_only=True)
class BinCount:
    """Answers on one corruption in one bin of visual change."""

    corruption: str
    low: float
    high: float
    planned: int
    answered: int


@dataclass(frozen=True, kw_only=True)
class AnswerCounts:
    """Answers by bin, and how they are spread over pictures."""

    bins: tuple[BinCount, ...]
    #: how many pictures have so many answers: (answers, pictures), the fewest answers first; none is not in it
    spread: tuple[tuple[int, int], ...]

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> AnswerCounts:
        return cls(
            bins=tuple(BinCount(**found) for found in kept["bins"]),
            spread=tuple((number, pictures) for number, pictures in kept["spread"]),
        )

    @property
    def answers(self) -> int:
        return sum(number * pictures for number, pictures in self.spread)

    @property
    def pictures(self) -> int:
        return sum(pictures for _number, pictures in self.spread)


def answer_counts(study: Study) -> AnswerCounts:
    """Of the sessions that count; what others answered, nobody can analyse."""
    stored = Response.objects.filter(_COUNTED, counting("session"), session__study=study).exclude(set_aside=True)
    by_picture = dict(stored.order_by().values_list("trial__stimulus").annotate(n=Count("pk")))
    answered: Counter[tuple[str, int]] = Counter()
    pictures = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id)
    for pk, corruption, change in pictures.values_list("pk", "corruption", "visual_change").iterator():
        if pk in by_picture:
            answered[corruption, min(BINS - 1, int(change * BINS))] += by_picture[pk]
    strata = plan_head(study)["summary"]["strata"] if study.plan_file else {}
    return AnswerCounts(
        bins=tuple(
            BinCount(
                corruption=corruption,
                low=number / BINS,
                high=(number + 1) / BINS,
                planned=planned,
                answered=answered[corruption, number],
            )
            for corruption, counts in strata.items()
            for number, planned in enumerate(counts)
        ),
        spread=tuple(sorted(Counter(by_picture.values()).items())),
    )


def _counted(study: Study, report: Progress) -> Counted:
    counts = asdict(answer_counts(study))
    report(1, 1)
    return Counted(content=counts)


ANSWERS = Kind(name="answers", count=_counted, url_name="recruitment:answers")


def kept_counts(study: Study) -> tuple[Tally, AnswerCounts | None]:
    """As they were last counted."""
    tally = tally_of(study, ANSWERS.name)
    return tally, AnswerCounts.from_dict(tally.content) if tally.content is not None else None


def kept_bins(study: Study) -> tuple[BinCount, ...]:
    """The same without the age of the count; none where nothing was counted."""
    content = content_of(study, ANSWERS.name)
    return AnswerCounts.from_dict(content).bins if content is not None else ()


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Answers in one bin of visual change, all corruptions together, and where its rectangle is in a 0-100 box."""

    low: float
    high: float
    planned: int
    answered: int
    x: float
    width: float
    planned_height: float
    answered_height: float

    @property
    def planned_y(self) -> float:
        return 100 - self.planned_height

    @property
    def answered_y(self) -> float:
        return 100 - self.answered_height


def bars(bins: Iterable[BinCount]) -> list[Bar]:
    """One bar a bin, summed over corruptions; the tallest is as high as the box."""
    planned: Counter[tuple[float, float]] = Counter()
    answered: Counter[tuple[float, float]] = Counter()
    for found in bins:
        planned[found.low, found.high] += found.planned
        answered[found.low, found.high] += found.answered
    tallest = max([*planned.values(), *answered.values(), 1])
    return [
        Bar(
            low=low,
            high=high,
            planned=planned[low, high],
            answered=answered[low, high],
            x=100 * low + 0.5,
            width=100 * (high - low) - 1,
            planned_height=100 * planned[low, high] / tallest,
            answered_height=100 * answered[low, high] / tallest,
        )
        for low, high in sorted(planned)
    ]
