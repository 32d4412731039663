"""The entry page's calls: open a session, get into its window again, and, for a plain link, finish."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from humanexp.core.errors import TokenRefused
from humanexp.experiments.audited import AuditedView
from humanexp.recruitment import frames, selectors, services


class OpenRequest(serializers.Serializer[Any]):
    consent = serializers.BooleanField()
    assignmentId = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)  # noqa: N815
    hitId = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)  # noqa: N815
    workerId = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)  # noqa: N815
    turkSubmitTo = serializers.CharField(required=False, allow_blank=True, default="", max_length=500)  # noqa: N815
    simulated = serializers.BooleanField(required=False, default=False)
    #: the other HIT was returned: go on with its session here
    continueHere = serializers.BooleanField(required=False, default=False)  # noqa: N815
    #: in which the person has read what they agree to
    language = serializers.ChoiceField(required=False, default="en", choices=[code for code, _ in settings.LANGUAGES])


class OpenReply(serializers.Serializer[Any]):
    token = serializers.CharField()
    handoff = serializers.CharField()
    status_url = serializers.CharField()
    run_url = serializers.CharField()


class HandoffReply(serializers.Serializer[Any]):
    handoff = serializers.CharField()


class EntryView(AuditedView):
    """No cookies and no account: what a caller may do follows from its bearer alone."""

    authentication_classes = ()
    permission_classes = ()

    def bearer(self, request: Request) -> str:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            raise TokenRefused
        return token.strip()

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        response = super().finalize_response(request, response, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        return response


class Open(EntryView):
    @extend_schema(request=OpenRequest, responses={201: OpenReply})
    def post(self, request: Request, entry: str) -> Response:
        """Open a session after consent; the same person gets the same session with a fresh token."""
        given = OpenRequest(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        campaign = selectors.campaign_by_entry(entry)
        # A page that could not be submitted at the end is refused before any work is done.
        frames.submit_address(campaign, wanted["turkSubmitTo"])
        entered = services.enter(
            campaign=campaign,
            consents=wanted["consent"],
            assignment_id=wanted["assignmentId"],
            worker_id=wanted["workerId"],
            scripted=wanted["simulated"],
            continue_here=wanted["continueHere"],
            language=wanted["language"],
        )
        reply = {
            "token": entered.token,
            "handoff": entered.handoff,
            "status_url": reverse("experiments:run-status"),
            "run_url": reverse("experiments:run"),
        }
        return Response(reply, status=status.HTTP_201_CREATED)


class Handoff(EntryView):
    @extend_schema(request=None, responses={200: HandoffReply})
    def post(self, request: Request, entry: str) -> Response:
        """A fresh one-time code for the window of the study."""
        campaign = selectors.campaign_by_entry(entry)
        return Response({"handoff": services.new_handoff(campaign=campaign, token=self.bearer(request))})


class Finish(EntryView):
    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, entry: str) -> Response:
        """A plain link has no recruiter to submit to: who has finished says so here."""
        campaign = selectors.campaign_by_entry(entry)
        services.finish_link(campaign=campaign, token=self.bearer(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
