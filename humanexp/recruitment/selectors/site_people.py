"""Who came from a site, for whoever pays or credits people there: by the ids that the site knows them by.

Together with the page that shows it, this is the one way by which such ids leave; no export has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from humanexp.participation.models import DamagedPicture, Session
from humanexp.recruitment.facts import pay_on_leaving
from humanexp.recruitment.models import Assignment, LinkTerms, OutcomeCode, id_here
from humanexp.recruitment.recruiters.tickets import Outcome
from humanexp.recruitment.selectors.links import outcome_of
from humanexp.recruitment.selectors.not_submitted import owed_of


@dataclass(frozen=True, kw_only=True)
class SitePerson:
    """What somebody who pays needs to know of one person; no verdict, and nothing of the answers."""

    person: str
    submission: str
    #: they have done what they were asked for; None while they may still go on
    is_finished: bool | None
    #: the code that the person was told; empty while there is none
    code: str
    #: beyond what the site pays for a finished submission, in the smallest unit of the currency; None: a person decides
    bonus: int | None


def people_of_site(terms: LinkTerms, said: str = "") -> Iterator[SitePerson]:
    """In the order in which they came; `said`: of one person, by one of their ids."""
    rows = _named(terms)
    if said:
        rows = rows.filter(Q(person__worker_id=id_here(terms.preset, said)) | Q(assignment_id=said))
    ways_back = {Outcome(row.outcome): row for row in terms.campaign.outcome_codes.all()}
    stopped = set(
        DamagedPicture.objects.filter(session__assignment__in=rows, mended_at=None).values_list("session", flat=True)
    )
    for row in rows.iterator():
        if row.person is None or row.session is None:
            continue
        outcome = outcome_of(row.session, is_stopped=lambda session: session.pk in stopped)
        way_back = None if outcome is None else ways_back[outcome]
        yield SitePerson(
            person=row.person.given_id,
            submission=row.assignment_id if terms.submission_parameter else "",
            is_finished=None if way_back is None else way_back.action == "review",
            code="" if way_back is None else way_back.code,
            bonus=0 if way_back is None else _bonus(terms, way_back, row.session),
        )


def credited(terms: LinkTerms) -> Iterator[str]:
    """Ids of those who have earned their credit, and of no others: whoever declined or stopped is not told."""
    return (one.person for one in people_of_site(terms) if one.is_finished)


def _named(terms: LinkTerms) -> QuerySet[Assignment]:
    rows = Assignment.objects.filter(campaign=terms.campaign, person__isnull=False, session__isnull=False)
    return rows.select_related("person", "session__study").order_by("pk")


def _bonus(terms: LinkTerms, way_back: OutcomeCode, session: Session) -> int | None:
    """What the study pays people who stop, and the reward of who did their part where the site has no code for it."""
    if way_back.paid == "decided":
        return None
    if terms.reward is None:
        return 0
    if way_back.paid == "full":
        return terms.reward if way_back.action == "return" else 0
    if way_back.paid == "nothing" or pay_on_leaving(terms.campaign.study) == "none":
        return 0
    return owed_of(terms.campaign, session, pay=terms.reward)
