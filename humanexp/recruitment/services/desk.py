"""The trouble desk: members of a study answer what participants report, and each act is recorded."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.recruitment import money
from humanexp.recruitment.facts import code_given, link_given
from humanexp.recruitment.models import TroubleAnswer, TroubleReport
from humanexp.recruitment.selectors.desk import known_of
from humanexp.recruitment.services.compensating import compensate
from humanexp.recruitment.services.notifying import plan_message
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.services.ways_back import address_of, make_personal_link
from humanexp.studies import permissions
from humanexp.studies.languages import code_in, language_of_study
from humanexp.studies.roles import Action

LONGEST_ANSWER = 2_000
#: A closed report that belongs to no session is kept so long.
KEPT_CLOSED = timedelta(days=90)


@transaction.atomic
def answer_report(*, report: TroubleReport, text: str, by: User) -> TroubleAnswer:
    """Write back: through the recruiter where it passes messages on, else on the report's own page."""
    report = _checked(report, Action.REVIEW, by)
    return _answer(report, text, by, "answer-report")


@transaction.atomic
def give_code_again(*, report: TroubleReport, by: User) -> TroubleAnswer:
    """Tell a person who has finished their code once more.

    Only where nobody but this person can read it: knowing an id gives nobody a code.
    """
    report = _checked(report, Action.REVIEW, by)
    known = known_of(report)
    if not known.code:
        raise Conflict(_("There is no code to give: the session has not ended, or is not known, or it has none."))
    _check_private(known.is_private)
    with _in_words_of(report):
        text = code_given(known.code)
    return _answer(report, text, by, "give-code-again")


@transaction.atomic
def let_back_in(*, report: TroubleReport, by: User) -> TroubleAnswer:
    """Answer with a personal link to the session under way: the way back that exists, with its rules."""
    report = _checked(report, Action.REVIEW, by)
    _check_private(known_of(report).is_private)
    if report.assignment is None:
        raise Conflict(_("This report belongs to no session that could be continued."))
    way = make_personal_link(assignment=report.assignment, by=by)
    with _in_words_of(report):
        text = link_given(address_of(way))
    return _answer(report, text, by, "let-back-in")


@transaction.atomic
def pay_for_failure(*, report: TroubleReport, amount_cents: int, by: User) -> TroubleReport:
    """Pay a person whom our own failure has kept from it: a compensation, at most what a whole session pays."""
    report = _checked(report, Action.PAY, by)
    if report.assignment is None:
        raise Conflict(_("This report names no one who could be paid: ask the person for their completion code."))
    most = report.campaign.reward_cents
    if not 1 <= amount_cents <= most:
        amount = money.shown(most, report.campaign.currency)
        raise InvalidRequest(_("Pay at least a cent, and at most what a whole session pays: %s.") % amount)
    compensate(assignment=report.assignment, by=by, amount_cents=amount_cents, reason=_PAY_REASON)
    _record("pay-for-failure", report, by, cents=amount_cents)
    return report


@transaction.atomic
def close_report(*, report: TroubleReport, by: User) -> TroubleReport:
    """Nothing is left to do. Twice is once."""
    report = _checked(report, Action.REVIEW, by)
    if report.closed_at is None:
        report.closed_at, report.closed_by = clock.now(), by
        report.save(update_fields=["closed_at", "closed_by"])
        _record("close-report", report, by)
    return report


def erase_reports() -> int:
    """Remove what nobody may keep: reports of people whose answers were erased, and old ones that belong to nobody."""
    erased = TroubleReport.objects.filter(session__erased_at__isnull=False)
    old = TroubleReport.objects.filter(session=None, closed_at__lt=clock.now() - KEPT_CLOSED)
    return sum(found.delete()[0] for found in (erased, old))


_PAY_REASON = "You reported that our study failed. This is your pay. We are sorry for the trouble."
_SUBJECT = "Your report about our study (number {number})"


def _checked(report: TroubleReport, action: Action, by: User) -> TroubleReport:
    rows = TroubleReport.objects.select_for_update(of=("self",))
    locked = rows.select_related("campaign__study", "session", "assignment").get(pk=report.pk)
    permissions.check(by, action, locked.campaign.study)
    return locked


def _check_private(is_private: bool) -> None:
    if not is_private:
        raise Conflict(
            _(
                "The page that sent this report knew an id at most, which proves nothing: someone else may read the "
                "answer. Ask the person to report from the study's own window, or give it to whom you know."
            )
        )


def _answer(report: TroubleReport, text: str, by: User, action: str) -> TroubleAnswer:
    text = text.strip()
    if not 1 <= len(text) <= LONGEST_ANSWER:
        raise InvalidRequest(_("Write an answer of 1 to %d characters.") % LONGEST_ANSWER)
    message = None
    if known_of(report).by_message and report.assignment is not None:
        subject = _SUBJECT.format(number=report.pk)
        message = plan_message(assignment=report.assignment, subject=subject, text=text, by=by)
        request_sending(environment=report.assignment.environment)
    answer = TroubleAnswer.objects.create(
        report=report, text=text, answered_at=clock.now(), answered_by=by, message=message
    )
    _record(action, report, by, by_message=message is not None)
    return answer


def _in_words_of(report: TroubleReport) -> AbstractContextManager[None]:
    """In the language in which the person has read the study."""
    study = report.campaign.study
    tag = report.session.language if report.session else ""
    return translation.override(code_in(study, tag or language_of_study(study)))


def _record(action: str, report: TroubleReport, by: User | None, **facts: object) -> None:
    record(action=action, subject=f"report:{report.pk}", study=report.campaign.study.slug, by=by, **facts)
