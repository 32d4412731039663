"""What the marketplace refuses, and how it says so. The docstring is the default message.

MarketplaceError
├── BadStart                          the process cannot start like this
├── BadPayout                         the books do not have it
├── AuthenticationRefused             a requester's request is not signed as it must be
│   ├── MissingAuthentication
│   ├── IncompleteSignature
│   ├── UnrecognizedClient
│   └── InvalidSignature
├── MalformedRequest                  no operation can be read from it
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

from collections.abc import Mapping


class MarketplaceError(Exception):
    """The marketplace refused."""

    def __init__(self, message: str = "") -> None:
        self.message = message or " ".join((self.__doc__ or "").split())
        super().__init__(self.message)


class BadStart(MarketplaceError):
    """The marketplace cannot start with these settings."""


class NameTaken(MarketplaceError):
    """Somebody has this name already."""


class BadPayout(MarketplaceError):
    """This cannot be paid out."""


class AuthenticationRefused(MarketplaceError):
    """The request is not authenticated."""

    code = "AccessDeniedException"


class MissingAuthentication(AuthenticationRefused):
    """Missing Authentication Token"""

    code = "MissingAuthenticationTokenException"


class IncompleteSignature(AuthenticationRefused):
    """The Authorization header is not a complete AWS4-HMAC-SHA256 signature."""

    code = "IncompleteSignatureException"


class UnrecognizedClient(AuthenticationRefused):
    """The security token included in the request is invalid."""

    code = "UnrecognizedClientException"


class InvalidSignature(AuthenticationRefused):
    """The request signature we calculated does not match the signature you provided.

    Check your AWS Secret Access Key and signing method.
    """

    code = "InvalidSignatureException"


class MalformedRequest(MarketplaceError):
    """The request cannot be read."""

    code = "SerializationException"


class UnknownOperation(MalformedRequest):
    """The header X-Amz-Target names no operation of MTurk's requester API (2017-01-17)."""

    code = "UnknownOperationException"


class Unreadable(MalformedRequest):
    """The body is not a JSON object."""


class RequestError(MarketplaceError):
    """The request was refused."""

    turk_error_code = "AWS.MechanicalTurk.RequestError"


class InvalidParameterValue(RequestError):
    """A parameter has a value that is not allowed."""

    turk_error_code = "AWS.MechanicalTurk.InvalidParameterValue"


class XMLParseError(RequestError):
    """There was an error parsing the XML question or answer given in the request."""

    turk_error_code = "AWS.MechanicalTurk.XMLParseError"


class TokenAlreadyUsed(RequestError):
    """The idempotency token has already been processed."""

    # The service's own code for a repeated token is not documented; the sentence is what clients match.
    turk_error_code = "AWS.MechanicalTurk.InvalidParameterValue"


class HITAlreadyExists(RequestError):
    """A HIT made with this token exists already."""

    turk_error_code = "AWS.MechanicalTurk.HitAlreadyExists"


class HITDoesNotExist(RequestError):
    """The HIT does not exist."""

    turk_error_code = "AWS.MechanicalTurk.HITDoesNotExist"


class HITTypeDoesNotExist(RequestError):
    """The HIT type does not exist."""

    turk_error_code = "AWS.MechanicalTurk.HITTypeDoesNotExist"


class AssignmentDoesNotExist(RequestError):
    """The assignment does not exist."""

    turk_error_code = "AWS.MechanicalTurk.AssignmentDoesNotExist"


class WorkerDoesNotExist(RequestError):
    """The worker does not exist."""

    turk_error_code = "AWS.MechanicalTurk.InvalidParameterValue"


class QualificationTypeDoesNotExist(RequestError):
    """The qualification type does not exist."""

    turk_error_code = "AWS.MechanicalTurk.QualificationTypeDoesNotExist"


class QualificationDoesNotExist(RequestError):
    """This worker does not have this qualification."""

    turk_error_code = "AWS.MechanicalTurk.QualificationDoesNotExist"


class QualificationRequestDoesNotExist(RequestError):
    """The qualification request does not exist, or has been decided."""

    turk_error_code = "AWS.MechanicalTurk.QualificationRequestDoesNotExist"


class QualificationTypeAlreadyExists(RequestError):
    """You have already created a QualificationType with this name."""

    turk_error_code = "AWS.MechanicalTurk.QualificationTypeAlreadyExists"


class InvalidHITState(RequestError):
    """The HIT is in a state that does not allow this."""

    turk_error_code = "AWS.MechanicalTurk.InvalidHITState"


class InvalidAssignmentState(RequestError):
    """The assignment is in a state that does not allow this."""

    turk_error_code = "AWS.MechanicalTurk.InvalidAssignmentState"


class InvalidQualificationState(RequestError):
    """The qualification is in a state that does not allow this."""

    turk_error_code = "AWS.MechanicalTurk.InvalidQualificationState"


class InvalidQualificationTypeState(RequestError):
    """The qualification type is not active."""

    turk_error_code = "AWS.MechanicalTurk.InvalidQualificationTypeState"


class InvalidMaximumAssignmentsIncrease(RequestError):
    """A HIT made with fewer than 10 assignments cannot be extended to 10 or more."""

    turk_error_code = "AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease"


class HITTooOldForExtension(RequestError):
    """This HIT is too old to be extended."""

    turk_error_code = "AWS.MechanicalTurk.HITTooOldForExtension"


class InvalidTransportEndpoint(RequestError):
    """Notifications cannot be sent there."""

    turk_error_code = "AWS.MechanicalTurk.InvalidTransportEndpoint"


class PermissionDenied(RequestError):
    """You do not own this."""

    turk_error_code = "AWS.MechanicalTurk.PermissionDeniedException"


class InsufficientFunds(RequestError):
    """The account does not have enough money for this."""

    turk_error_code = "AWS.MechanicalTurk.InsufficientFunds"


class ResponseDrift(MarketplaceError):
    """An answer does not have the shape of the service model."""


class WorkRefused(MarketplaceError):
    """This cannot be done now."""

    status = 409
    kind = "refused"
    title = "This cannot be done now"


class NotFound(WorkRefused):
    """There is nothing at this address, or it is not yours."""

    status = 404
    kind = "not-found"
    title = "Nothing here"


class NotQualified(WorkRefused):
    """You do not have a qualification that this work asks for."""

    status = 403
    kind = "not-qualified"
    title = "Not open to you"


class NothingAvailable(WorkRefused):
    """All places are taken, or the work has ended. Nothing is lost for you: choose other work from the list."""

    kind = "nothing-available"
    title = "No place left"


class Blocked(WorkRefused):
    """This requester does not offer you work. Other requesters do not see this."""

    status = 403
    kind = "blocked"
    title = "Not open to you"


class AlreadyTaken(WorkRefused):
    """You have already done this one."""

    kind = "already-taken"
    title = "Already done"


class AssignmentClosed(WorkRefused):
    """This work is no longer open: it was returned, or its time ran out."""

    kind = "assignment-closed"
    title = "No longer open"


class EmptySubmission(WorkRefused):
    """Nothing was sent: a submission needs at least one field besides assignmentId."""

    status = 400
    kind = "empty-submission"
    title = "Nothing to submit"


class AnswersRefused(WorkRefused):
    """Some answers are missing or do not have the form that is asked for."""

    status = 422
    kind = "answers-refused"
    title = "Not yet complete"

    def __init__(self, problems: Mapping[str, str], names: Mapping[str, str]) -> None:
        #: By question.
        self.problems = problems
        super().__init__(" ".join(f"{names[name]}: {problem}" for name, problem in problems.items()))


class CannotRequest(WorkRefused):
    """This qualification cannot be requested now."""

    kind = "cannot-request"
    title = "Cannot be requested now"


class TooManyInquiries(WorkRefused):
    """You have written to requesters many times today. Write again tomorrow."""

    status = 429
    kind = "too-many-inquiries"
    title = "Enough for today"


class TooManyGuesses(WorkRefused):
    """Too many wrong passwords. Try again in a quarter of an hour, or ask the lab for a new one."""

    status = 429
    kind = "too-many-guesses"
    title = "Wait a little"


class SignUpRefused(WorkRefused):
    """New accounts are not made here at the moment."""

    status = 403
    kind = "sign-up-closed"
    title = "No new accounts"
