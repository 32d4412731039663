"""What MTurk's refusals mean. Turk codes are not in the service model: the code is matched, or a stable part of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from humanexp.core.errors import (
    AlreadyDone,
    InsufficientFunds,
    KeysRefused,
    NotAtRecruiter,
    OutcomeUnknown,
    RecruiterError,
    RecruiterUnavailable,
    StateRefused,
)

KEY_FAULTS = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AWS.NotAuthorized",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "OptInRequired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
THROTTLES = frozenset(
    {"Throttling", "ThrottlingException", "ThrottledException", "TooManyRequestsException", "RequestLimitExceeded"}
)
_STATE_FAULTS = ("InvalidAssignmentState", "InvalidHITState", "InvalidQualificationState")
_REPEATS = ("HitAlreadyExists", "QualificationTypeAlreadyExists")


def fault_of(environment: str, reply: Mapping[str, Any], *, unsaid: Collection[str] = ()) -> RecruiterError:
    """The error that a refused call is to us. Worker ids in `unsaid` are taken out of its words."""
    fault = reply.get("Error", {})
    code, message = str(fault.get("Code", "")), str(fault.get("Message", ""))
    for worker_id in unsaid:
        message = message.replace(worker_id, "(worker)")
    turk_code = str(reply.get("TurkErrorCode", "")).rpartition(".")[2]
    said = f"{environment}: {message or code}"
    if code in KEY_FAULTS or turk_code == "NotAuthorized":
        return KeysRefused(f"{said} Check the access keys.")
    if code in THROTTLES:
        return RecruiterUnavailable(f"{said} Too many requests; nothing was changed.")
    if turk_code == "InsufficientFunds":
        return InsufficientFunds(f"{said} Add money to the requester's account; then it is sent.")
    if turk_code in _REPEATS or "already been processed" in message or "already created a Qual" in message:
        return AlreadyDone(said)
    if turk_code.endswith("DoesNotExist"):
        return NotAtRecruiter(said)
    if turk_code in _STATE_FAULTS:
        return StateRefused(said)
    if reply.get("ResponseMetadata", {}).get("HTTPStatusCode", 500) >= 500:
        return OutcomeUnknown(f"{said} Whether it took effect is unknown.")
    return RecruiterError(said)
