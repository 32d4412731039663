"""The participant API for previews: the same views, with tokens of their own, on what is stored nowhere."""

from __future__ import annotations

from typing import Any, cast

from django.urls import URLPattern, path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from humanexp.participation.api import views
from humanexp.participation.api.authentication import PreviewTokenAuthentication
from humanexp.participation.credentials import PreviewClaim
from humanexp.participation.services import previewing
from humanexp.participation.session_backends import PREVIEWED


class SkipIn(serializers.Serializer[Any]):
    to = serializers.ChoiceField(["block", "main"])


class SkipView(views.RunView):
    """No such call exists for sessions."""

    def post(self, request: Request) -> Response:
        """Go on at the next block, or past practice and qualification."""
        given = views.valid(SkipIn, request)
        claim = cast(PreviewClaim, request.auth)
        return Response({"cursor": previewing.skip(claim=claim, lease=self.lease, to=given["to"])})


def _call(address: str, view: type[views.RunView], *, is_open: bool = False) -> URLPattern:
    """A view of the participant API that reads and writes previews; left out of the API's description."""
    proof: dict[str, Any] = {} if is_open else {"authentication_classes": [PreviewTokenAuthentication]}
    name = f"preview-{view.__name__.removesuffix('View').lower()}"
    return path(f"api/v1/preview/{address}", view.as_view(sittings=PREVIEWED, schema=None, **proof), name=name)


urlpatterns = [
    _call("handoff/", views.HandoffView, is_open=True),
    _call("handoff/look/", views.LookView, is_open=True),
    _call("session/", views.SessionView),
    _call("lease/", views.LeaseView),
    _call("withdraw/", views.WithdrawView),
    _call("status/", views.StatusView),
    _call("responses/", views.ResponsesView),
    _call("setup/", views.SetUpView),
    _call("complete/", views.CompleteView),
    _call("closing/", views.ClosingView),
    _call("skip/", SkipView),
    _call("trials/<int:first>-<int:last>/pictures/", views.PicturesView),
    _call("trials/<int:position>/stimulus/<int:showing>/", views.StimulusView),
    _call("trials/<int:position>/question/", views.QuestionView),
    _call("trials/<int:position>/mask/", views.MaskView),
]
