"""People who come without an id: under which id they take part, and the code with which they delete their answers.

The same session has the same code however often its page asks, under one key of the installation; what is stored is a
hash, so that a copy of the database deletes nobody's answers.
"""

from __future__ import annotations

import secrets
from hashlib import sha256

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from analysis.study.study import StudyConfiguration
from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import AlreadyTookPart, StudyRefused, TooManyCalls
from humanexp.core.keys import pseudonym
from humanexp.core.limits import SharedAllowance
from humanexp.core.sealing import pseudonym_key
from humanexp.entry.models import DeletionCode
from humanexp.entry.resumption import Proof, opened_by, session_behind
from humanexp.participation.models import FINISHED, Session, SessionState
from humanexp.participation.selectors.sessions import session_for_token
from humanexp.participation.services.leaving import take_back
from humanexp.recruiters import registry
from humanexp.recruiters.models import VISITOR, Assignment, Campaign, RecruitedPerson


def participation_id(*, campaign: Campaign, person: RecruitedPerson, given: str, known: Assignment | None) -> str:
    """The site's id is used by one person alone: whoever shows that of another has changed the address."""
    if not given:
        return known.assignment_id if known else secrets.token_urlsafe(12)
    if campaign.assignments_taken.filter(assignment_id=given).exclude(person=person).exists():
        raise AlreadyTookPart("This participation was begun by someone else. Open the study from where you found it.")
    return given


def go_on_under(known: Assignment, assignment_id: str) -> Assignment:
    """A person who goes on may have come back with another id of participation: that is the one to be paid."""
    if known.assignment_id != assignment_id and not known.is_listed:
        known.assignment_id = assignment_id
        known.save(update_fields=["assignment_id"])
    return known


def visitor_id(*, campaign: Campaign, proof: Proof) -> str:
    """The id that a visitor without an id was given when they came first, or a new one."""
    if campaign.capabilities.vouches:
        return ""
    known, session = opened_by(campaign=campaign, opening=proof.opening), session_behind(proof.secret)
    if known is None and session is not None:
        known = _marked(campaign).filter(session=session).select_related("person").first()
    if known is not None and known.person is not None:
        return known.person.worker_id
    if known is not None or not proof.opening:
        return VISITOR + secrets.token_urlsafe(24)
    # A page that repeats its call before the first one is answered is the same visitor.
    return VISITOR + pseudonym(pseudonym_key(), "visitor", campaign.entry, proof.opening, prefix="V", length=24)


def _marked(campaign: Campaign) -> QuerySet[Assignment]:
    """By whose secrets a browser is known again: of volunteers, those of all studies of the family."""
    if not campaign.capabilities.is_public:
        return campaign.assignments_taken.all()
    return Assignment.objects.filter(environment=campaign.environment, campaign__study__family=campaign.study.family)


#: Letters of a code: nobody guesses one of so many.
LENGTH = 16
#: Wrong codes of one caller: ten at once, then one a minute. A right one passes: where many share an address, one who
#: guesses shuts none of the others out.
ATTEMPTS = SharedAllowance("deletion codes", per_s=1 / 60, burst=10)


def code_for(*, token: str) -> str:
    """The code of a session that has ended, where its person came without an id; empty otherwise."""
    session = session_for_token(token)
    has_ended = session.state in FINISHED or (session.state == SessionState.OPEN and session.left_at is not None)
    if not (has_ended and gives_codes(session.study.configuration) and _is_anonymous(session)):
        return ""
    code = pseudonym(settings.SECRET_KEY, "deletion", session.code, prefix="D", length=LENGTH)
    DeletionCode.objects.get_or_create(code_hash=_hash(code), defaults={"session": session, "given_at": clock.now()})
    return code


def gives_codes(configuration: dict[str, object]) -> bool:
    """Whether the study gives codes to people who come without an id."""
    return bool(configuration) and StudyConfiguration.from_dict(configuration).ethics.deletion_code


@transaction.atomic
def delete_by_code(*, campaign: Campaign, code: str, caller: str) -> None:
    """Take the answers back that belong to the code: no analysis has them from now on, and they are erased later.

    Twice is once. Raises StudyRefused for a code that is wrong, or comes after the last day; TooManyCalls for the
    latest of many wrong ones.
    """
    known = DeletionCode.objects.select_for_update(of=("self",)).select_related("session__study")
    found = known.filter(code_hash=_hash(code), session__study=campaign.study_id).first()
    if found is None:
        if wait_s := ATTEMPTS.spend(caller):
            raise TooManyCalls(retry_after_s=wait_s)
        raise StudyRefused("This code does not belong to any answers of this study. Check every letter, and try again.")
    ethics = StudyConfiguration.from_dict(found.session.study.configuration).ethics
    if ethics.last_day_of_deletion is not None and clock.now().date() > ethics.last_day_of_deletion:
        raise StudyRefused("The last day for having answers deleted is over. The answers are not changed.")
    if found.session.state == SessionState.WITHDRAWN:
        return
    take_back(session=found.session)
    found.used_at = clock.now()
    found.save(update_fields=["used_at"])
    record(action="delete-by-code", subject=f"session:{found.session.code}", study=found.session.study.slug)


def _is_anonymous(session: Session) -> bool:
    """Whether nobody who recruits knows the person: a visitor of a plain link without an id."""
    visited = Assignment.objects.filter(registry.at(vouches=False), session=session)
    return visited.filter(person__worker_id__startswith=VISITOR).exists()


def _hash(code: str) -> str:
    """Of the code as people type it: capitals or not, with spaces or without."""
    return sha256("".join(code.split()).upper().encode()).hexdigest()
