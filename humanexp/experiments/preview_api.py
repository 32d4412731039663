"""The participant API for previews: the same views, with tokens of their own, on what is stored nowhere."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import AnonymousUser
from django.urls import URLPattern, path
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from humanexp.core.errors import TokenRefused
from humanexp.experiments import api, credentials
from humanexp.experiments.credentials import PreviewClaim
from humanexp.experiments.services import previewing
from humanexp.experiments.sittings import PREVIEWED


class PreviewTokenAuthentication(BaseAuthentication):
    """A session's token is none here, and the other way round: the two are signed differently."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, PreviewClaim]:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise TokenRefused
        return AnonymousUser(), credentials.read_preview_token(token.strip())

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class HoldsPreview(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, PreviewClaim)


class SkipIn(serializers.Serializer[Any]):
    to = serializers.ChoiceField(["block", "main"])


class SkipView(api.RunView):
    """No such call exists for sessions."""

    def post(self, request: Request) -> Response:
        """Go on at the next block, or past practice and qualification."""
        given = SkipIn(data=request.data)
        given.is_valid(raise_exception=True)
        claim = cast(PreviewClaim, request.auth)
        cursor = previewing.skip(claim=claim, lease=self.lease, to=given.validated_data["to"])
        return Response({"cursor": cursor})


def _call(address: str, view: type[api.RunView], *, is_open: bool = False) -> URLPattern:
    """A view of the participant API that reads and writes previews; left out of the API's description."""
    proof: dict[str, Any] = {}
    if not is_open:
        proof = {"authentication_classes": [PreviewTokenAuthentication], "permission_classes": [HoldsPreview]}
    name = f"preview-{view.__name__.removesuffix('View').lower()}"
    return path(f"api/v1/preview/{address}", view.as_view(sittings=PREVIEWED, schema=None, **proof), name=name)


urlpatterns = [
    _call("handoff/", api.HandoffView, is_open=True),
    _call("handoff/look/", api.LookView, is_open=True),
    _call("session/", api.SessionView),
    _call("lease/", api.LeaseView),
    _call("withdraw/", api.WithdrawView),
    _call("status/", api.StatusView),
    _call("responses/", api.ResponsesView),
    _call("complete/", api.CompleteView),
    _call("skip/", SkipView),
    _call("trials/<int:first>-<int:last>/pictures/", api.PicturesView),
    _call("trials/<int:position>/stimulus/<int:showing>/", api.StimulusView),
    _call("trials/<int:position>/question/", api.QuestionView),
    _call("trials/<int:position>/mask/", api.MaskView),
]
