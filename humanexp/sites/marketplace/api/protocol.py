"""MTurk's protocol after botocore's service model: signatures, limits, requests in and responses out. Pure.

Signatures are written from AWS's description of the algorithm ("Create a signed AWS API request"), so that a client is
checked against the rules and not against a copy of its own code.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, quote

import botocore.session
from botocore.utils import parse_timestamp
from botocore.validate import ParamValidator

from humanexp.sites.marketplace.errors import (
    IncompleteSignature,
    InvalidParameterValue,
    InvalidSignature,
    MissingAuthentication,
    ResponseDrift,
    UnknownOperation,
    Unreadable,
)

#: A shape of botocore's service model; botocore carries no types.
Shape = Any


@cache
def _service() -> Any:
    return botocore.session.Session().get_service_model("mturk")


@cache
def operation_names() -> frozenset[str]:
    return frozenset(_service().operation_names)


def operation_of(target: str) -> str:
    """The operation named by X-Amz-Target."""
    prefix, _, operation = target.partition(".")
    if prefix != _service().metadata["targetPrefix"] or operation not in operation_names():
        raise UnknownOperation
    return operation


@cache
def input_shape(operation: str) -> Shape:
    return _service().operation_model(operation).input_shape


@cache
def output_shape(operation: str) -> Shape:
    return _service().operation_model(operation).output_shape


YEAR_SECONDS = 31_536_000

#: Characters.
MAXIMUM_LENGTH = {
    "Title": 128,
    "Description": 2_000,
    "Keywords": 1_000,
    "Name": 200,
    "RequesterAnnotation": 255,
    "RequesterFeedback": 1_024,
    "Subject": 200,
    "MessageText": 4_096,
    "QuestionIdentifier": 255,
    "QualificationTypeId": 64,
    "QualificationRequestId": 64,
}
#: Of the UTF-8 text.
MAXIMUM_BYTES = {"Question": 65_535, "Test": 65_535, "AnswerKey": 65_535}
#: Members that must say something.
NOT_EMPTY = frozenset(
    {
        "Title",
        "Description",
        "Name",
        "Subject",
        "MessageText",
        "Reason",
        "Reward",
        "BonusAmount",
        "WorkerIds",
        "Destination",
        "EventTypes",
        "QualificationRequestId",
        "QuestionIdentifier",
    }
)
#: Smallest and largest number.
RANGE = {
    "LifetimeInSeconds": (30, YEAR_SECONDS),
    "AssignmentDurationInSeconds": (30, YEAR_SECONDS),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "MaxAssignments": (1, 1_000_000_000),
    "NumberOfAdditionalAssignments": (1, 1_000_000_000),
    "RetryDelayInSeconds": (0, YEAR_SECONDS),
    "TestDurationInSeconds": (1, YEAR_SECONDS),
    "IntegerValue": (-(2**31), 2**31 - 1),
    "AutoGrantedValue": (-(2**31), 2**31 - 1),
}
#: Entries of a list.
MAXIMUM_ENTRIES = {
    "QualificationRequirements": 10,
    "IntegerValues": 15,
    "LocaleValues": 30,
    "WorkerIds": 100,
}
#: These need no word.
MAY_BE_EMPTY = frozenset(
    {
        ("DisassociateQualificationFromWorker", "Reason"),
        ("RejectQualificationRequest", "Reason"),
        ("DeleteWorkerBlock", "Reason"),
    }
)


ALGORITHM = "AWS4-HMAC-SHA256"
#: How far a client's clock may be off.
MAXIMUM_SKEW = timedelta(minutes=5)
#: A signature that leaves one of these out could be replayed on another operation or host.
_MUST_BE_SIGNED = ("host", "x-amz-date", "x-amz-target")
_AUTHORIZATION = re.compile(
    r"Credential=(?P<credential>[^,\s]+),\s*SignedHeaders=(?P<signed_headers>[^,\s]+),\s*Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True, kw_only=True)
class SignedRequest:
    """The parts of a request that a signature covers. Header names in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Authorization:
    """What the Authorization header claims."""

    access_key_id: str
    date: str
    region: str
    service: str
    signed_headers: tuple[str, ...]
    signature: str

    @classmethod
    def parse(cls, header: str) -> Authorization:
        if not header:
            raise MissingAuthentication
        algorithm, _, rest = header.partition(" ")
        match = _AUTHORIZATION.fullmatch(rest.strip())
        if algorithm != ALGORITHM or match is None:
            raise IncompleteSignature
        scope = match["credential"].split("/")
        if len(scope) != 5 or scope[4] != "aws4_request":
            raise IncompleteSignature("Credential must be <key id>/<date>/<region>/<service>/aws4_request.")
        return cls(
            access_key_id=scope[0],
            date=scope[1],
            region=scope[2],
            service=scope[3],
            signed_headers=tuple(match["signed_headers"].split(";")),
            signature=match["signature"],
        )

    @property
    def scope(self) -> str:
        return f"{self.date}/{self.region}/{self.service}/aws4_request"


def verify(
    request: SignedRequest, authorization: Authorization, *, secret: str, region: str, service: str, at: datetime
) -> None:
    """Raise when the signature does not hold; return when it does."""
    for name in _MUST_BE_SIGNED:
        if name not in authorization.signed_headers:
            raise IncompleteSignature(f"The header {name} must be signed.")
    if authorization.region != region:
        raise InvalidSignature(f"Credential should be scoped to a valid region, not '{authorization.region}'.")
    if authorization.service != service:
        raise InvalidSignature(f"Credential should be scoped to correct service: '{service}'.")
    timestamp = request.headers.get("x-amz-date", "")
    _check_time(timestamp, authorization.date, at)
    expected = signature(request, authorization, secret=secret, timestamp=timestamp)
    if not hmac.compare_digest(expected, authorization.signature):
        raise InvalidSignature


def _check_time(timestamp: str, date: str, at: datetime) -> None:
    try:
        signed_at = datetime.strptime(timestamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError as err:
        raise IncompleteSignature("X-Amz-Date must look like 20260131T235959Z.") from err
    if timestamp[:8] != date:
        raise InvalidSignature(f"Date in Credential scope does not match YYYYMMDD from X-Amz-Date: '{date}'.")
    here = f"{at:%Y%m%dT%H%M%SZ}"
    if signed_at < at - MAXIMUM_SKEW:
        raise InvalidSignature(f"Signature expired: {timestamp} is more than 5 minutes before {here}.")
    if signed_at > at + MAXIMUM_SKEW:
        raise InvalidSignature(f"Signature not yet current: {timestamp} is more than 5 minutes after {here}.")


def signature(request: SignedRequest, authorization: Authorization, *, secret: str, timestamp: str) -> str:
    """What the signature has to be, in hex."""
    canonical = canonical_request(request, authorization.signed_headers)
    text = "\n".join([ALGORITHM, timestamp, authorization.scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{secret}".encode()
    for part in (authorization.date, authorization.region, authorization.service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


def canonical_request(request: SignedRequest, signed_headers: tuple[str, ...]) -> str:
    """Method, path, query, headers and the body's hash in the one form both sides can write."""
    query = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(request.query, keep_blank_values=True)
    )
    return "\n".join(
        [
            request.method,
            quote(request.path or "/", safe="/-_.~"),
            "&".join(f"{name}={value}" for name, value in query),
            *(f"{name}:{' '.join(request.headers.get(name, '').split())}" for name in signed_headers),
            "",
            ";".join(signed_headers),
            hashlib.sha256(request.body).hexdigest(),
        ]
    )


Parameters = dict[str, Any]


def read_parameters(operation: str, body: bytes) -> Parameters:
    """Parameters with timestamps as aware datetimes; a null counts as left out."""
    try:
        # Numbers such as NaN are not JSON.
        document = json.loads(body or b"{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as err:
        raise Unreadable from err
    if not isinstance(document, dict):
        raise Unreadable
    shape = input_shape(operation)
    parameters: Parameters = _convert(shape, document)
    report = ParamValidator().validate(parameters, shape)
    if report.has_errors():
        raise InvalidParameterValue(report.generate_report())
    problems: list[str] = []
    _check(operation, shape, parameters, "", problems)
    if problems:
        raise InvalidParameterValue("; ".join(problems))
    return parameters


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _convert(shape: Shape, value: Any) -> Any:
    """Nulls dropped and timestamps read; what does not fit the shape stays as it is, for the validator to name."""
    if shape.type_name == "structure" and isinstance(value, dict):
        return {
            name: _convert(shape.members[name], member) if name in shape.members else member
            for name, member in value.items()
            if member is not None
        }
    if shape.type_name == "list" and isinstance(value, list):
        return [_convert(shape.member, member) for member in value]
    if shape.type_name == "timestamp":
        return _timestamp(value)
    return value


def _timestamp(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value
    try:
        if isinstance(value, str):
            read: datetime = parse_timestamp(value)
            return read if read.tzinfo else read.replace(tzinfo=UTC)
        return datetime.fromtimestamp(value, tz=UTC)
    except (ValueError, OverflowError, OSError, RuntimeError) as err:
        raise InvalidParameterValue(f"{value} is not a time this service can keep.") from err


def _check(operation: str, shape: Shape, value: Any, path: str, problems: list[str]) -> None:
    """What botocore's validator leaves out: max, pattern, enum, and the guide's limits."""
    name = path.rpartition(".")[2]
    if shape.type_name == "structure":
        for member, inner in value.items():
            _check(operation, shape.members[member], inner, f"{path}.{member}" if path else member, problems)
        return
    found = None
    if shape.type_name == "list":
        most = MAXIMUM_ENTRIES.get(name)
        if most is not None and len(value) > most:
            found = f"{len(value)} entries, the most is {most}"
        for number, inner in enumerate(value):
            _check(operation, shape.member, inner, f"{path}[{number}]", problems)
    elif shape.type_name == "string":
        found = _string_problem(shape, name, value)
    elif shape.type_name in ("integer", "long"):
        found = _number_problem(shape, name, value)
    if not found and name in NOT_EMPTY and not value and (operation, name) not in MAY_BE_EMPTY:
        found = "must not be empty"
    if found:
        problems.append(f"{path}: {found}")


def _string_problem(shape: Shape, name: str, value: str) -> str | None:
    most, pattern = MAXIMUM_LENGTH.get(name) or shape.metadata.get("max"), shape.metadata.get("pattern")
    if most is not None and len(value) > most:
        return f"{len(value)} characters, the most is {most}"
    most_bytes = MAXIMUM_BYTES.get(name)
    if most_bytes is not None and len(value.encode(errors="replace")) > most_bytes:
        return f"{len(value.encode(errors='replace'))} bytes, the most is {most_bytes}"
    if pattern and not re.fullmatch(pattern.removeprefix("^").removesuffix("$"), value):
        return f"{value[:80]!r} does not have the form {pattern}"
    if shape.enum and value not in shape.enum:
        return f"{value[:80]!r} is none of {', '.join(shape.enum)}"
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        return "holds a character that no text can hold"
    return None


def _number_problem(shape: Shape, name: str, value: int) -> str | None:
    if isinstance(value, bool):
        return "a number is needed"
    least, most = RANGE.get(name, (shape.metadata.get("min"), shape.metadata.get("max")))
    if (least is not None and value < least) or (most is not None and value > most):
        return f"{value} is not from {least} to {most}"
    if abs(value) >= 2**63:
        return f"{value} is too large"
    return None


_PLAIN_TYPES = {"string": str, "integer": int, "long": int, "boolean": bool}


def render(operation: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """JSON-ready; members that are None are left out, times become epoch seconds."""
    rendered: dict[str, Any] = _render(output_shape(operation), answer, operation)
    return rendered


def _render(shape: Shape, value: Any, path: str) -> Any:
    kind = shape.type_name
    if kind == "structure":
        unknown = set(value) - set(shape.members)
        if unknown:
            raise ResponseDrift(f"{path}: {', '.join(sorted(unknown))} not in the model.")
        missing = [name for name in shape.required_members if value.get(name) is None]
        if missing:
            raise ResponseDrift(f"{path}: {', '.join(missing)} missing.")
        return {
            name: _render(shape.members[name], member, f"{path}.{name}")
            for name, member in value.items()
            if member is not None
        }
    if kind == "list":
        return [_render(shape.member, member, f"{path}[{number}]") for number, member in enumerate(value)]
    if kind == "timestamp":
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise ResponseDrift(f"{path}: {value!r} is no time with a zone.")
        return round(value.timestamp(), 3)
    expected = _PLAIN_TYPES.get(kind)
    if expected is None or type(value) is not expected and not (expected is str and isinstance(value, str)):
        raise ResponseDrift(f"{path}: {value!r} is no {kind}.")
    if getattr(shape, "enum", None) and value not in shape.enum:
        raise ResponseDrift(f"{path}: {value!r} is none of {', '.join(shape.enum)}.")
    if expected is str:
        _check_text(shape, str(value), path)
        return str(value)
    return value


def _check_text(shape: Shape, text: str, path: str) -> None:
    least, most, pattern = (shape.metadata.get(name) for name in ("min", "max", "pattern"))
    if (least is not None and len(text) < least) or (most is not None and len(text) > most):
        raise ResponseDrift(f"{path}: {len(text)} characters, from {least} to {most} are allowed.")
    if pattern and not re.search(pattern, text):
        raise ResponseDrift(f"{path}: {text[:80]!r} does not have the form {pattern}.")
