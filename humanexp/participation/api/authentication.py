"""Bearer tokens of sessions, no cookie; and what callers without a right one are refused, recorded and kept short."""

from __future__ import annotations

import math
from typing import Any

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from humanexp.core.errors import TokenRefused, TooManyCalls
from humanexp.core.limits import caller_of
from humanexp.participation import credentials
from humanexp.participation.credentials import Seal, SessionClaim
from humanexp.participation.services.answering import refused


class SessionTokenAuthentication(BaseAuthentication):
    """Reads the claim of `Authorization: Bearer <token>`; the row's nonce is compared by the query that reads it."""

    #: what tokens are sealed with
    seal: Seal[Any] = credentials.TOKEN

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Any]:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise TokenRefused
        return AnonymousUser(), self.seal.read(token.strip())

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class PreviewTokenAuthentication(SessionTokenAuthentication):
    """A session's token is none here, and the other way round: the two are signed differently."""

    seal = credentials.PREVIEW_TOKEN


class HoldsToken(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.auth is not None


class SessionTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = SessionTokenAuthentication
    name = "sessionToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class AuditedView(APIView):
    """The reply to a refused token says the same whatever is wrong with it; the audit knows."""

    def handle_exception(self, error: Exception) -> Response:
        wait_s = 0.0
        if isinstance(error, TokenRefused | TooManyCalls):
            wait_s = refused(error=error, **self.caller())
            if isinstance(error, TooManyCalls):
                wait_s = max(wait_s, error.retry_after_s)
            elif wait_s:
                error = TooManyCalls()
        response: Response = super().handle_exception(error)
        if wait_s:
            response["Retry-After"] = str(max(1, math.ceil(wait_s)))
        return response

    def caller(self) -> dict[str, Any]:
        """For the audit: which call, from where, and the session where the token's signature was good."""
        auth = getattr(self.request, "_auth", None)  # not `auth`: that would read the token again
        match = self.request.resolver_match
        return {
            "call": (match.url_name or "") if match else "",
            "caller": caller_of(self.request),
            "session_id": auth.session_id if isinstance(auth, SessionClaim) else None,
        }
