"""How long people sit, and what they are told of it before they begin."""

from __future__ import annotations

import math
from statistics import median

from humanexp.experiments.counting import counting
from humanexp.experiments.duration import session_minutes
from humanexp.experiments.models import Population, Session, Study
from humanexp.experiments.moments import Epoch
from humanexp.experiments.working_time import FINISHED
from humanexp.recruitment.models import Campaign

#: Of so many newest sessions people are told the median, once there are so many.
TOLD_OF, TOLD_FROM = 20, 5


def _sitting_minutes(study: Study, newest: int) -> list[float]:
    """Minutes from opening to the end, breaks included, of the newest sessions that count."""
    known = Session.objects.filter(counting(), study=study, state__in=FINISHED, completed_at__isnull=False)
    rows = known.order_by("-pk").values_list(Epoch("opened_at"), Epoch("completed_at"))
    return [(completed - opened) / 60 for opened, completed in rows[:newest]]


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
    took = _sitting_minutes(study, TOLD_OF)
    return max(1, math.ceil(median(took))) if len(took) >= TOLD_FROM else None
