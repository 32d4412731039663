"""Bearer tokens of sessions: no cookie, so no other site can use them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from humanexp.core.errors import TokenRefused
from humanexp.participation import credentials
from humanexp.participation.credentials import Seal


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
