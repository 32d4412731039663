"""How long people work: measured on the arrivals of their answers, once, and kept beside the session.

Nothing that it depends on changes after the last answer. What a job has not kept yet is measured when it is asked for;
where the definition changes, a migration empties the column.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby, pairwise
from operator import itemgetter

from django.db.models import QuerySet

from analysis.study.protocol import ProtocolConfig
from humanexp.core.epochs import Epoch
from humanexp.participation.models import FINISHED, Response, Session
from humanexp.studies.estimated_duration import work_ms
from humanexp.studies.models import Protocol
from humanexp.studies.tasks import TASKS

#: A longer silence than this is a break; the first one holds the instructions and may be longer.
LONGEST_STEP_S, LONGEST_READING_S = 60.0, 600.0


def minutes_of(kept: Mapping[int, float | None]) -> dict[int, float]:
    """Minutes from opening to the last answer without the breaks, by primary key.

    From the seconds that are kept beside finished sessions; what is not kept is measured.
    """
    seconds = {pk: active_s for pk, active_s in kept.items() if active_s is not None}
    seconds |= measured([pk for pk, active_s in kept.items() if active_s is None])
    return {pk: active_s / 60 for pk, active_s in seconds.items()}


def unmeasured() -> QuerySet[Session]:
    """Finished sessions whose working time is not kept yet."""
    return Session.objects.filter(completed_at__isnull=False, active_s=None, state__in=FINISHED)


def measured(sessions: Collection[int]) -> dict[int, float]:
    """Seconds of work of these sessions, by primary key; of those with answers."""
    if not sessions:
        return {}
    rows = Session.objects.filter(pk__in=sessions).order_by()
    opened = {pk: (shown, at) for pk, shown, at in rows.values_list("pk", "study__protocol", Epoch("opened_at"))}
    shown = Protocol.objects.in_bulk({pk for pk, _ in opened.values() if pk is not None})
    protocols = {pk: ProtocolConfig.from_dict(one.configuration) for pk, one in shown.items()}
    answers = Response.objects.filter(session__in=list(opened)).order_by("session_id", "received_at", "position")
    seconds = {}
    columns = answers.values_list("session_id", Epoch("received_at"), "trial__task", "rt_ms").iterator()
    for pk, group in groupby(columns, key=itemgetter(0)):
        protocol, opened_s = protocols.get(opened[pk][0]), opened[pk][1]
        answered = [(at, work_ms(TASKS[task], protocol, rt_ms) / 1000) for _, at, task, rt_ms in group]
        seconds[pk] = _active_s(opened_s, answered)
    return seconds


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
