"""AWS Signature Version 4, checked: the request was signed with this secret, for this service, just now.

Written from AWS's description of the algorithm ("Create a signed AWS API request"), so that a client is checked against
the rules and not against a copy of its own code.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote

from humanexp.sites.marketplace.errors import IncompleteSignature, InvalidSignature, MissingAuthentication

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
