"""What participants may see of their own answers: shares of right ones, next to curves of studies that are over.

Whoever knows such curves registers a source. No single picture is shown, and no gold.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, Protocol

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from analysis.entry import Entry
from analysis.own_performance import OwnPerformance, joined, own_performance
from analysis.study.study import StudyConfiguration
from humanexp.core import clock
from humanexp.core.errors import NotFound, TokenRefused
from humanexp.core.models import User
from humanexp.participation import sessions
from humanexp.participation.models import FINISHED, EarlierCurves, OwnCurve, Response, Session
from humanexp.studies.models import Study


class EarlierLine(Entry):
    """The share of right answers of people, or of one network, by amount of change."""

    name: str
    kind: Literal["people", "network"]
    visual_change: tuple[float, ...]
    rate: tuple[float, ...]


class Earlier(Entry):
    """Curves of one study, in the order in which they are listed."""

    #: of the study
    title: str
    lines: tuple[EarlierLine, ...]


class Source(Protocol):
    """Knows the curves of studies; there is one such source."""

    def choices(self, user: User | AnonymousUser, study: Study) -> list[tuple[str, str]]:
        """Name and title of every study whose curves this user may show to people of `study`."""

    def read(self, user: User | AnonymousUser | None, study: Study, name: str) -> Earlier:
        """Raises InvalidRequest where the curves of this study may not be shown; no user: a command asks."""


_SOURCES: list[Source] = []


def register_source(source: Source) -> None:
    _SOURCES.append(source)


def earlier_choices(user: User | AnonymousUser, study: Study) -> list[tuple[str, str]]:
    """For forms."""
    return [choice for source in _SOURCES for choice in source.choices(user, study)]


def freeze_earlier(*, study: Study, name: str, by: User | None) -> EarlierCurves:
    """The curves of the study with this name, as they are now; part of the launch that promises them."""
    found = _SOURCES[0].read(by, study, name)
    content = found.to_json()
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    frozen, _ = EarlierCurves.objects.get_or_create(
        digest=digest, defaults={"content": content, "frozen_at": clock.now()}
    )
    return frozen


#: How long the address works.
KEPT_DAYS = 30
#: Trials whose answers are counted: nothing that checks the participant.
CURVE_ROLES = ("main", "clean")
#: Upper ends of the amounts of change that are told apart.
_ENDS = (0.25, 0.5, 0.75, 1.0)
#: Right answers of comparisons; those of other tasks are not told apart.
_ANSWERS: Mapping[str, tuple[str, ...]] = {"discrimination": ("same", "different")}
#: Tasks with right answers, in the order in which they are shown. Judged pictures have none.
TASKS = ("categorisation", "discrimination", "abx")


@dataclass(frozen=True, kw_only=True)
class AnswerGroup:
    """Answers that are counted together: of neighbouring amounts of change, or by what was right.

    At least ten, and told in tenths: no single answer can be read off.
    """

    #: numbers of the first kind and the one after the last: of quarters of change from the least, or of right answers
    first: int
    end: int
    #: right answers in ten, about
    of_ten: int


@dataclass(frozen=True, kw_only=True)
class OwnShares:
    """What a person has answered in one task."""

    task: str
    answers: int
    parts: tuple[AnswerGroup, ...]


@dataclass(frozen=True, kw_only=True)
class OwnResult:
    pictures: int = 0
    #: of every task with enough answers
    shares: tuple[OwnShares, ...] = ()
    #: of people who were promised a curve: over all their sessions of the family
    performance: OwnPerformance | None = None
    #: next to which it is shown
    earlier: Earlier | None = None
    promise: OwnCurve | None = None


def own_result_address(session: Session) -> str:
    """What the address of the page says; empty where there is no such page."""
    return sessions.OWN_RESULT.sign(session.pk, session.token_nonce) if _own_result(session) else ""


def own_result_behind(said: str) -> tuple[Session, OwnResult]:
    """The result that an address stands for; it is gone after a withdrawal, and when its time is over."""
    try:
        claim = sessions.OWN_RESULT.read(said)
    except TokenRefused:
        raise NotFound from None
    mine = Session.objects.select_related("study").filter(pk=claim.session_id)
    session = mine.filter(token_nonce=claim.nonce or None).first()
    found = session and _own_result(session)
    if not session or not found:
        raise NotFound
    return session, found


def result_on_card(key: str) -> tuple[Session, OwnResult]:
    """The result that a card shows; gone with the result, and once its person has taken the card back."""
    promise = OwnCurve.objects.select_related("session__study").filter(card_key=key).first() if key else None
    found = promise and _own_result(promise.session)
    if not promise or not found or not found.performance or not found.performance.windows:
        raise NotFound
    return promise.session, found


def _own_result(session: Session) -> OwnResult | None:
    ended = session.completed_at
    if session.state not in FINISHED or ended is None or session.qualified is False:
        return None
    if ended + timedelta(days=KEPT_DAYS) < clock.now() or not _offers(session) or not _is_last(session):
        return None
    counted = Response.objects.filter(trial__role__in=CURVE_ROLES, correct__isnull=False)
    promise = OwnCurve.objects.select_related("compared_with").filter(session=session).first()
    curve = promise and _own_curve(session, promise, counted.filter(trial__task="categorisation"))
    if curve:
        return curve
    own = counted.filter(session=session, trial__task__in=TASKS).order_by()
    columns = ("trial__task", "trial__stimulus__visual_change", "trial__correct_response", "correct")
    answers = list(own.values_list(*columns))
    shares = tuple(
        one
        for task in TASKS
        if (
            one := _shares(
                task, [(change, right, bool(correct)) for of, change, right, correct in answers if of == task]
            )
        )
    )
    return OwnResult(shares=shares) if shares else None


def _shares(task: str, answers: Sequence[tuple[float | None, str, bool]]) -> OwnShares | None:
    """None where there are too few answers to tell."""
    kinds = _ANSWERS.get(task, ("",))
    cells: list[list[bool]] = [[] for _ in (_ENDS if task == "categorisation" else kinds)]
    for change, right, correct in answers:
        if task == "categorisation":
            kind = next(number for number, end in enumerate(_ENDS) if (change or 0.0) <= end)
        else:
            kind = kinds.index(right) if right in kinds else 0
        cells[kind].append(correct)
    parts = tuple(
        AnswerGroup(first=first, end=end, of_ten=round(10 * sum(right) / len(right)))
        for first, end, right in joined(cells)
    )
    return OwnShares(task=task, answers=len(answers), parts=parts) if parts else None


def _own_curve(session: Session, promise: OwnCurve, counted: QuerySet[Response]) -> OwnResult | None:
    """Also of few answers: the page then says that they are too few."""
    mine = counted.filter(session__participant=session.participant_id, session__state__in=FINISHED)
    mine = mine.filter(Q(session__is_verified=True) | Q(session=session)).order_by()
    answers = list(mine.values_list("trial__stimulus__visual_change", "correct"))
    changes, right = [change or 0.0 for change, _ in answers], [bool(correct) for _, correct in answers]
    performance = own_performance(changes, right, chance=session.study.chance)
    frozen = promise.compared_with
    earlier = Earlier.model_validate(frozen.content) if frozen else None
    if performance is None:
        return None
    return OwnResult(pictures=len(answers), performance=performance, earlier=earlier, promise=promise)


def _offers(session: Session) -> bool:
    return StudyConfiguration.from_dict(session.study.configuration).ending.own_result


def _is_last(session: Session) -> bool:
    """Whether the person has had all sessions of the family: what they see can change no answer of theirs."""
    allowed = int(session.study.configuration.get("max_sessions_per_worker", 1))
    finished = Session.objects.filter(participant=session.participant_id, state__in=FINISHED)
    return finished.filter(Q(is_verified=True) | Q(pk=session.pk)).count() >= allowed
