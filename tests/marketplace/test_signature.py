from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from humanexp.sites.marketplace.api.protocol import Authorization, SignedRequest, verify
from humanexp.sites.marketplace.errors import IncompleteSignature, InvalidSignature, MissingAuthentication
from tests.tampering import tampered

SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"


def signed_by_botocore(path: str = "/requester/", query: str = "", body: bytes = b"{}") -> SignedRequest:
    request = AWSRequest(
        method="POST",
        url=f"http://localhost:8001{path}{'?' + query if query else ''}",
        headers={"X-Amz-Target": TARGET, "Content-Type": "application/x-amz-json-1.1"},
        data=body,
    )
    SigV4Auth(Credentials("AKIDEXAMPLE", SECRET), "mturk-requester", "us-east-1").add_auth(request)
    headers = {name.lower(): value for name, value in request.headers.items()} | {"host": "localhost:8001"}
    return SignedRequest(method="POST", path=path, query=query, headers=headers, body=body)


def check(request: SignedRequest, *, secret: str = SECRET, at: datetime | None = None, **scope: str) -> None:
    authorization = Authorization.parse(request.headers["authorization"])
    wanted = {"region": "us-east-1", "service": "mturk-requester", **scope}
    verify(request, authorization, secret=secret, at=at or datetime.now(UTC), **wanted)


@pytest.mark.parametrize(
    ("path", "query", "body"),
    [
        ("/requester/", "", b"{}"),
        ("/", "", '{"Title": "Käse"}'.encode()),
        ("/requester/", "b=2&a=1&c=x%20y", b""),
    ],
)
def test_accepts_what_botocore_signs(path: str, query: str, body: bytes) -> None:
    check(signed_by_botocore(path, query, body))


def test_agrees_with_the_published_example() -> None:
    """AWS's Signature Version 4 test suite, case post-vanilla-query."""
    from humanexp.sites.marketplace.api.protocol import signature

    authorization = Authorization(
        access_key_id="AKIDEXAMPLE",
        date="20150830",
        region="us-east-1",
        service="service",
        signed_headers=("host", "x-amz-date"),
        signature="",
    )
    headers = {"host": "example.amazonaws.com", "x-amz-date": "20150830T123600Z"}
    request = SignedRequest(method="POST", path="/", query="Param1=value1", headers=headers, body=b"")
    found = signature(
        request, authorization, secret="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", timestamp="20150830T123600Z"
    )
    assert found == "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"


def test_refuses_another_secret() -> None:
    with pytest.raises(InvalidSignature):
        check(signed_by_botocore(), secret=tampered(SECRET))


@pytest.mark.parametrize("changed", ["body", "target", "host", "method", "path", "query"])
def test_refuses_what_was_changed_after_signing(changed: str) -> None:
    request = signed_by_botocore()
    headers = dict(request.headers)
    altered = {
        "body": replace(request, body=b'{"MaxResults": 1}'),
        "target": replace(request, headers=headers | {"x-amz-target": TARGET.replace("Get", "Set")}),
        "host": replace(request, headers=headers | {"host": "elsewhere:8001"}),
        "method": replace(request, method="PUT"),
        "path": replace(request, path="/other/"),
        "query": replace(request, query="a=1"),
    }[changed]
    with pytest.raises(InvalidSignature):
        check(altered)


@pytest.mark.parametrize("minutes", [-6, 6])
def test_refuses_a_clock_that_is_off(minutes: int) -> None:
    with pytest.raises(InvalidSignature, match="expired|not yet current"):
        check(signed_by_botocore(), at=datetime.now(UTC) + timedelta(minutes=minutes))


def test_accepts_a_clock_that_is_a_little_off() -> None:
    check(signed_by_botocore(), at=datetime.now(UTC) + timedelta(minutes=4))


@pytest.mark.parametrize("scope", [{"region": "eu-west-1"}, {"service": "s3"}])
def test_refuses_another_scope(scope: dict[str, str]) -> None:
    with pytest.raises(InvalidSignature, match="scoped"):
        check(signed_by_botocore(), **scope)


def test_refuses_an_unsigned_target() -> None:
    request = signed_by_botocore()
    loose = request.headers["authorization"].replace(";x-amz-target", "")
    with pytest.raises(IncompleteSignature, match="x-amz-target"):
        check(replace(request, headers=dict(request.headers) | {"authorization": loose}))


def test_refuses_headers_that_are_no_signature() -> None:
    with pytest.raises(MissingAuthentication):
        Authorization.parse("")
    for header in ["Bearer abc", "AWS4-HMAC-SHA256 Credential=A/B", "AWS4-HMAC-SHA256 Credential=A/B/C/D/x, "]:
        with pytest.raises(IncompleteSignature):
            Authorization.parse(header)
