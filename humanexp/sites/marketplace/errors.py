"""What the marketplace refuses, and how it says so. The docstring is the default message.

MarketplaceError
├── BadPayout                         the books do not have it
├── NameTaken                         somebody has it
├── ProtocolError                     no operation can be read from it, or it is not signed as it must be
│   ├── MissingAuthentication
│   ├── IncompleteSignature
│   ├── UnrecognizedClient
│   ├── InvalidSignature
│   ├── UnknownOperation
│   └── Unreadable
├── RequestError                      the operation's own refusal, with MTurk's TurkErrorCode
│   ├── InvalidParameterValue
│   ├── XMLParseError
│   ├── TokenAlreadyUsed
│   ├── HITAlreadyExists
│   ├── HITDoesNotExist
│   ├── HITTypeDoesNotExist
│   ├── AssignmentDoesNotExist
│   ├── WorkerDoesNotExist
│   ├── QualificationTypeDoesNotExist
│   ├── QualificationDoesNotExist
│   ├── QualificationRequestDoesNotExist
│   ├── QualificationTypeAlreadyExists
│   ├── InvalidHITState
│   ├── InvalidAssignmentState
│   ├── InvalidQualificationState
│   ├── InvalidQualificationTypeState
│   ├── InvalidMaximumAssignmentsIncrease
│   ├── HITTooOldForExtension
│   ├── InvalidTransportEndpoint
│   ├── PermissionDenied
│   └── InsufficientFunds
├── ResponseDrift                     an answer of ours that is not in the service model: our fault
└── WorkRefused                       the worker site's refusals, each with its HTTP status
    ├── NotFound
    ├── NotQualified
    ├── NothingAvailable
    ├── Blocked
    ├── AlreadyTaken
    ├── AssignmentClosed
    ├── EmptySubmission
    ├── AnswersRefused
    ├── CannotRequest                 a qualification, now
    ├── TooManyInquiries
    ├── TooManyGuesses
    └── SignUpRefused
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar


class MarketplaceError(Exception):
    """The marketplace refused."""

    def __init__(self, message: str = "") -> None:
        self.message = message or " ".join((self.__doc__ or "").split())
        super().__init__(self.message)


class NameTaken(MarketplaceError):
    """Somebody has this name already."""


class BadPayout(MarketplaceError):
    """This cannot be paid out."""


class ProtocolError(MarketplaceError):
    """No operation can be read from the request, or it is not signed as it must be."""

    code: ClassVar[str]

    def __init_subclass__(cls, *, code: str = "") -> None:
        """The code is the class's own name, or `code`."""
        cls.code = f"{code or cls.__name__}Exception"


class MissingAuthentication(ProtocolError, code="MissingAuthenticationToken"):
    """Missing Authentication Token"""


class IncompleteSignature(ProtocolError):
    """The Authorization header is not a complete AWS4-HMAC-SHA256 signature."""


class UnrecognizedClient(ProtocolError):
    """The security token included in the request is invalid."""


class InvalidSignature(ProtocolError):
    """The request signature we calculated does not match the signature you provided.

    Check your AWS Secret Access Key and signing method.
    """


class UnknownOperation(ProtocolError):
    """The header X-Amz-Target names no operation of MTurk's requester API (2017-01-17)."""


class Unreadable(ProtocolError, code="Serialization"):
    """The body is not a JSON object."""


class RequestError(MarketplaceError):
    """The request was refused."""

    turk_error_code: ClassVar[str]

    def __init_subclass__(cls, *, code: str = "") -> None:
        """MTurk's code for it is its name, or `code`."""
        cls.turk_error_code = f"AWS.MechanicalTurk.{code or cls.__name__}"


class InvalidParameterValue(RequestError):
    """A parameter has a value that is not allowed."""


class XMLParseError(RequestError):
    """There was an error parsing the XML question or answer given in the request."""


# The service's own code for a repeated token is not documented; the sentence is what clients match.
class TokenAlreadyUsed(RequestError, code="InvalidParameterValue"):
    """The idempotency token has already been processed."""


class HITAlreadyExists(RequestError, code="HitAlreadyExists"):
    """A HIT made with this token exists already."""


class HITDoesNotExist(RequestError):
    """The HIT does not exist."""


class HITTypeDoesNotExist(RequestError):
    """The HIT type does not exist."""


class AssignmentDoesNotExist(RequestError):
    """The assignment does not exist."""


class WorkerDoesNotExist(RequestError, code="InvalidParameterValue"):
    """The worker does not exist."""


class QualificationTypeDoesNotExist(RequestError):
    """The qualification type does not exist."""


class QualificationDoesNotExist(RequestError):
    """This worker does not have this qualification."""


class QualificationRequestDoesNotExist(RequestError):
    """The qualification request does not exist, or has been decided."""


class QualificationTypeAlreadyExists(RequestError):
    """You have already created a QualificationType with this name."""


class InvalidHITState(RequestError):
    """The HIT is in a state that does not allow this."""


class InvalidAssignmentState(RequestError):
    """The assignment is in a state that does not allow this."""


class InvalidQualificationState(RequestError):
    """The qualification is in a state that does not allow this."""


class InvalidQualificationTypeState(RequestError):
    """The qualification type is not active."""


class InvalidMaximumAssignmentsIncrease(RequestError):
    """A HIT made with fewer than 10 assignments cannot be extended to 10 or more."""


class HITTooOldForExtension(RequestError):
    """This HIT is too old to be extended."""


class InvalidTransportEndpoint(RequestError):
    """Notifications cannot be sent there."""


class PermissionDenied(RequestError, code="PermissionDeniedException"):
    """You do not own this."""


class InsufficientFunds(RequestError):
    """The account does not have enough money for this."""


class ResponseDrift(MarketplaceError):
    """An answer does not have the shape of the service model."""


class WorkRefused(MarketplaceError):
    """This cannot be done now."""

    title: ClassVar[str]
    status: ClassVar[int]
    #: its name in problem JSON
    kind: ClassVar[str]

    def __init_subclass__(cls, *, title: str, status: int = 409, kind: str = "") -> None:
        """The kind is the class's own name in words, unless it is said."""
        cls.title = title
        cls.status = status
        cls.kind = kind or re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()


class NotFound(WorkRefused, title="Nothing here", status=404):
    """There is nothing at this address, or it is not yours."""


class NotQualified(WorkRefused, title="Not open to you", status=403):
    """You do not have a qualification that this work asks for."""


class NothingAvailable(WorkRefused, title="No place left"):
    """All places are taken, or the work has ended. Nothing is lost for you: choose other work from the list."""


class Blocked(WorkRefused, title="Not open to you", status=403):
    """This requester does not offer you work. Other requesters do not see this."""


class AlreadyTaken(WorkRefused, title="Already done"):
    """You have already done this one."""


class AssignmentClosed(WorkRefused, title="No longer open"):
    """This work is no longer open: it was returned, or its time ran out."""


class EmptySubmission(WorkRefused, title="Nothing to submit", status=400):
    """Nothing was sent: a submission needs at least one field besides assignmentId."""


class AnswersRefused(WorkRefused, title="Not yet complete", status=422):
    """Some answers are missing or do not have the form that is asked for."""

    def __init__(self, problems: Mapping[str, str], names: Mapping[str, str]) -> None:
        #: By question.
        self.problems = problems
        super().__init__(" ".join(f"{names[name]}: {problem}" for name, problem in problems.items()))


class CannotRequest(WorkRefused, title="Cannot be requested now"):
    """This qualification cannot be requested now."""


class TooManyInquiries(WorkRefused, title="Enough for today", status=429):
    """You have written to requesters many times today. Write again tomorrow."""


class TooManyGuesses(WorkRefused, title="Wait a little", status=429):
    """Too many wrong passwords. Try again in a quarter of an hour, or ask the lab for a new one."""


class SignUpRefused(WorkRefused, title="No new accounts", status=403, kind="sign-up-closed"):
    """New accounts are not made here at the moment."""
