"""Course credit by one call from server to server: sent once, its answer read, and nothing of it in a log.

No library that logs addresses makes the call: the credit token and the person's code are in the address, as the site
wants it.
"""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode, urlsplit

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from humanexp.addresses import is_loopback
from humanexp.core.errors import InvalidRequest, OutcomeUnknown, RecruiterError, RecruiterUnavailable

TIMEOUT_S = 30
#: A longer answer is none of the kind that is expected.
LARGEST_ANSWER = 64_000
#: Kept of what the site says about a refusal.
MOST_SAID = 300

Granted = Literal["granted", "already"]


@dataclass(frozen=True, kw_only=True)
class CreditCall:
    """How a site takes the call, as its preset says."""

    path: str
    #: names of the parameters: `experiment`, `token` and `person`
    parameters: Mapping[str, str]
    #: the element of the answer that tells, and what it holds once credit is granted
    element: str
    granted: str
    #: part of the sentence with which it refuses a second time
    already: str


def origin_of(address: str) -> str:
    """The site's address without path. Raises InvalidRequest unless it is an https address, or this machine's."""
    try:
        parts = urlsplit(address.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    if not host or not is_safe or parts.username or parts.query or parts.path.strip("/"):
        raise InvalidRequest(
            "The credit address must be the site's https address without a path, like https://name-of-school.example.",
            fields={"link_credit_site": "like https://name-of-school.example"},
        )
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}"


def grant(call: CreditCall, *, origin: str, experiment: str, token: str, person: str) -> Granted:
    """Credit one person, once.

    Raises RecruiterUnavailable when it certainly was not done, OutcomeUnknown when nobody knows, RecruiterError when
    the site refused it.
    """
    values = {"experiment": experiment, "token": token, "person": person}
    query = urlencode({call.parameters[name]: value for name, value in values.items()})
    connection = _connection(origin)
    try:
        try:
            connection.connect()
        except OSError:
            raise RecruiterUnavailable("The credit site cannot be reached.") from None
        # Not chained: errors of the library contain the address.
        try:
            connection.request("GET", f"{call.path}?{query}", headers={"Accept": "application/xml"})
            response = connection.getresponse()
            body = response.read(LARGEST_ANSWER + 1)
        except (OSError, http.client.HTTPException):
            raise OutcomeUnknown("The answer of the credit site was lost.") from None
    finally:
        connection.close()
    if response.status != http.client.OK:
        raise OutcomeUnknown(f"The credit site answered with status {response.status}.")
    return _read(call, body, unsaid=[token, person])


def _connection(origin: str) -> http.client.HTTPConnection:
    parts = urlsplit(origin)
    if parts.scheme == "http":
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_S)
    context = ssl.create_default_context()
    return http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_S, context=context)


def _read(call: CreditCall, body: bytes, *, unsaid: list[str]) -> Granted:
    """An answer that is broken or hostile (entities, external references) says nothing about what was done."""
    try:
        if len(body) > LARGEST_ANSWER:
            raise ValueError
        root = ElementTree.fromstring(body)
    except (ElementTree.ParseError, DefusedXmlException, ValueError):
        raise OutcomeUnknown("The answer of the credit site could not be read.") from None
    # The namespace differs between versions: match the local name.
    told = [(element.tag.rpartition("}")[2], (element.text or "").strip()) for element in root.iter()]
    if any(name == call.element and text == call.granted for name, text in told):
        return "granted"
    said = " ".join(text for name, text in told if text and name != call.element)
    if call.already in said.lower():
        return "already"
    for one in unsaid:
        said = said.replace(one, "(hidden)")
    raise RecruiterError(f"The credit site refused it: {said[:MOST_SAID] or 'it gave no reason.'}")
