"""Errors of the web side; a class's docstring is its default message, and every message says what to do.

ApplicationError
├── InvalidRequest            422
│   ├── InputRefused          a file or form: nothing was written
│   └── BodyTooLarge          413
├── TokenRefused              401
├── NotAllowed                403
├── NotFound                  404
├── PictureDamaged            503  its file is not what was made
├── TooManyCalls              429
│   ├── TooFast               faster than the pictures of the trials are shown
│   └── TooManyOpenings       more sessions begun from one place than people sit there
├── Conflict                  409
│   ├── SessionClosed
│   ├── LeaseLost
│   ├── OutOfOrder
│   ├── SetFrozen             a frozen set of pictures does not change
│   ├── StudyRefused          the study's state or plan does not allow it
│   ├── IllegalTransition     a state machine has no such arrow
│   ├── CostNotConfirmed      the cost was not typed, or is another one by now
│   ├── CapExceeded           more money than the campaign may spend
│   ├── AlreadyBegun          begun before, and nothing shows that by this browser
│   └── AlreadyTookPart       this person has no session left in the study's family
├── PseudonymKeyRefused       503, the database was filled under another key
├── JobError
│   ├── JobCancelled
│   └── JobHandedBack         the runner stops, and another one goes on
└── RecruiterError            the other side refused, or nobody knows
    ├── RecruiterUnavailable
    ├── OutcomeUnknown
    ├── KeysRefused           no keys, wrong ones, or expired ones
    ├── InsufficientFunds
    ├── AlreadyDone           the same request was carried out before
    ├── NotAtRecruiter        it does not exist there
    └── StateRefused          its state there does not allow this
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")


class ApplicationError(Exception):
    """Something could not be done."""

    status_code = 400
    #: short machine-readable word of the problem JSON
    problem = "refused"

    def __init__(self, message: str = "", *, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip().splitlines()[0])
        self.fields = dict(fields or {})

    @property
    def message(self) -> str:
        return str(self.args[0])


class InvalidRequest(ApplicationError):
    """Something in the request has a value that cannot be used."""

    status_code = 422
    problem = "invalid"


class InputRefused(InvalidRequest):
    """The file was refused and nothing was written."""


class BodyTooLarge(InvalidRequest):
    """This call is longer than any that a page makes; nothing was stored."""

    status_code = 413
    problem = "too-large"


class TokenRefused(ApplicationError):
    """This link or token is not valid any more: open the study again from where you found it."""

    status_code = 401
    problem = "token-refused"

    def __init__(self, message: str = "", *, reason: str = "forged", session_id: int | None = None) -> None:
        super().__init__(message)
        #: for the audit: forged, expired, revoked, foreign or replayed; the reply tells none of it
        self.reason = reason
        #: known where the signature was good
        self.session_id = session_id


class NotAllowed(ApplicationError):
    """You may not do this: ask the study's owner."""

    status_code = 403
    problem = "not-allowed"


class NotFound(ApplicationError):
    """There is nothing here."""

    status_code = 404
    problem = "not-found"


class PictureDamaged(ApplicationError):
    """A picture is damaged and cannot be shown. Your answers are saved, and the study's team has been notified."""

    status_code = 503
    problem = "picture-damaged"

    def __init__(self, message: str = "", *, is_missing: bool = False) -> None:
        super().__init__(message)
        self.is_missing = is_missing


class TooManyCalls(ApplicationError):
    """Too many calls in too short a time: wait a moment."""

    status_code = 429
    problem = "too-many-calls"

    def __init__(self, message: str = "", *, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TooFast(TooManyCalls):
    """This answer comes before its pictures can have been shown."""

    problem = "too-fast"


class TooManyOpenings(TooManyCalls):
    """Many people are beginning from your network at this moment: wait a minute, then try again. Nothing is lost."""

    problem = "too-many-openings"


class Conflict(ApplicationError):
    """This does not fit the present state; reload and look again."""

    status_code = 409
    problem = "conflict"


class SessionClosed(Conflict):
    """This session is closed; no more answers can be stored."""

    problem = "session-closed"


class LeaseLost(Conflict):
    """The study continues in another window."""

    problem = "lease-lost"


class OutOfOrder(Conflict):
    """This trial is not the next one."""

    problem = "out-of-order"


class SetFrozen(Conflict):
    """The set of pictures is frozen: it can no longer be changed."""

    problem = "set-frozen"


class StudyRefused(Conflict):
    """The study cannot do this now."""

    problem = "study-refused"


class IllegalTransition(Conflict):
    """This cannot follow on the present state."""

    problem = "illegal-transition"


class CostNotConfirmed(Conflict):
    """The cost has not been confirmed; nothing was published."""

    problem = "cost-not-confirmed"


class CapExceeded(Conflict):
    """This would cost more than the campaign may spend; raise its cap first."""

    problem = "cap-exceeded"


class AlreadyBegun(Conflict):
    """This study was begun before. It continues only in the browser where it was begun."""

    problem = "already-begun"


class AlreadyTookPart(Conflict):
    """You have already taken part in this study. Thank you."""

    problem = "already-took-part"


class PseudonymKeyRefused(ApplicationError):
    """PSEUDONYM_KEY is not the key that this database was filled under: put the right one back."""

    status_code = 503
    problem = "pseudonym-key"


class JobError(ApplicationError):
    """The job could not be done."""


class JobCancelled(JobError):
    """The job was cancelled."""


class JobHandedBack(JobError):
    """The runner was told to stop; the job goes on with the next one."""


class RecruiterError(ApplicationError):
    """The recruiter refused the request."""

    status_code = 502
    problem = "recruiter"


class RecruiterUnavailable(RecruiterError):
    """The recruiter cannot be reached; nothing was changed, try again later."""


class OutcomeUnknown(RecruiterError):
    """The reply was lost: whether the request took effect has to be asked before it is sent again."""


class KeysRefused(RecruiterError):
    """The recruiter does not accept the access keys: check that they are set, current and of this environment."""

    problem = "keys-refused"


class InsufficientFunds(RecruiterError):
    """The account with the recruiter does not hold enough money; add some, then send again."""

    problem = "insufficient-funds"


class AlreadyDone(RecruiterError):
    """The recruiter has carried out this request before."""

    problem = "already-done"


class NotAtRecruiter(RecruiterError):
    """The recruiter does not know this."""

    problem = "not-at-recruiter"


class StateRefused(RecruiterError):
    """The recruiter says that its present state does not allow this."""

    problem = "state-refused"


def existing(row: T | None, sentence: str) -> T:
    """What was looked for; NotFound with the sentence where there is none."""
    if row is None:
        raise NotFound(sentence)
    return row
