"""Curves of people and networks, from studies that are over, for people of other studies to see next to their own."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.participation.own_curves import Earlier
from humanexp.studies.models import Action, Origin, Population, Study, StudyState
from humanexp.studies.permissions import studies_with


class FinishedStudies:
    """The latest analysis as planned of a study that collects no answers any more."""

    def choices(self, user: User | AnonymousUser, study: Study) -> list[tuple[str, str]]:
        return [(one.slug, one.title) for one in _over(user, study)]

    def read(self, user: User | AnonymousUser | None, study: Study, name: str) -> Earlier:
        refused = {"compared_with": "a study that is over, of another family, or none"}
        found = _over(user, study).filter(slug=name).first()
        if found is None:
            raise InvalidRequest(
                f"The curves of {name!r} cannot be shown to volunteers of this study: choose a study that you may "
                "export, that is over, and that belongs to another family.",
                fields=refused,
            )
        from humanexp.results.mean_curves import mean_curves  # with the findings: choosing a study needs none of them

        lines = mean_curves(found, study)
        if not lines:
            raise InvalidRequest(
                f"{found.title} has no curve of people for every corruption function of this study: analyse it first, "
                "or choose another one.",
                fields=refused,
            )
        return Earlier(title=found.title, lines=tuple(lines))


def _over(user: User | AnonymousUser | None, study: Study) -> QuerySet[Study]:
    """Never a study of the same family: what people see must not come from answers that still change.

    The public gets to see its curves, which takes the right to take its answers away.
    """
    seen = Study.objects.all() if user is None else studies_with(user, Action.EXPORT)
    is_over = Q(state=StudyState.STOPPED, population=Population.PEOPLE) | Q(origin=Origin.IMPORTED)
    return seen.filter(is_over, analysis_runs__selection={}).exclude(family=study.family).distinct().order_by("title")
