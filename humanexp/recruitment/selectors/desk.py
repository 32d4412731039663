"""Reports of trouble, and what is known about the session behind one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from humanexp.core import clock
from humanexp.core.models import User
from humanexp.participation.credentials import completion_code
from humanexp.participation.models import FINISHED, Session
from humanexp.recruitment.models import (
    Assignment,
    Campaign,
    LinkTerms,
    Payment,
    PaymentKind,
    TroubleAnswer,
    TroubleReport,
)
from humanexp.recruitment.recruiters.tickets import Code, Redirect
from humanexp.recruitment.selectors import links
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action

_SATURDAY = 5


def answer_by(made_at: datetime) -> datetime:
    """Until when an answer to a report of that moment is promised: so many days from Monday to Friday."""
    due, left = made_at, max(1, settings.ANSWER_WORKING_DAYS)
    while left:
        due += timedelta(days=1)
        left -= due.weekday() < _SATURDAY
    return due


def reports_for(by: User, study: Study | None = None) -> QuerySet[TroubleReport]:
    """Of every study in which this member sees single people, or of one of them; what is due first at the head."""
    studies = permissions.studies_with(by, Action.EVIDENCE)
    found = TroubleReport.objects.filter(campaign__study__in=studies if study is None else studies.filter(pk=study.pk))
    return found.select_related("campaign__study", "session__participant", "assignment").order_by("due_at", "pk")


def waiting(reports: QuerySet[TroubleReport]) -> QuerySet[TroubleReport]:
    """Those that nobody has answered or closed."""
    return reports.filter(closed_at=None).exclude(Exists(TroubleAnswer.objects.filter(report=OuterRef("pk"))))


def waiting_in(studies: Collection[Study]) -> Mapping[int, tuple[int, int]]:
    """By study, how many reports wait for an answer, and how many of them longer than was promised."""
    now, due = clock.now(), defaultdict[int, list[bool]](list)
    rows = waiting(TroubleReport.objects.filter(campaign__study__in=studies))
    for study, at in rows.values_list("campaign__study", "due_at"):
        due[study].append(at < now)
    return {study: (len(overdue), sum(overdue)) for study, overdue in due.items()}


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known about the visit that a report is about."""

    session: Session | None
    #: what the person was shown, or would have been: empty where the session has not ended, or has no code
    code: str
    payments: tuple[Payment, ...]
    #: money goes through the recruiter
    pays: bool
    #: the recruiter passes on what is written
    by_message: bool
    #: whether something that only the person should read may go into an answer
    is_private: bool


def known_of(report: TroubleReport) -> Known:
    can = report.campaign.capabilities
    # a compensation may have been paid on other work of the same person
    made_up = Q(kind=PaymentKind.COMPENSATION, cause=f"assignment-{report.assignment_id}")
    paid = Payment.objects.filter(Q(assignment=report.assignment_id) | made_up)
    by_message = can.messages and report.assignment is not None and report.assignment.person_id is not None
    return Known(
        session=report.session,
        code=code_of(report.campaign, report.session, report.assignment),
        payments=tuple(paid) if report.assignment_id else (),
        pays=can.pays,
        by_message=by_message,
        # A message reaches the person of the assignment, whoever wrote the report.
        is_private=report.is_proven or by_message,
    )


def code_of(campaign: Campaign, session: Session | None, assignment: Assignment | None) -> str:
    """The code with which somebody shows that they have finished: the site's, or our own."""
    if session is None or session.state not in FINISHED:
        return ""
    terms, outcome = LinkTerms.of(campaign), links.outcome_of(session)
    if terms is None:
        return completion_code(session.code)
    if assignment is None or outcome is None:
        return ""
    match links.way_out(terms, outcome, links.ticket_behind(assignment)):
        case Redirect(code=code) | Code(code=code):
            return code
    return ""
