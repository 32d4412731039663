from __future__ import annotations

from django.db.models import Q, QuerySet

from humanexp.experiments.models import Study
from humanexp.recruitment.models import Assignment, Environment
from humanexp.recruitment.states import LISTED, AssignmentState

#: Groups of people who can be written to, by where they stand.
RECIPIENTS = {
    "everybody": Q(),
    "opened": Q(state=AssignmentState.OPENED),
    "listed": Q(state__in=LISTED),
}


def reachable(study: Study, group: str) -> QuerySet[Assignment]:
    """One assignment of every person of a group whom a recruiter can write to."""
    mine = Assignment.objects.filter(RECIPIENTS[group], campaign__study=study, person__isnull=False)
    mine = mine.exclude(environment=Environment.LINK)
    # the latest: a person may have returned an earlier one
    latest = mine.order_by("person", "-pk").values_list("person", "pk")
    newest: dict[int, int] = {}
    for person, pk in latest:
        newest.setdefault(person, pk)
    return Assignment.objects.filter(pk__in=newest.values()).order_by("pk")
