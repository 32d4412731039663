"""The participant API for previews: the same views, with tokens of their own, on what is stored nowhere."""

from __future__ import annotations

from typing import Any, cast

from django.urls import URLPattern, path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from humanexp.participation import previews
from humanexp.participation.api import views
from humanexp.participation.api.backends import PREVIEWED, PreviewTokenAuthentication
from humanexp.participation.api.views import (
    ClosingView,
    CompleteView,
    HandoffView,
    LeaseView,
    LookView,
    MaskView,
    PicturesView,
    QuestionView,
    ResponsesView,
    RunView,
    SessionView,
    SetUpView,
    StatusView,
    StimulusView,
    WithdrawView,
)
from humanexp.participation.sessions import PreviewClaim


class SkipIn(serializers.Serializer[Any]):
    to = serializers.ChoiceField(["block", "main"])


class SkipView(RunView):
    """No such call exists for sessions."""

    def post(self, request: Request) -> Response:
        """Go on at the next block, or past practice and qualification."""
        given = views.valid(SkipIn, request)
        claim = cast(PreviewClaim, request.auth)
        return Response({"cursor": previews.skip(claim=claim, lease=self.lease, to=given["to"])})


def _call(address: str, view: type[RunView], *, is_open: bool = False) -> URLPattern:
    """A view of the participant API that reads and writes previews; left out of the API's description."""
    proof: dict[str, Any] = {} if is_open else {"authentication_classes": [PreviewTokenAuthentication]}
    name = f"preview-{view.__name__.removesuffix('View').lower()}"
    return path(f"api/v1/preview/{address}", view.as_view(sittings=PREVIEWED, schema=None, **proof), name=name)


urlpatterns = [
    _call("handoff/", HandoffView, is_open=True),
    _call("handoff/look/", LookView, is_open=True),
    _call("session/", SessionView),
    _call("lease/", LeaseView),
    _call("withdraw/", WithdrawView),
    _call("status/", StatusView),
    _call("responses/", ResponsesView),
    _call("setup/", SetUpView),
    _call("complete/", CompleteView),
    _call("closing/", ClosingView),
    _call("skip/", SkipView),
    _call("trials/<int:first>-<int:last>/pictures/", PicturesView),
    _call("trials/<int:position>/stimulus/<int:showing>/", StimulusView),
    _call("trials/<int:position>/question/", QuestionView),
    _call("trials/<int:position>/mask/", MaskView),
]
