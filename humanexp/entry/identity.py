"""Who somebody is who comes or comes back: knowing an id proves nothing.

Three things prove it: the key of the page that opened the session last (it may repeat a call whose reply was lost), the
secret that the study's window keeps in its browser, and a confirmation by that window for a page that cannot read what
the window keeps, because a frame's storage is parted by the site around it. Who has none of them needs a researcher.

People who come without an id have a code with which they delete their answers. The same session has the same code
however often its page asks, under one key of the installation; what is stored is a hash, so that a copy of the database
deletes nobody's answers.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256

from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from analysis.study.study import StudyConfiguration
from humanexp.core import clock
from humanexp.core.errors import AlreadyBegun, AlreadyTookPart, StudyRefused, TokenRefused, TooManyCalls
from humanexp.core.limits import SharedAllowance
from humanexp.core.models import record
from humanexp.core.names import pseudonym
from humanexp.core.sealing import pseudonym_key
from humanexp.entry.models import DeletionCode, ResumeConfirmation
from humanexp.participation import sessions
from humanexp.participation.endings import take_back
from humanexp.participation.models import FINISHED, Session, SessionState
from humanexp.participation.openings import issue_handoff
from humanexp.participation.sessions import session_for_token, session_of
from humanexp.recruiters import registry
from humanexp.recruiters.models import VISITOR, Assignment, Campaign, RecruitedPerson
from humanexp.recruiting.ways_back import use_release

#: The page that asks waits so long for the window that is asked.
ASK_MAX_AGE_S = 120
#: Somebody may agree in the last second.
_CLAIM_MAX_AGE_S = ASK_MAX_AGE_S + 30
_ASK, _CLAIM = "humanexp.resume-ask", "humanexp.resume-claim"


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What a page can show besides ids."""

    #: made at random by the page; the same when it repeats its call
    opening: str = ""
    #: kept by the study's window in the browser
    secret: str = ""
    #: the half of a request that the asking page alone knows, once it is confirmed
    confirmed: str = ""


@dataclass(frozen=True, kw_only=True)
class Request:
    """Two halves of one request to go on: `ask` for the study's window, `claim` for the page that asks alone."""

    ask: str
    claim: str
    #: the name under which the secret is kept
    name: str


class GoOnRefused(AlreadyBegun):
    __doc__ = AlreadyBegun.__doc__

    def __init__(self, request: Request | None, *, may_begin_here: bool = False) -> None:
        super().__init__()
        self.request = request
        #: nobody knows whether it was this person who began: they may have a session of their own
        self.may_begin_here = may_begin_here


def name_of(campaign: Campaign, worker_id: str) -> str:
    """The name under which a person's browser keeps the secret: tells nobody the id.

    Where people come without ids from everywhere, it is the same in all studies of a family: the secret is then also
    the mark by which a browser that took part is known again.
    """
    if campaign.capabilities.is_public:
        return pseudonym(pseudonym_key(), "browser mark", campaign.study.family.slug, prefix="B", length=20)
    if not worker_id:
        return campaign.entry
    person = pseudonym(pseudonym_key(), "resume", campaign.entry, worker_id, prefix="R", length=20)
    return f"{campaign.entry}.{person}"


def note_of(campaign: Campaign) -> str:
    """The name under which a browser keeps the note that a study of this family was begun in it: tells nothing."""
    return "humanexp.begun." + pseudonym(pseudonym_key(), "begun", campaign.study.family.slug, prefix="N", length=20)


def session_behind(secret: str) -> Session | None:
    """The session that a resume secret belongs to; None for a wrong, revoked or missing one."""
    if not secret:
        return None
    try:
        return session_of(sessions.RESUME_SECRET.read(secret))
    except TokenRefused:
        return None


def admit(*, assignment: Assignment, proof: Proof, may_begin_here: bool = False) -> None:
    """Let a page go on with the assignment's session, or refuse it with a request that the right browser can confirm.

    Call it inside the transaction that gives the token: a confirmation and a release are used up here.
    """
    session = assignment.session
    if session is None:
        return
    if _opened_by(assignment, proof.opening) or session_behind(proof.secret) == session:
        return
    if _was_confirmed(session, proof.confirmed) or use_release(assignment=assignment):
        return
    raise GoOnRefused(_request_for(assignment, session), may_begin_here=may_begin_here)


def remember_opening(*, assignment: Assignment, proof: Proof, resume_name: str) -> None:
    """From now on the page that showed this proof may repeat its call."""
    assignment.opening_hash = _hash(proof.opening) if proof.opening else ""
    assignment.resume_name = resume_name
    assignment.save(update_fields=["opening_hash", "resume_name"])


def opened_by(*, campaign: Campaign, opening: str) -> Assignment | None:
    """What this very page has opened before: the reply to its first call was lost."""
    if not opening:
        return None
    return campaign.assignments_taken.filter(opening_hash=_hash(opening)).select_related("person").first()


def confirm(*, ask: str, secret: str) -> Session:
    """The browser that holds the secret agrees; asked again, the answer is the same."""
    session_id, request = _read(ask, _ASK, ASK_MAX_AGE_S)
    session = session_behind(secret)
    if session is None or session.pk != session_id:
        raise TokenRefused(session_id=session_id if session else None)
    try:
        with transaction.atomic():
            ResumeConfirmation.objects.create(session=session, request=request, confirmed_at=clock.now())
    except IntegrityError:
        pass  # the reply to the first call was lost
    return session


def is_confirmed(*, claim: str) -> bool:
    """Whether the study's window has agreed; asks nothing of whether it was used."""
    session_id, request = _read(claim, _CLAIM, _CLAIM_MAX_AGE_S)
    return ResumeConfirmation.objects.filter(session=session_id, request=request).exists()


def _opened_by(assignment: Assignment, opening: str) -> bool:
    known = assignment.opening_hash
    return bool(known and opening) and secrets.compare_digest(known, _hash(opening))


def _was_confirmed(session: Session, claim: str) -> bool:
    if not claim:
        return False
    try:
        session_id, request = _read(claim, _CLAIM, _CLAIM_MAX_AGE_S)
    except TokenRefused:
        return False
    unused = ResumeConfirmation.objects.filter(session=session, request=request, claimed_at=None)
    return session_id == session.pk and bool(unused.update(claimed_at=clock.now()))


def _request_for(assignment: Assignment, session: Session) -> Request | None:
    """Nothing is stored of it. None where no browser keeps a secret."""
    if not assignment.resume_name or session.state == SessionState.WITHDRAWN:
        return None
    content = [session.pk, secrets.token_hex(12)]
    return Request(
        ask=signing.dumps(content, salt=_ASK), claim=signing.dumps(content, salt=_CLAIM), name=assignment.resume_name
    )


def _read(text: str, salt: str, max_age_s: int) -> tuple[int, str]:
    try:
        content = signing.loads(text, salt=salt, max_age=max_age_s)
    except signing.SignatureExpired as error:
        raise TokenRefused(reason="expired") from error
    except (signing.BadSignature, ValueError) as error:
        raise TokenRefused from error
    session_id, request = content
    return session_id, request


def _hash(opening: str) -> str:
    return sha256(opening.encode()).hexdigest()


def handoff_for(*, session: Session, assignment: Assignment | None) -> str:
    """A one-time code for the window of the study, which keeps the secret under the person's name."""
    return issue_handoff(session=session, keep_as=assignment.resume_name if assignment else "")


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
    DeletionCode.objects.get_or_create(
        code_hash=_code_hash(code), defaults={"session": session, "given_at": clock.now()}
    )
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
    found = known.filter(code_hash=_code_hash(code), session__study=campaign.study_id).first()
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


def _code_hash(code: str) -> str:
    """Of the code as people type it: capitals or not, with spaces or without."""
    return sha256("".join(code.split()).upper().encode()).hexdigest()
