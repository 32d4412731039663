"""Errors of the web side; a class's docstring is its default message, and every message says what to do.

ApplicationError
├── InvalidRequest            422
│   ├── InputRefused          a file or form: nothing was written
│   ├── BodyTooLarge          413
│   └── LengthUnknown         411
├── TokenRefused              401
├── NotAllowed                403
├── NotFound                  404
├── PictureDamaged            503  its file is not what was made
├── FilesAway                 503  the storage of files does not answer
├── FileRefused               503  what the storage of files holds under a digest is something else, or gone
├── DiskNearlyFull            507  no uploads are taken; answers are
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
├── SecretKeyRefused          503, the database was filled under another key
├── JobError
│   ├── JobCancelled
│   └── JobHandedBack         the runner stops, and another one goes on
└── RecruiterError            the other side refused, or nobody knows
    ├── RecruiterUnavailable
    ├── OutcomeUnknown
    ├── KeysRefused           no keys, wrong ones, or expired ones
    ├── WrongCurrency         the account there holds other money than is set here
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

    def __init_subclass__(cls, *, problem: str | None = None, status_code: int | None = None) -> None:
        cls.problem = problem or cls.problem
        cls.status_code = status_code or cls.status_code

    def __init__(self, message: str = "", *, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip().splitlines()[0])
        self.fields = dict(fields or {})

    @property
    def message(self) -> str:
        return str(self.args[0])


class InvalidRequest(ApplicationError, problem="invalid", status_code=422):
    """Something in the request has a value that cannot be used."""


class InputRefused(InvalidRequest):
    """The file was refused and nothing was written."""


class BodyTooLarge(InvalidRequest, problem="too-large", status_code=413):
    """This call is longer than any that a page makes; nothing was stored."""


class LengthUnknown(InvalidRequest, problem="length-required", status_code=411):
    """This call does not say how long it is: send it with Content-Length."""


class TokenRefused(ApplicationError, problem="token-refused", status_code=401):
    """This link or token is not valid any more: open the study again from where you found it."""

    def __init__(self, message: str = "", *, reason: str = "forged", session_id: int | None = None) -> None:
        super().__init__(message)
        #: for the audit: forged, expired, revoked, foreign or replayed; the reply tells none of it
        self.reason = reason
        #: known where the signature was good
        self.session_id = session_id


class NotAllowed(ApplicationError, problem="not-allowed", status_code=403):
    """You may not do this: ask the study's owner."""


class NotFound(ApplicationError, problem="not-found", status_code=404):
    """There is nothing here."""


class PictureDamaged(ApplicationError, problem="picture-damaged", status_code=503):
    """A picture is damaged and cannot be shown. Your answers are saved, and the study's team has been notified."""

    def __init__(self, message: str = "", *, is_missing: bool = False) -> None:
        super().__init__(message)
        self.is_missing = is_missing


class FilesAway(ApplicationError, problem="files-away", status_code=503):
    """The files cannot be reached at this moment. Nothing is lost: wait a little, then go on."""


class FileRefused(ApplicationError, problem="file-refused", status_code=503):
    """A stored file is missing or damaged: restore it from the backup."""

    def __init__(self, message: str = "", *, is_missing: bool = False) -> None:
        super().__init__(message)
        self.is_missing = is_missing


class DiskNearlyFull(ApplicationError, problem="disk-nearly-full", status_code=507):
    """The server's disk is nearly full, so no files are taken now: ask an administrator to free some space."""


class TooManyCalls(ApplicationError, problem="too-many-calls", status_code=429):
    """Too many calls in too short a time: wait a moment."""

    def __init__(self, message: str = "", *, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TooFast(TooManyCalls, problem="too-fast"):
    """This answer comes before its pictures can have been shown."""


class TooManyOpenings(TooManyCalls, problem="too-many-openings"):
    """Many people are beginning from your network at this moment: wait a minute, then try again. Nothing is lost."""


class Conflict(ApplicationError, problem="conflict", status_code=409):
    """This does not fit the present state; reload and look again."""


class SessionClosed(Conflict, problem="session-closed"):
    """This session is closed; no more answers can be stored."""


class LeaseLost(Conflict, problem="lease-lost"):
    """The study continues in another window."""


class OutOfOrder(Conflict, problem="out-of-order"):
    """This trial is not the next one."""


class SetFrozen(Conflict, problem="set-frozen"):
    """The set of pictures is frozen: it can no longer be changed."""


class StudyRefused(Conflict, problem="study-refused"):
    """The study cannot do this now."""


class IllegalTransition(Conflict, problem="illegal-transition"):
    """This cannot follow on the present state."""


class CostNotConfirmed(Conflict, problem="cost-not-confirmed"):
    """The cost has not been confirmed; nothing was published."""


class CapExceeded(Conflict, problem="cap-exceeded"):
    """This would cost more than the campaign may spend; raise its cap first."""


class AlreadyBegun(Conflict, problem="already-begun"):
    """This study was begun before. It continues only in the browser where it was begun."""


class AlreadyTookPart(Conflict, problem="already-took-part"):
    """You have already taken part in this study. Thank you."""


class SecretKeyRefused(ApplicationError, problem="secret-key", status_code=503):
    """SECRET_KEY is not the key that this database was filled under: put the right one back."""


class JobError(ApplicationError):
    """The job could not be done."""


class JobCancelled(JobError):
    """The job was cancelled."""


class JobHandedBack(JobError):
    """The runner was told to stop; the job goes on with the next one."""


class RecruiterError(ApplicationError, problem="recruiter", status_code=502):
    """The recruiter refused the request."""


class RecruiterUnavailable(RecruiterError):
    """The recruiter cannot be reached; nothing was changed, try again later."""


class OutcomeUnknown(RecruiterError):
    """The reply was lost: whether the request took effect has to be asked before it is sent again."""


class KeysRefused(RecruiterError, problem="keys-refused"):
    """The recruiter does not accept the access keys: check that they are set, current and of this environment."""


class WrongCurrency(RecruiterError, problem="wrong-currency"):
    """The account with the recruiter holds another currency than is set here: set that one."""


class InsufficientFunds(RecruiterError, problem="insufficient-funds"):
    """The account with the recruiter does not hold enough money; add some, then send again."""


class AlreadyDone(RecruiterError, problem="already-done"):
    """The recruiter has carried out this request before."""


class NotAtRecruiter(RecruiterError, problem="not-at-recruiter"):
    """The recruiter does not know this."""


class StateRefused(RecruiterError, problem="state-refused"):
    """The recruiter says that its present state does not allow this."""


def existing(row: T | None, sentence: str) -> T:
    """What was looked for; NotFound with the sentence where there is none."""
    if row is None:
        raise NotFound(sentence)
    return row
