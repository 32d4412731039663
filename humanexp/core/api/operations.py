"""What the description of the API says of every operation: which problems it can answer, from this one place.

What follows from the kind of a call stands here. A view adds what only its own work can meet, such as its conflicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent

from humanexp.core.api.problems import MEDIA_TYPE, ProblemOut

#: Of the scheme of `authentication.py` that a session's token is shown by.
TOKEN = "sessionToken"  # noqa: S105

#: By status: the name of the shared response, and what it means.
_SHARED: Mapping[int, tuple[str, str]] = {
    400: ("Unreadable", "parse-error: the body is not the JSON that was expected"),
    401: ("TokenRefused", "token-refused: the token or code is forged, expired, revoked or used"),
    404: ("NotFound", "not-found: there is nothing at this address, or not now"),
    411: ("LengthRequired", "length-required: the head does not say how long the body is"),
    413: ("TooLarge", "too-large: the body is longer than any that a page sends"),
    415: ("NotJson", "unsupported-media-type: the body is not called application/json"),
    422: ("Invalid", "invalid: a field has a value that cannot be used"),
    429: ("TooManyCalls", "too-many-calls, too-fast or too-many-openings"),
    500: ("Fault", "fault: something is wrong on the server; what was stored is safe"),
}
_RETRY_AFTER = {"Retry-After": {"schema": {"type": "integer"}, "description": "seconds until it is worth trying again"}}

Described = dict[str, Any]
Direction = Literal["request", "response"]


class Operation(AutoSchema):
    """An operation with its problems, all of them as `application/problem+json`.

    Attributes of a view say what cannot be seen from outside: `reads_token`, that it reads a session's token itself;
    `reads_code`, that its body brings a code that may be refused; `is_bounded`, that it is answered only so often.
    """

    def get_auth(self) -> list[dict[str, list[str]]]:
        if getattr(self.view, "reads_token", False):
            return [{TOKEN: []}]
        return super().get_auth()

    def _statuses(self) -> set[int]:
        """What can go wrong with a call of this kind, before its view does any work of its own."""
        statuses = {500}
        if self._get_request_body():  # type: ignore[no-untyped-call]
            statuses |= {400, 411, 413, 415, 422}
        if any(TOKEN in way for way in self.get_auth()) or getattr(self.view, "reads_code", False):
            statuses |= {401, 429}
        if getattr(self.view, "is_bounded", False):
            statuses |= {429}
        if "{" in self.path:
            statuses |= {404}
        return statuses

    def _get_response_bodies(self, direction: Direction = "response") -> Described:
        own: Described = super()._get_response_bodies(direction)
        shared = {str(status): self._shared(status) for status in sorted(self._statuses()) if str(status) not in own}
        return dict(sorted((own | shared).items()))

    def _shared(self, status: int) -> Described:
        name, meaning = _SHARED[status]
        content = self._get_response_for_code(ProblemOut, str(status))
        component = ResolvedComponent(name, ResolvedComponent.RESPONSE, object=name)  # type: ignore[no-untyped-call]
        component.schema = content | {"description": meaning}
        self.registry.register_on_missing(component)
        return dict(component.ref)

    def _get_response_for_code(
        self, serializer: Any, status_code: str, media_types: Any = None, direction: Direction = "response"
    ) -> Described:
        is_problem = status_code >= "400"
        described: Described = super()._get_response_for_code(  # type: ignore[no-untyped-call]
            serializer, status_code, [MEDIA_TYPE] if is_problem else media_types, direction
        )
        return described

    def _get_response_headers_for_code(self, status_code: str, direction: Direction = "response") -> Described:
        own: Described = super()._get_response_headers_for_code(status_code, direction)
        return own | _RETRY_AFTER if status_code == "429" else own
