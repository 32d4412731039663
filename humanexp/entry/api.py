"""The entry page's calls: open a session, go on with one that was begun, get into its window again, and, for a plain
link, finish.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.study.study import LANGUAGE_TAG
from humanexp.core.api.problems import MEDIA_TYPE, ProblemOut, problem_body
from humanexp.core.errors import ApplicationError, Conflict, InvalidRequest, TokenRefused
from humanexp.core.languages import languages
from humanexp.core.limits import caller_of
from humanexp.entry.admission import decline, outcome_of_refusal, turn_away, way_out_of
from humanexp.entry.arrival import Arrival, enter, new_handoff
from humanexp.entry.identity import GoOnRefused, Proof, code_for, confirm, is_confirmed
from humanexp.participation.api.backends import AuditedView
from humanexp.participation.api.views import AlwaysJson
from humanexp.participation.openings import issue_token
from humanexp.recruiters.campaigns import campaign_by_entry, run_address
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.registry import kind_of
from humanexp.recruiters.tickets import Code, GiveBack, Late, Outcome, Redirect, Ticket, WayOut
from humanexp.recruiting.polling import finish_link
from humanexp.recruiting.ways_back import follow


class OpenRequest(serializers.Serializer[Any]):
    consent = serializers.BooleanField()
    assignmentId = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)  # noqa: N815
    hitId = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)  # noqa: N815
    workerId = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)  # noqa: N815
    turkSubmitTo = serializers.CharField(required=False, allow_blank=True, default="", max_length=500)  # noqa: N815
    simulated = serializers.BooleanField(required=False, default=False)
    #: made at random by the page; the same call with the same key gives the same session
    opening = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)
    #: what the study's window keeps in this browser
    secret = serializers.CharField(required=False, allow_blank=True, default="", max_length=200)
    #: the half of a request that this page knows alone, once the study's window has agreed
    confirmed = serializers.CharField(required=False, allow_blank=True, default="", max_length=200)
    #: other people use this computer: its browser keeps nothing to go on with
    sharedComputer = serializers.BooleanField(required=False, default=False)  # noqa: N815
    #: the other HIT was returned: go on with its session here
    continueHere = serializers.BooleanField(required=False, default=False)  # noqa: N815
    #: somebody else began in this person's name, or their browser forgot: a session of its own for this HIT
    beginHere = serializers.BooleanField(required=False, default=False)  # noqa: N815
    #: SHA-256 of the text that the page has shown, and the minutes that it has stated
    consentDigest = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)  # noqa: N815
    minutes = serializers.IntegerField(required=False, default=0, min_value=0, max_value=10_000)
    #: the person is younger than those who agree for themselves, and a parent or guardian agrees, too
    isMinor = serializers.BooleanField(required=False, default=False)  # noqa: N815
    guardianAgrees = serializers.BooleanField(required=False, default=False)  # noqa: N815
    #: whether they have taken part before, also through another recruiter; asked where a study has several
    tookPart = serializers.BooleanField(required=False, allow_null=True, default=None)  # noqa: N815
    #: this browser keeps a note that the study was begun in it by way of another recruiter
    seenBefore = serializers.BooleanField(required=False, default=False)  # noqa: N815
    #: in which the person has read what they agree to
    language = serializers.RegexField(rf"^{LANGUAGE_TAG}$", required=False, default="en")


class OpenReply(serializers.Serializer[Any]):
    token = serializers.CharField()
    handoff = serializers.CharField()
    status_url = serializers.CharField()
    run_url = serializers.CharField()


class RequestReply(serializers.Serializer[Any]):
    ask = serializers.CharField(help_text="for the window of the study, in the fragment of its address")
    claim = serializers.CharField(help_text="for this page alone: shown when the window has agreed")
    name = serializers.CharField(help_text="under which the browser in which it was begun keeps its secret")


class WayOutReply(serializers.Serializer[Any]):
    """How somebody goes back to the site that has sent them."""

    outcome = serializers.ChoiceField(choices=[outcome.value for outcome in Outcome])
    kind = serializers.ChoiceField(choices=["redirect", "code", "return", "late", "nothing"])
    address = serializers.CharField(help_text="of a redirect; else empty")
    code = serializers.CharField(help_text="to be typed where the address does not bring it; empty: none is asked for")


class NotOpenedReply(ProblemOut):
    """Nothing was opened. Either something was begun before, and this page has shown nothing that makes it its own; or
    somebody cannot take part, and there is a way back."""

    resume = RequestReply(required=False, help_text="where a browser keeps a secret: what it can confirm")
    begin_here = serializers.BooleanField(
        required=False, help_text="begun before: whether a session of its own can be begun here instead"
    )
    way_out = WayOutReply(required=False, help_text="how somebody who cannot take part goes back")


class DeclineRequest(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=[outcome.value for outcome in Outcome])
    #: for the address back; neither is stored
    workerId = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)  # noqa: N815
    assignmentId = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)  # noqa: N815


class ClaimRequest(serializers.Serializer[Any]):
    claim = serializers.CharField(max_length=200)


class ClaimReply(serializers.Serializer[Any]):
    confirmed = serializers.BooleanField()


class ConfirmRequest(serializers.Serializer[Any]):
    ask = serializers.CharField(max_length=200)
    secret = serializers.CharField(max_length=200)


class ConfirmedReply(serializers.Serializer[Any]):
    token = serializers.CharField()


class DeletionReply(serializers.Serializer[Any]):
    code = serializers.CharField(allow_blank=True)


class FollowRequest(serializers.Serializer[Any]):
    link = serializers.CharField(max_length=200)


class FollowReply(serializers.Serializer[Any]):
    handoff = serializers.CharField()
    run_url = serializers.CharField()


class HandoffReply(serializers.Serializer[Any]):
    handoff = serializers.CharField()


class EntryView(AuditedView):
    """No cookies and no account: what a caller may do follows from its bearer alone."""

    authentication_classes = ()
    permission_classes = ()
    content_negotiation_class = AlwaysJson

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        response = super().finalize_response(request, response, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        return response


class TokenView(EntryView):
    """A call with the token of a session."""

    reads_token = True

    def bearer(self, request: Request) -> str:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            raise TokenRefused
        return token.strip()


_NO_WAY = OpenApiResponse(ProblemOut, description="conflict: there is no way back of this kind here, or not yet")
_NOTHING_LEFT = OpenApiResponse(ProblemOut, description="study-refused: nothing is left to do behind this link")
_NOT_FINISHED = OpenApiResponse(ProblemOut, description="conflict: some trials have no answer")


class Open(EntryView):
    reads_code = True

    @extend_schema(
        request=OpenRequest,
        responses={
            201: OpenReply,
            409: OpenApiResponse(NotOpenedReply, description="already-begun, or why somebody cannot take part"),
        },
    )
    def post(self, request: Request, entry: str) -> Response:
        """Open a session after consent, or go on with one that this page proves to be its own."""
        given = OpenRequest(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        campaign = campaign_by_entry(entry)
        if wanted["language"] not in languages():
            raise InvalidRequest(
                "The study is not in this language.", fields={"language": "There is no such language."}
            )
        # A page that could not be submitted at the end is refused before any work is done.
        ticket = _ticket(wanted)
        kind_of(campaign.environment).way_out(Outcome.FINISHED, ticket)
        try:
            entered = enter(
                campaign=campaign,
                arrival=Arrival(
                    consents=wanted["consent"],
                    ticket=ticket,
                    scripted=wanted["simulated"],
                    continue_here=wanted["continueHere"],
                    begin_here=wanted["beginHere"],
                    language=wanted["language"],
                    consent_digest=wanted["consentDigest"],
                    minutes=wanted["minutes"],
                    is_minor=wanted["isMinor"],
                    guardian_agrees=wanted["guardianAgrees"],
                    took_part=wanted["tookPart"],
                    seen_before=wanted["seenBefore"],
                    proof=Proof(opening=wanted["opening"], secret=wanted["secret"], confirmed=wanted["confirmed"]),
                    shared_computer=wanted["sharedComputer"],
                    caller=caller_of(request),
                ),
            )
        except GoOnRefused as error:
            return _begun(error)
        except ApplicationError as error:
            return _turned_away(campaign, error, ticket)
        reply = {
            "token": entered.token,
            "handoff": entered.handoff,
            "status_url": reverse("participation:run-status"),
            "run_url": run_address(campaign),
        }
        return Response(reply, status=status.HTTP_201_CREATED)


def _begun(error: GoOnRefused) -> Response:
    """The refusal, with what the right browser can confirm."""
    body = problem_body(error.problem, gettext(error.message))
    body["begin_here"] = error.may_begin_here
    if error.request is not None:
        body["resume"] = dataclasses.asdict(error.request)
    return Response(body, status=error.status_code, content_type=MEDIA_TYPE)


def _turned_away(campaign: Campaign, error: ApplicationError, ticket: Ticket) -> Response:
    """The refusal, with the way back to the site that has sent the person; raised again where there is none."""
    terms, outcome = campaign.site, outcome_of_refusal(error)
    if terms is None or outcome is None:
        raise error
    back = turn_away(campaign=campaign, terms=terms, outcome=outcome, ticket=ticket)
    body = problem_body(error.problem, gettext(error.message)) | {"way_out": _way_out(outcome, back)}
    return Response(body, status=error.status_code, content_type=MEDIA_TYPE)


def _ticket(wanted: Mapping[str, Any]) -> Ticket:
    """The ids with which a page was opened: they came with its address, and prove nothing."""
    return Ticket(
        person=wanted["workerId"], submission=wanted["assignmentId"], return_to=wanted.get("turkSubmitTo", "")
    )


def _way_out(outcome: Outcome, back: WayOut) -> dict[str, str]:
    """A way back as pages read it."""
    match back:
        case Redirect():
            kind, address, code = "redirect", back.address, back.code
        case Code():
            kind, address, code = "code", "", back.code
        case GiveBack():
            kind, address, code = "return", "", ""
        case Late():
            kind, address, code = "late", "", ""
        case _:
            kind, address, code = "nothing", "", ""
    return {"outcome": outcome, "kind": kind, "address": address, "code": code}


class Decline(EntryView):
    is_bounded = True

    @extend_schema(request=DeclineRequest, responses={200: WayOutReply, 409: _NO_WAY})
    def post(self, request: Request, entry: str) -> Response:
        """The way back of somebody who does not take part. Only their number is kept."""
        given = DeclineRequest(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        outcome = Outcome(wanted["outcome"])
        campaign = campaign_by_entry(entry)
        back = decline(campaign=campaign, outcome=outcome, ticket=_ticket(wanted), caller=caller_of(request))
        return Response(_way_out(outcome, back))


class GoBack(TokenView):
    @extend_schema(request=None, responses={200: WayOutReply, 409: _NO_WAY})
    def post(self, request: Request, entry: str) -> Response:
        """The way back of somebody whose session has ended; before that there is none."""
        campaign = campaign_by_entry(entry)
        found = way_out_of(campaign=campaign, token=self.bearer(request))
        if found is None:
            raise Conflict("The way back opens when your part has ended.")
        return Response(_way_out(*found))


class Claim(EntryView):
    reads_code = True

    @extend_schema(request=ClaimRequest, responses={200: ClaimReply})
    def post(self, request: Request, entry: str) -> Response:
        """Whether the study's window has agreed that this page goes on."""
        given = ClaimRequest(data=request.data)
        given.is_valid(raise_exception=True)
        return Response({"confirmed": is_confirmed(claim=given.validated_data["claim"])})


class Confirm(EntryView):
    reads_code = True

    @extend_schema(request=ConfirmRequest, responses={200: ConfirmedReply})
    def post(self, request: Request) -> Response:
        """The study's window, which holds the secret, agrees that the page that asks goes on; it goes on itself."""
        given = ConfirmRequest(data=request.data)
        given.is_valid(raise_exception=True)
        session = confirm(**given.validated_data)
        return Response({"token": issue_token(session=session)})


class Deletion(TokenView):
    @extend_schema(request=None, responses={200: DeletionReply})
    def post(self, request: Request) -> Response:
        """With what somebody who came without an id can have the answers deleted; empty for everybody else."""
        return Response({"code": code_for(token=self.bearer(request))})


class Follow(EntryView):
    reads_code = True

    @extend_schema(request=FollowRequest, responses={200: FollowReply, 409: _NOTHING_LEFT})
    def post(self, request: Request, entry: str) -> Response:
        """Go on by a personal link."""
        given = FollowRequest(data=request.data)
        given.is_valid(raise_exception=True)
        campaign = campaign_by_entry(entry)
        handoff = follow(campaign=campaign, link=given.validated_data["link"])
        return Response({"handoff": handoff, "run_url": run_address(campaign)})


class Handoff(TokenView):
    @extend_schema(request=None, responses={200: HandoffReply})
    def post(self, request: Request, entry: str) -> Response:
        """A fresh one-time code for the window of the study."""
        campaign = campaign_by_entry(entry)
        return Response({"handoff": new_handoff(campaign=campaign, token=self.bearer(request))})


class Finish(TokenView):
    @extend_schema(request=None, responses={204: None, 409: _NOT_FINISHED})
    def post(self, request: Request, entry: str) -> Response:
        """A plain link has no recruiter to submit to: who has finished says so here."""
        campaign = campaign_by_entry(entry)
        finish_link(campaign=campaign, token=self.bearer(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
