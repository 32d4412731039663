from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.recruitment.models import Assignment, Call, CallKind
from humanexp.recruitment.services.outbox import plan_about, request_sending
from humanexp.recruitment.states import WriteState
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action

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
        if assignment.person_id is not None and assignment.campaign.capabilities.messages:
            people.setdefault(assignment.person_id, assignment)
    if not people:
        raise Conflict("None of these people can be written to: a plain link has no addresses.")
    told = _told(next(iter(people.values())).campaign.study_id, subject, text)
    people = {person: assignment for person, assignment in people.items() if person not in told}
    if not people:
        raise Conflict("All of these people have been sent these very words already.")
    messages = [
        plan_message(assignment=assignment, subject=subject, text=text, by=by) for assignment in people.values()
    ]
    study = next(iter(people.values())).campaign.study
    record(action="notify", subject=f"study:{study.pk}", study=study.slug, by=by, people=len(messages), about=subject)
    for environment in sorted({message.environment for message in messages}):
        request_sending(environment=environment)
    return messages


def plan_message(*, assignment: Assignment, subject: str, text: str, by: User) -> Call:
    """One message, sent at most once when sending is requested; part of the transaction of what it is about."""
    return plan_about(assignment, CallKind.MESSAGE, by=by, reason=text, payload={"subject": subject})


def _told(study_pk: int, subject: str, text: str) -> set[int | None]:
    """People to whom these words are on their way, or have come; two who write at once queue here."""
    Study.objects.select_for_update(of=("self",)).get(pk=study_pk)
    same = Call.objects.filter(kind=CallKind.MESSAGE, campaign__study=study_pk, reason=text, payload__subject=subject)
    return set(same.exclude(state=WriteState.REFUSED).values_list("assignment__person", flat=True))
