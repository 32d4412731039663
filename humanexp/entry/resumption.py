"""Who may go on with a session that was begun: knowing an id proves nothing.

Three things prove it: the key of the page that opened the session last (it may repeat a call whose reply was lost), the
secret that the study's window keeps in its browser, and a confirmation by that window for a page that cannot read what
the window keeps, because a frame's storage is parted by the site around it. Who has none of them needs a researcher.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256

from django.core import signing
from django.db import IntegrityError, transaction

from humanexp.core import clock
from humanexp.core.errors import AlreadyBegun, TokenRefused
from humanexp.core.keys import pseudonym
from humanexp.core.sealing import pseudonym_key
from humanexp.entry.models import ResumeConfirmation
from humanexp.participation import credentials
from humanexp.participation.models import Session, SessionState
from humanexp.participation.selectors.sessions import session_of
from humanexp.participation.services.sessions import issue_handoff
from humanexp.recruiters.models import Assignment, Campaign
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
        return session_of(credentials.RESUME_SECRET.read(secret))
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
