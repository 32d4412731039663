"""The participant API for previews: the same views, with tokens of their own, on what is stored nowhere."""

from __future__ import annotations

from typing import Any, cast

from django.urls import URLPattern, path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from humanexp.experiments import api
from humanexp.experiments.authentication import PreviewTokenAuthentication
from humanexp.experiments.credentials import PreviewClaim
from humanexp.experiments.services import previewing
from humanexp.experiments.sittings import PREVIEWED


class SkipIn(serializers.Serializer[Any]):
    to = serializers.ChoiceField(["block", "main"])


class SkipView(api.RunView):
    """No such call exists for sessions."""

    def post(self, request: Request) -> Response:
        """Go on at the next block, or past practice and qualification."""
        given = api.valid(SkipIn, request)
        claim = cast(PreviewClaim, request.auth)
        return Response({"cursor": previewing.skip(claim=claim, lease=self.lease, to=given["to"])})


def _call(address: str, view: type[api.RunView], *, is_open: bool = False) -> URLPattern:
    """A view of the participant API that reads and writes previews; left out of the API's description."""
    proof: dict[str, Any] = {} if is_open else {"authentication_classes": [PreviewTokenAuthentication]}
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
