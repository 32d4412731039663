"""How calls to Prolific travel: once, without redirects, with timeouts, and with errors that name no person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
from pydantic import TypeAdapter, ValidationError
from requests.auth import AuthBase
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError

from humanexp.core.errors import KeysRefused, NotAtRecruiter, OutcomeUnknown, RecruiterError, RecruiterUnavailable

#: To connect, and between two pieces of an answer.
TIMEOUT_S = (5, 60)
#: The same for what a page waits for.
QUESTION_TIMEOUT_S = (3, 8)
#: Kept of what the service says about a refusal.
MOST_SAID = 500
#: These say that nothing was done. Any other answer that is not the expected one leaves a write's outcome open.
_REFUSALS = frozenset({400, 401, 403, 404, 405, 422})
#: Of the paths that are called; whatever else is in a path is an id.
_WORDS = frozenset(
    {
        "balance",
        "bonus-payments",
        "bulk",
        "bulk-approve",
        "bulk-bonus-payments",
        "cost",
        "counts",
        "eligibility-count",
        "event-types",
        "events",
        "filters",
        "hooks",
        "me",
        "messages",
        "participant-groups",
        "participants",
        "pay",
        "projects",
        "request-return",
        "reward-recommendations",
        "secrets",
        "studies",
        "study-cost-calculator",
        "submissions",
        "subscriptions",
        "transition",
        "users",
        "workspaces",
    }
)
_ID = re.compile(r"\b[0-9a-f]{24}\b", re.IGNORECASE)

T = TypeVar("T")
Query = Mapping[str, str]


class Refused(RecruiterError):
    """The service refused the call; nothing was changed."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class _Token(AuthBase):
    """As an object: a header alone would be replaced by what a .netrc file says about the host."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Token {self._token}"
        return request


class Transport:
    """To one account at one address; the token goes nowhere else."""

    def __init__(self, base_url: str, token: str, *, referer: str) -> None:
        self._base = base_url.rstrip("/") + "/"
        self._auth = _Token(token)
        self._headers = {"Referer": referer, "Accept": "application/json"}

    def get(self, path: str, kind: type[T], query: Query | None = None) -> T:
        return self._understood("GET", path, kind, query=query)

    def ask(self, path: str, kind: type[T], body: Mapping[str, Any]) -> T:
        """A question that the service takes as a POST, and that changes nothing."""
        return self._understood("POST", path, kind, body=body, timeout=QUESTION_TIMEOUT_S)

    def _understood(
        self,
        method: str,
        path: str,
        kind: type[T],
        *,
        query: Query | None = None,
        body: Mapping[str, Any] | None = None,
        timeout: tuple[int, int] = TIMEOUT_S,
    ) -> T:
        try:
            response = self.send(method, path, 200, body, query=query, is_json=True, timeout=timeout)
            return TypeAdapter(kind).validate_python(response.json())
        except (OutcomeUnknown, ValidationError):
            raise RecruiterUnavailable(f"{_name(method, path)}: the answer could not be read.") from None

    def all_pages(self, path: str, kind: type[T], query: Query | None = None) -> list[T]:
        return [one for page in self.pages(path, kind, query or {}) for one in page]

    def pages(self, path: str, kind: type[T], query: Query) -> Iterator[list[T]]:
        """As far as the links of the answers lead: a page after the last one is a 404, even after a full one."""
        page = self.get(path, dict[str, Any], query)
        seen = set()
        while True:
            yield self._results(path, page, kind)
            following = ((page.get("_links") or {}).get("next") or {}).get("href")
            if not following:
                return
            if following in seen or not self._is_ours(following):
                raise RecruiterUnavailable(f"{_name('GET', path)}: the list leads astray.")
            seen.add(following)
            try:
                page = self.get(following, dict[str, Any])
            except NotAtRecruiter:
                raise RecruiterUnavailable(f"{_name('GET', path)}: the list changed while it was read.") from None

    def _results(self, path: str, page: Mapping[str, Any], kind: type[T]) -> list[T]:
        try:
            return TypeAdapter(list[kind]).validate_python(page.get("results"))  # type: ignore[valid-type]
        except ValidationError:
            raise RecruiterUnavailable(f"{_name('GET', path)}: the answer could not be read.") from None

    def _is_ours(self, address: str) -> bool:
        """The token goes to no other address."""
        asked, ours = urlsplit(address), urlsplit(self._base)
        return (asked.scheme, asked.netloc) == (ours.scheme, ours.netloc) and asked.path.startswith(ours.path)

    def write(
        self,
        method: str,
        path: str,
        kind: type[T],
        expected: int,
        body: Mapping[str, Any],
        *,
        unsaid: Iterable[str] = (),
    ) -> T:
        return read_written(self.send(method, path, expected, body, unsaid=unsaid, is_json=True), kind)

    def send(
        self,
        method: str,
        path: str,
        expected: int,
        body: Mapping[str, Any] | None = None,
        *,
        query: Query | None = None,
        unsaid: Iterable[str] = (),
        is_json: bool = False,
        timeout: tuple[int, int] = TIMEOUT_S,
    ) -> requests.Response:
        """One request on a connection of its own: a kept one may be cut while the request is under way."""
        name = _name(method, path)
        try:
            response = requests.request(
                method,
                path if path.startswith(self._base) else f"{self._base}{path}",
                params=query,
                json=body,
                headers=self._headers,
                auth=self._auth,
                timeout=timeout,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            # Not chained: requests' own words contain the address, and with it ids.
            if method == "GET" or _was_never_sent(error):
                raise RecruiterUnavailable(f"{name}: the service cannot be reached.") from None
            raise OutcomeUnknown(f"{name}: the answer was lost.") from None
        if response.status_code == expected and (not is_json or _is_json(response)):
            return response
        if response.status_code in _REFUSALS:
            raise _refusal(name, response, unsaid)
        raise (RecruiterUnavailable if method == "GET" else OutcomeUnknown)(
            f"{name}: status {response.status_code}. {_said(response, unsaid)}".strip()
        )


def _name(method: str, path: str) -> str:
    """A call without its ids."""
    return f"Prolific, {method} {'/'.join(word for word in urlsplit(path).path.split('/') if word in _WORDS)}"


def read_written(response: requests.Response, kind: type[T]) -> T:
    """The answer to a write; one that cannot be read says nothing about what was done."""
    try:
        return TypeAdapter(kind).validate_python(response.json())
    except ValidationError:
        raise OutcomeUnknown("Prolific: the answer to a write could not be read.") from None


def _is_json(response: requests.Response) -> bool:
    try:
        response.json()
    except requests.JSONDecodeError:
        return False
    return True


def _was_never_sent(error: requests.RequestException) -> bool:
    """No connection was made. A connection that broke afterwards says nothing about what was done."""
    cause = error.args[0] if error.args else None
    reason: object = getattr(cause, "reason", cause) if isinstance(cause, HTTPError) else cause
    return isinstance(error, requests.ConnectTimeout) or isinstance(reason, (NewConnectionError, ConnectTimeoutError))


def _refusal(name: str, response: requests.Response, unsaid: Iterable[str]) -> RecruiterError:
    said = f"{name}: status {response.status_code}. {_said(response, unsaid)}".strip()
    if response.status_code == 401:
        return KeysRefused(f"{said} Check the token.")
    if response.status_code == 404:
        return NotAtRecruiter(said)  # which may also mean that the token has no access
    return Refused(said, status=response.status_code)


def _said(response: requests.Response, unsaid: Iterable[str]) -> str:
    """The service's words in any of the shapes that it has for errors, without ids of people or submissions."""
    try:
        body = response.json()
    except requests.JSONDecodeError:
        return ""
    error = body.get("error", body) if isinstance(body, dict) else {}
    if not isinstance(error, dict):
        error = {"detail": error}
    text = " ".join(_flat(error.get(name)) for name in ("title", "message", "detail") if error.get(name))
    for one in unsaid:
        text = text.replace(one, "(id)")
    return _ID.sub("(id)", text)[:MOST_SAID]


def _flat(said: Any) -> str:
    """A sentence, or lists of sentences by field."""
    if isinstance(said, dict):
        return " ".join(f"{field}: {_flat(why)}" for field, why in said.items())
    return " ".join(map(_flat, said)) if isinstance(said, list) else str(said)
