"""Participants report trouble, without an account, and come back to the answer with a reference code."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import InvalidRequest, StudyRefused, TokenRefused, TooManyCalls
from humanexp.core.keys import random_code
from humanexp.core.limits import SharedAllowance
from humanexp.participation import credentials, selectors as participation
from humanexp.participation.models import Session
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Assignment, Campaign, LinkTerms, Trouble, TroubleReport, id_here
from humanexp.recruitment.recruiters.tickets import Ticket
from humanexp.recruitment.selectors.desk import answer_by

LONGEST_REPORT = 1_000
#: Letters of a reference code: nobody guesses one of so many.
_REFERENCE_LENGTH = 16
#: A class may meet one failure at once; then one report a minute from one address.
REPORTING = SharedAllowance("trouble reports", per_s=1 / 60, burst=20)
#: Wrong reference codes of one caller: ten at once, then one a minute. A right one passes, as with deletion codes.
LOOKING = SharedAllowance("trouble references", per_s=1 / 60, burst=10)


@dataclass(frozen=True, kw_only=True)
class Reported:
    """What a page sends."""

    kind: str
    text: str = ""
    #: what the page of a session holds; proves whose session it is
    proof: str = ""
    #: ids of the page's address, which prove nothing
    ticket: Ticket = Ticket()


@transaction.atomic
def report_trouble(*, campaign: Campaign, reported: Reported, caller: str) -> tuple[TroubleReport, str]:
    """Store a report; returns it with its reference code, of which a hash is kept."""
    text = reported.text.strip()
    if reported.kind not in Trouble.values:
        raise InvalidRequest("Choose what went wrong.", fields={"kind": "Choose what went wrong."})
    if len(text) > LONGEST_REPORT:
        raise InvalidRequest("This is too long: 1000 characters are the maximum.", fields={"text": "too long"})
    if reported.kind == Trouble.OTHER and not text:
        raise InvalidRequest("Say in a few words what went wrong.", fields={"text": "empty"})
    wait_s = REPORTING.spend((caller, campaign.pk))
    if wait_s:
        raise TooManyCalls(retry_after_s=wait_s)
    session = _session_behind(campaign, reported.proof)
    assignment = selectors.assignment_of(session) if session else _assignment_of(campaign, reported.ticket)
    now, reference = clock.now(), random_code("R", _REFERENCE_LENGTH)
    report = TroubleReport.objects.create(
        campaign=campaign,
        kind=reported.kind,
        text=text,
        session=session or (assignment.session if assignment else None),
        assignment=assignment,
        is_proven=session is not None,
        reference_hash=_hash(reference),
        made_at=now,
        due_at=answer_by(now),
    )
    record(
        action="report-trouble",
        subject=f"report:{report.pk}",
        study=campaign.study.slug,
        kind=report.kind,
        proven=report.is_proven,
    )
    return report, reference


def report_behind(*, campaign: Campaign, reference: str, caller: str) -> TroubleReport:
    """The report with this reference code. Raises StudyRefused for a wrong one, TooManyCalls for the latest of many."""
    found = TroubleReport.objects.filter(campaign=campaign, reference_hash=_hash(reference)).first()
    if found is None:
        if wait_s := LOOKING.spend(caller):
            raise TooManyCalls(retry_after_s=wait_s)
        raise StudyRefused("There is no report with this reference code. Check every letter, and try again.")
    return found


def _session_behind(campaign: Campaign, proof: str) -> Session | None:
    """None for a proof that is wrong, old or of another study: the report is taken all the same."""
    if not proof:
        return None
    try:
        session = participation.session_of(credentials.REPORT.read(proof))
    except TokenRefused:
        return None
    return session if session.study_id == campaign.study_id else None


def _assignment_of(campaign: Campaign, ticket: Ticket) -> Assignment | None:
    """Whom the ids of an address name; each that is given must fit."""
    taken = campaign.assignments_taken.filter(person__isnull=False)
    terms = LinkTerms.of(campaign)
    if ticket.submission:
        taken = taken.filter(assignment_id=ticket.submission)
    if ticket.person:
        person = ticket.person if terms is None else id_here(terms.preset, ticket.person)
        taken = taken.filter(person__worker_id=person)
    return taken.order_by("-pk").first() if ticket.submission or ticket.person else None


def _hash(reference: str) -> str:
    """Of the code as people type it: capitals or not, with spaces or without."""
    return sha256("".join(reference.split()).upper().encode()).hexdigest()
