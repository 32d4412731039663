"""How long people work: measured on sessions, and what people are told of it before they begin."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import median

from django.db.models import QuerySet

from analysis.protocols import ProtocolConfig
from humanexp.experiments.counting import counting
from humanexp.experiments.duration import session_minutes, work_ms
from humanexp.experiments.models import Population, Protocol, Response, Session, SessionState, Study
from humanexp.experiments.tasks import TASKS
from humanexp.recruitment.models import Campaign
from humanexp.recruitment.selectors.moments import Epoch

#: A longer silence than this is a break; the first one holds the instructions and may be longer.
LONGEST_STEP_S, LONGEST_READING_S = 60.0, 600.0
FINISHED = (SessionState.COMPLETED, SessionState.SUBMITTED)
#: Of so many newest sessions people are told the median, once there are so many.
TOLD_OF, TOLD_FROM = 20, 5


def active_minutes(sessions: Iterable[int]) -> dict[int, float]:
    """Minutes from opening to the last answer without the breaks, by primary key; finished sessions alone."""
    wanted = Session.objects.filter(pk__in=list(sessions), state__in=FINISHED, completed_at__isnull=False)
    opened = {pk: (shown, at) for pk, shown, at in wanted.values_list("pk", "study__protocol", Epoch("opened_at"))}
    shown = Protocol.objects.in_bulk({pk for pk, _ in opened.values() if pk is not None})
    protocols = {pk: ProtocolConfig.from_dict(one.configuration) for pk, one in shown.items()}
    answers = Response.objects.filter(session__in=list(opened)).order_by("session_id", "received_at", "position")
    rows = answers.values_list("session_id", Epoch("received_at"), "trial__task", "rt_ms").iterator()
    minutes = {}
    for pk, group in groupby(rows, key=itemgetter(0)):
        protocol, opened_s = protocols.get(opened[pk][0]), opened[pk][1]
        answered = [(at, work_ms(TASKS[task], protocol, rt_ms) / 1000) for _, at, task, rt_ms in group]
        minutes[pk] = _active_s(opened_s, answered) / 60
    return minutes


def _active_s(opened_s: float, answers: Sequence[tuple[float, float]]) -> float:
    """Of answers, each with its arrival and the seconds that its trial took at least.

    Answers that waited for the network arrive in a burst: the work on them lies in the silence before it, which is then
    no break for as long as they took. Never longer than from the opening to the last arrival.
    """
    moments = [opened_s, *(at for at, _ in answers)]
    silences = [max(0.0, after - before) for before, after in pairwise(moments)]
    total = unplaced_s = 0.0
    for place in reversed(range(len(answers))):
        unplaced_s += answers[place][1]
        longest_s = LONGEST_STEP_S if place else LONGEST_READING_S
        total += min(silences[place], max(longest_s, unplaced_s))
        unplaced_s = max(0.0, unplaced_s - silences[place])
    return total


def sat(study: Study) -> QuerySet[Session]:
    """Sessions that count, and of which it is known how long they lasted."""
    return Session.objects.filter(counting(), study=study, state__in=FINISHED, completed_at__isnull=False)


def sitting_minutes(study: Study, newest: int | None = None, *, of: Collection[int] | None = None) -> dict[int, float]:
    """Minutes from opening to the end, breaks included, by primary key; nobody worked for longer.

    `of`: these sessions alone.
    """
    finished = sat(study).order_by("-pk")
    if of is not None:
        finished = finished.filter(pk__in=of)
    rows = finished.values_list("pk", Epoch("opened_at"), Epoch("completed_at"))
    return {pk: (completed - opened) / 60 for pk, opened, completed in rows[:newest]}


def minutes_told(campaign: Campaign) -> int:
    """What a participant is told: the median of those who have done it, where there are enough; else the campaign's."""
    return _usual_minutes(campaign.study) or campaign.estimated_minutes


def estimated_minutes(study: Study) -> int:
    """For a launch: as people took it so far, where enough did; else as its plan and its protocol let expect."""
    measured = _usual_minutes(study)
    # imported studies have no plan
    return measured or max(1, math.ceil(session_minutes(study)) if study.plan_file else 1)


def _usual_minutes(study: Study) -> int | None:
    """Scripted participants are no measure of it."""
    if study.population == Population.SCRIPTED:
        return None
    took = list(sitting_minutes(study, TOLD_OF).values())
    return max(1, math.ceil(median(took))) if len(took) >= TOLD_FROM else None
