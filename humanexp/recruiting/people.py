"""People of a campaign: found by a code or by their site's ids, and written to.

Who came from a site is told to whoever pays or credits people there. Together with the page that shows it, this is the
one way by which such ids leave; no export has them. Each use leaves a line in the record, which names no id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User, record
from humanexp.ledger.models import Call, CallKind
from humanexp.ledger.outbox import plan_about, request_sending
from humanexp.ledger.owed import owed_of
from humanexp.participation.models import DamagedPicture, Session
from humanexp.participation.sessions import completion_codes
from humanexp.recruiters import registry
from humanexp.recruiters.campaigns import outcome_of, pay_on_leaving
from humanexp.recruiters.models import Assignment, Campaign, id_here
from humanexp.recruiters.presets import OutcomeCode, SiteTerms, preset_called
from humanexp.recruiters.states import LISTED, AssignmentState, WriteState
from humanexp.studies import permissions
from humanexp.studies.models import Action, Study

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


def check_exported(study: Study) -> None:
    """An export has the study's file, and with a token from it anybody could credit themselves."""
    stated = (study.configuration.get("recruitment") or {}).get("link") or {}
    if stated.get("return_address") and stated.get("preset") and preset_called(stated["preset"]).return_grants:
        raise InvalidRequest(
            "The study's file, which every export contains, has the address that grants credit. Make a new version "
            "without return_address, and enter the address when you launch it.",
            fields={"link_return_address": "not in the study's file"},
        )


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


def people_of_site(campaign: Campaign, said: str = "") -> Iterator[SitePerson]:
    """In the order in which they came; `said`: of one person, by one of their ids."""
    terms = campaign.site
    if terms is None:
        return
    rows = Assignment.objects.filter(campaign=campaign, person__isnull=False, session__isnull=False)
    rows = rows.select_related("person", "session__study").order_by("pk")
    if said:
        rows = rows.filter(Q(person__worker_id=id_here(terms.preset, said)) | Q(assignment_id=said))
    stopped = set(
        DamagedPicture.objects.filter(session__assignment__in=rows, mended_at=None).values_list("session", flat=True)
    )
    for row in rows.iterator():
        if row.person is None or row.session is None:
            continue
        outcome = outcome_of(row.session, is_stopped=lambda session: session.pk in stopped)
        way_back = None if outcome is None else terms.codes[outcome]
        yield SitePerson(
            person=row.person.given_id,
            submission=row.assignment_id if terms.parameters.get("submission") else "",
            is_finished=None if way_back is None else way_back.action == "review",
            code="" if way_back is None else way_back.code,
            bonus=0 if way_back is None else _bonus(campaign, terms, way_back, row.session),
        )


def _bonus(campaign: Campaign, terms: SiteTerms, way_back: OutcomeCode, session: Session) -> int | None:
    """What the study pays people who stop, and the reward of who did their part where the site has no code for it."""
    if way_back.paid == "decided":
        return None
    if terms.reward is None:
        return 0
    if way_back.paid == "full":
        return terms.reward if way_back.action == "return" else 0
    if way_back.paid == "nothing" or pay_on_leaving(campaign.study) == "none":
        return 0
    return owed_of(campaign, session, pay=terms.reward)


@transaction.atomic
def list_finished(*, campaign: Campaign, by: User) -> list[SitePerson]:
    """Everybody who came from the site."""
    permissions.check(by, Action.PAY, campaign.study)
    found = list(people_of_site(campaign))
    _record("list-finished", campaign, by, people=len(found))
    return found


@transaction.atomic
def list_credited(*, campaign: Campaign, by: User) -> list[str]:
    """Ids of those who have earned credit, for whoever gives it, and of no others: whoever declined or stopped is not
    told. Sorted, so that it tells no order."""
    permissions.check(by, Action.PAY, campaign.study)
    found = sorted({one.person for one in people_of_site(campaign) if one.is_finished})
    _record("list-finished", campaign, by, people=len(found))
    return found


@transaction.atomic
def look_up(*, campaign: Campaign, said: str, by: User) -> SitePerson | None:
    """One person, by an id that they or the site have named."""
    permissions.check(by, Action.PAY, campaign.study)
    said = said.strip()
    if not 1 <= len(said) <= 64:
        raise InvalidRequest("Enter one id, as the site shows it.", fields={"id": "1 to 64 characters"})
    found = next(people_of_site(campaign, said), None)
    _record("look-up-id", campaign, by, found=found is not None)
    return found


def _record(action: str, campaign: Campaign, by: User, **facts: object) -> None:
    record(action=action, subject=f"campaign:{campaign.pk}", study=campaign.study.slug, by=by, **facts)
