"""People of a campaign: found by the code that they send in, and written to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.ledger.models import Call, CallKind
from humanexp.ledger.outbox import plan_about, request_sending
from humanexp.participation.credentials import completion_codes
from humanexp.participation.models import Session
from humanexp.recruiters import registry
from humanexp.recruiters.models import Assignment
from humanexp.recruiters.states import LISTED, AssignmentState, WriteState
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action

#: Codes that are looked up at once.
MOST_CODES = 500


@dataclass(frozen=True, kw_only=True)
class FoundCode:
    """A code as it was sent in, and the finished session that it belongs to; None where it is nobody's."""

    code: str
    session: Session | None = None
    #: under which the session was recruited, where that is known
    assignment: Assignment | None = None

    @property
    def given_id(self) -> str:
        """The id by which a link named the person, if it did: whoever sent them knows them by it."""
        row = self.assignment
        return row.person.given_id if self.came_by_link and row is not None and row.person is not None else ""

    @property
    def came_by_link(self) -> bool:
        return self.assignment is not None and not self.assignment.campaign.capabilities.vouches


def can_be_written_to(assignment: Assignment) -> bool:
    """A link has nobody's address."""
    return assignment.person_id is not None and assignment.campaign.capabilities.vouches


def codes_in(text: str) -> list[str]:
    """What was typed or pasted, one after the other, each once; codes are read out in small letters, too."""
    return list(dict.fromkeys(part.upper() for part in re.split(r"[\s,;]+", text) if part))


def find_codes(study: Study, codes: Sequence[str]) -> list[FoundCode]:
    """In the order given. Codes are stored nowhere: those of the study's finished sessions are reckoned anew."""
    wanted = set(codes)
    finished = Session.objects.filter(study=study, completed_at__isnull=False).select_related("participant")
    sessions = {
        code: session for session in finished.iterator() for code in completion_codes(session.code) if code in wanted
    }
    held = Assignment.objects.filter(session__in=list(sessions.values())).select_related("campaign", "person")
    assignments = {assignment.session_id: assignment for assignment in held.order_by("pk")}
    return [
        FoundCode(code=code, session=session, assignment=assignments.get(session.pk) if session else None)
        for code, session in ((code, sessions.get(code)) for code in codes)
    ]


#: Groups of people who can be written to, by where they stand.
RECIPIENTS = {
    "everybody": Q(),
    "opened": Q(state=AssignmentState.OPENED),
    "listed": Q(state__in=LISTED),
}


def reachable(study: Study, group: str) -> QuerySet[Assignment]:
    """One assignment of every person of a group whom a recruiter can write to."""
    mine = Assignment.objects.filter(RECIPIENTS[group], campaign__study=study, person__isnull=False)
    mine = mine.exclude(registry.at(vouches=False))
    # the latest: a person may have returned an earlier one
    latest = mine.order_by("person", "-pk").values_list("person", "pk")
    newest: dict[int, int] = {}
    for person, pk in latest:
        newest.setdefault(person, pk)
    return Assignment.objects.filter(pk__in=newest.values()).order_by("pk")


LONGEST_SUBJECT, LONGEST_TEXT = 200, 4_000


@transaction.atomic
def notify(*, assignments: Iterable[Assignment], subject: str, text: str, by: User) -> list[Call]:
    """Write to the people of some assignments, once to each person; sent one by one, at most once.

    Who has been sent these very words about this study is not sent them again: a second click writes to nobody.
    """
    rows = list(assignments)
    for study in {row.campaign.study for row in rows}:
        permissions.check(by, Action.LAUNCH, study)
    subject, text = subject.strip(), text.strip()
    faults = {
        "subject": "" if 0 < len(subject) <= LONGEST_SUBJECT else f"1 to {LONGEST_SUBJECT} characters",
        "text": "" if 0 < len(text) <= LONGEST_TEXT else f"1 to {LONGEST_TEXT} characters",
    }
    faults = {name: fault for name, fault in faults.items() if fault}
    if faults:
        raise InvalidRequest("A message needs a subject and a text.", fields=faults)
    people: dict[int, Assignment] = {}
    for assignment in rows:
        if can_be_written_to(assignment) and assignment.person_id is not None:
            people.setdefault(assignment.person_id, assignment)
    if not people:
        raise Conflict("None of these people can be written to: a plain link has no addresses.")
    told = _told(next(iter(people.values())).campaign.study_id, subject, text)
    people = {person: assignment for person, assignment in people.items() if person not in told}
    if not people:
        raise Conflict("All of these people have been sent these very words already.")
    messages = [
        plan_about(assignment, CallKind.MESSAGE, by=by, reason=text, payload={"subject": subject})
        for assignment in people.values()
    ]
    study = next(iter(people.values())).campaign.study
    record(action="notify", subject=f"study:{study.pk}", study=study.slug, by=by, people=len(messages), about=subject)
    for environment in sorted({message.environment for message in messages}):
        request_sending(environment=environment)
    return messages


def _told(study_pk: int, subject: str, text: str) -> set[int | None]:
    """People to whom these words are on their way, or have come; two who write at once queue here."""
    Study.objects.select_for_update(of=("self",)).get(pk=study_pk)
    same = Call.objects.filter(kind=CallKind.MESSAGE, campaign__study=study_pk, reason=text, payload__subject=subject)
    return set(same.exclude(state=WriteState.REFUSED).values_list("assignment__person", flat=True))
