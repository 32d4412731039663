"""The participant's API: one session, its pictures one block at a time, every answer stored the moment it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from django.http import HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from humanexp.core.api.problems import ProblemOut
from humanexp.core.errors import InvalidRequest, NotFound
from humanexp.participation import previews
from humanexp.participation.answering import check_lease, check_rate, record
from humanexp.participation.answers import mask_png
from humanexp.participation.api.backends import (
    PREVIEWED,
    STORED,
    AuditedView,
    HoldsToken,
    PreviewTokenAuthentication,
    SessionTokenAuthentication,
    Sittings,
)
from humanexp.participation.api.serializers import (
    ClosingIn,
    CompleteIn,
    CompletionOut,
    HandoffIn,
    LeaseIn,
    LeaseOut,
    LookOut,
    QuestionOut,
    ResponseIn,
    ResponseOut,
    SessionOut,
    SetUpIn,
    StateOut,
    StatusOut,
    TokenOut,
    WithdrawIn,
)
from humanexp.participation.models import RefusalReason, Session, SessionState
from humanexp.participation.places import protocol_of, seconds_left
from humanexp.participation.presentation import Course, PlannedTrial
from humanexp.participation.sessions import PreviewClaim, SessionClaim
from humanexp.participation.set_ups import offered_window_ms, steps_of
from humanexp.studies.facts import minutes_left, own_words_of, round_seconds
from humanexp.studies.tasks import answers_of

_LEASE = OpenApiParameter(
    "X-Lease", str, OpenApiParameter.HEADER, required=True, description="the lease that this tab has taken"
)
_CONFLICT = OpenApiResponse(ProblemOut, description="lease-lost, out-of-order, session-closed or conflict")
_DAMAGED = OpenApiResponse(
    ProblemOut,
    description="picture-damaged: its file is not what was made, and nothing is shown; files-away: try again soon",
)
_TOO_WIDE = OpenApiResponse(ProblemOut, description="invalid: too many trials at once, or none")
_PICTURE = {(200, "image/png"): OpenApiTypes.BINARY, 409: _CONFLICT, 503: _DAMAGED}
_PICTURES = {(200, "application/octet-stream"): OpenApiTypes.BINARY, 409: _CONFLICT, 422: _TOO_WIDE, 503: _DAMAGED}
#: Trials whose pictures one call may ask for: about a megabyte.
TRIALS_AT_ONCE = 8


def _kind(request: Request) -> str:
    return request.content_type.partition(";")[0].strip().lower()


class AlwaysJson(BaseContentNegotiation):
    """Replies are JSON whatever is asked for; a page that prefers pictures gets its refusals readable, too."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return next((parser for parser in parsers if _kind(request) == parser.media_type), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return JSONRenderer(), JSONRenderer.media_type


class RunView(AuditedView):
    """A call with a session's token; its replies are kept by no cache."""

    authentication_classes = [SessionTokenAuthentication]
    permission_classes = [HoldsToken]
    content_negotiation_class = AlwaysJson
    #: whose calls these are: participants', or those of a preview
    sittings: Sittings = STORED

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if isinstance(request.auth, SessionClaim):
            check_rate(claim=request.auth)

    @property
    def claim(self) -> SessionClaim:
        return cast(SessionClaim, self.request.auth)

    @property
    def lease(self) -> str:
        return self.request.headers.get("X-Lease", "")


class HandoffView(RunView):
    authentication_classes = []
    permission_classes = []
    reads_code = True

    @extend_schema(request=HandoffIn, responses={200: TokenOut})
    def post(self, request: Request) -> Response:
        """Exchange a one-time code (60 s) for a bearer token, and for what gets one again when this window is gone."""
        given = valid(HandoffIn, request)
        exchanged = self.sittings.exchange_handoff(code=given["code"])
        kept = {"name": exchanged.keep_as, "secret": exchanged.resume_secret} if exchanged.keep_as else None
        return Response({"token": exchanged.token, "resume": kept})


class LookView(RunView):
    authentication_classes = []
    permission_classes = []
    reads_code = True

    @extend_schema(request=HandoffIn, responses={200: LookOut})
    def post(self, request: Request) -> Response:
        """What a one-time code opens, without using it up: a phone asks before it is refused."""
        given = valid(HandoffIn, request)
        return Response({"tasks": self.sittings.look_behind(code=given["code"])})


class SessionView(RunView):
    @extend_schema(responses={200: SessionOut, 409: _CONFLICT})
    def get(self, request: Request) -> Response:
        """What the page needs to know before the first picture."""
        session = self.sittings.session_of(self.claim)
        if self.lease:
            check_lease(session, self.lease)
        return Response(_session_out(session))


class LeaseView(RunView):
    @extend_schema(request=LeaseIn, responses={200: LeaseOut, 409: _CONFLICT})
    def post(self, request: Request) -> Response:
        """Make this tab the owner of the session."""
        given = valid(LeaseIn, request)
        return Response({"lease": self.sittings.take_lease(claim=self.claim, lease=given["lease"])})


class PicturesView(RunView):
    @extend_schema(parameters=[_LEASE], responses=_PICTURES)
    def get(self, request: Request, first: int, last: int) -> HttpResponse:
        """The pictures of up to eight unanswered trials of the present block, one after another.

        Of each trial in turn: its showings, then its mask where it has one. `Picture-Lengths` gives the bytes of each.
        Where trials offer some of the labels only, `Trial-Options` gives theirs, in the order shown: places in the
        session's `choices`, separated by blanks, and trials by commas.
        A page far away waits for a few replies instead of a hundred, and the server answers a few calls.
        """
        positions = range(first, last + 1)
        if not 1 <= last + 1 - first <= TRIALS_AT_ONCE:
            raise InvalidRequest(f"Ask for 1 to {TRIALS_AT_ONCE} trials at once, the first one first.")
        course, trials = self.sittings.picture_trials(claim=self.claim, lease=self.lease, positions=positions)
        shown = self.sittings.show(claim=self.claim, trials=trials)
        pictures = [part for trial, one in zip(trials, shown, strict=True) for part in _parts(course, trial, one)]
        self.sittings.note_fetched(claim=self.claim, positions=positions)
        response = HttpResponse(b"".join(pictures), content_type="application/octet-stream")
        response["Picture-Lengths"] = ",".join(str(len(picture)) for picture in pictures)
        return _with_options(response, course, trials)


class StimulusView(RunView):
    @extend_schema(parameters=[_LEASE], responses=_PICTURE)
    def get(self, request: Request, position: int, showing: int) -> HttpResponse:
        """A picture of an unanswered trial of the present block; `showing` 1 is the second one of a pair."""
        course, (trial,) = self.sittings.picture_trials(claim=self.claim, lease=self.lease, positions=[position])
        if showing >= len(trial.pictures):
            raise NotFound
        (stimuli,) = self.sittings.show(claim=self.claim, trials=[trial])
        if showing == len(trial.pictures) - 1:
            self.sittings.note_fetched(claim=self.claim, positions=[position])
        return _with_options(HttpResponse(stimuli[showing], content_type="image/png"), course, [trial])


class MaskView(RunView):
    @extend_schema(parameters=[_LEASE], responses=_PICTURE)
    def get(self, request: Request, position: int) -> HttpResponse:
        """The noise that follows the pictures of an unanswered trial of the present block."""
        course, (trial,) = self.sittings.picture_trials(claim=self.claim, lease=self.lease, positions=[position])
        if course.protocol is None or not trial.task.is_timed:
            raise NotFound
        return HttpResponse(mask_png(seed=trial.mask_seed, protocol=course.protocol), content_type="image/png")


class QuestionView(RunView):
    @extend_schema(
        parameters=[_LEASE],
        responses={
            200: QuestionOut,
            404: OpenApiResponse(
                ProblemOut, description="not-found: this trial has no question of its own, or not now"
            ),
            409: _CONFLICT,
        },
    )
    def get(self, request: Request, position: int) -> Response:
        """What is asked of an unanswered trial of the present block, in tasks that ask of every picture anew."""
        course, (trial,) = self.sittings.picture_trials(claim=self.claim, lease=self.lease, positions=[position])
        if trial.task.ask is None:
            raise NotFound
        return Response(trial.task.ask(trial.wanted, course.configuration, course.space))


class SetUpView(RunView):
    @extend_schema(request=SetUpIn, parameters=[_LEASE], responses={200: StateOut, 409: _CONFLICT})
    def post(self, request: Request) -> Response:
        """What was measured and asked before practice; once more, the latest counts."""
        self.sittings.store_set_up(claim=self.claim, lease=self.lease, given=valid(SetUpIn, request))
        return Response({"state": SessionState.OPEN})


class ResponsesView(RunView):
    @extend_schema(
        request=ResponseIn,
        parameters=[_LEASE],
        responses={
            201: ResponseOut,
            200: OpenApiResponse(ResponseOut, description="stored before"),
            404: OpenApiResponse(ProblemOut, description="not-found: the session has no such trial"),
            409: _CONFLICT,
            503: OpenApiResponse(ProblemOut, description="picture-damaged: this session was not shown the picture"),
        },
    )
    def post(self, request: Request) -> Response:
        """Store the answer to the next trial. The same position again changes nothing: the stored answer wins."""
        given: dict[str, Any] = _RESPONSE_IN.run_validation(request.data)
        stored = self.sittings.store_response(claim=self.claim, lease=self.lease, **given)
        if stored.response != given["response"]:
            record(reason=RefusalReason.ALTERED, **self.caller())
        reply: dict[str, Any] = {"position": stored.position, "cursor": stored.cursor}
        if stored.has_feedback:
            reply["feedback"] = {"correct": stored.correct, "category": stored.correct_response}
        return Response(reply, status=201 if stored.is_new else 200)


class CompleteView(RunView):
    @extend_schema(request=CompleteIn, parameters=[_LEASE], responses={200: CompletionOut, 409: _CONFLICT})
    def post(self, request: Request) -> Response:
        """Close the session once every trial is answered; repeated, the answer is the same."""
        given = valid(CompleteIn, request)
        session = self.sittings.complete(claim=self.claim, lease=self.lease, environment=given["environment"])
        return Response(
            {
                "state": session.state,
                **self.sittings.proofs(session),
                "qualified": session.qualified is not False,
                "practised": session.practised is not False,
                "debrief": session.study.configuration.get("debrief", ""),
                "closing": self.sittings.open_questions(session),
                "own_result": _own_result(self.sittings.own_result(session)),
            }
        )


class ClosingView(RunView):
    @extend_schema(request=ClosingIn, parameters=[_LEASE], responses={200: StateOut, 409: _CONFLICT})
    def post(self, request: Request) -> Response:
        """What the participant says after the last trial, if anything; asked again, the first time counts."""
        self.sittings.store_closing_answers(claim=self.claim, lease=self.lease, given=valid(ClosingIn, request))
        return Response({"state": SessionState.COMPLETED})


class WithdrawView(RunView):
    @extend_schema(request=WithdrawIn, responses={200: StateOut, 409: _CONFLICT})
    def post(self, request: Request) -> Response:
        """Stop and leave; the answers so far stay, or no analysis has them and they are erased. Needs no lease."""
        said = valid(WithdrawIn, request)
        session = self.sittings.leave_session(
            claim=self.claim, keeps_answers=said["keep"], for_time=said["reason"] == "time"
        )
        return Response({"state": session.told_state})


class StatusView(RunView):
    @extend_schema(responses={200: StatusOut})
    def get(self, request: Request) -> Response:
        """How far the session is; needs no lease, so that the page that opened it can ask."""
        session = self.sittings.session_of(self.claim)
        progress = {"state": session.told_state, "cursor": session.cursor, "total": session.total}
        more = {"closing": self.sittings.closing_of(session), "session_code": session.code}
        return Response({**progress, **more, **self.sittings.proofs(session)})


#: Made once: making its thirty fields anew takes longer than all else about an answer. It keeps nothing of a call.
_RESPONSE_IN = ResponseIn()


def _parts(course: Course, trial: PlannedTrial, stimuli: Sequence[bytes]) -> Iterator[bytes]:
    yield from stimuli
    if course.protocol is not None and course.protocol.mask_ms > 0 and trial.task.is_timed:
        yield mask_png(seed=trial.mask_seed, protocol=course.protocol)


def _with_options(response: HttpResponse, course: Course, trials: Sequence[PlannedTrial]) -> HttpResponse:
    """With what each of these trials offers, where that is less than all labels."""
    offered = [course.own_options(trial) for trial in trials]
    if any(offered):
        response["Trial-Options"] = ",".join(" ".join(map(str, places)) for places in offered)
    return response


def valid(serializer_class: type[Any], request: Request) -> dict[str, Any]:
    serializer = serializer_class(data=request.data)
    serializer.is_valid(raise_exception=True)
    validated: dict[str, Any] = serializer.validated_data
    return validated


def _own_result(said: str) -> str:
    """The address of the participant's own result."""
    return f"{reverse('participation:own-result')}?{urlencode({'of': said})}" if said else ""


def _session_out(session: Session) -> dict[str, Any]:
    tasks = dict.fromkeys(block["task"] for block in session.blocks)
    protocol = protocol_of(session)
    return {
        "state": session.told_state,
        "session_code": session.code,
        "study_title": session.study.title,
        "cursor": session.cursor,
        "total": session.total,
        "slow_down": session.slow_down_at == session.cursor,
        "minutes_left": minutes_left(session.blocks, protocol, cursor=session.cursor),
        "round_s": round_seconds(session.blocks, protocol, cursor=session.cursor),
        "due_in_s": seconds_left(session),
        "set_up": steps_of(session.study),
        "longer_window_ms": offered_window_ms(session.study),
        "protocol": protocol.to_dict(),
        **answers_of(session.study, tasks, session.grid_order),
        **own_words_of(session.study),
        "blocks": session.blocks,
    }


class SkipIn(serializers.Serializer[Any]):
    to = serializers.ChoiceField(["block", "main"])


class SkipView(RunView):
    """No such call exists for sessions."""

    def post(self, request: Request) -> Response:
        """Go on at the next block, or past practice and qualification."""
        given = valid(SkipIn, request)
        claim = cast(PreviewClaim, request.auth)
        return Response({"cursor": previews.skip(claim=claim, lease=self.lease, to=given["to"])})


def _call(address: str, view: type[RunView], *, is_open: bool = False) -> URLPattern:
    """A view of the participant API that reads and writes previews; left out of the API's description."""
    proof: dict[str, Any] = {} if is_open else {"authentication_classes": [PreviewTokenAuthentication]}
    name = f"preview-{view.__name__.removesuffix('View').lower()}"
    return path(f"api/v1/preview/{address}", view.as_view(sittings=PREVIEWED, schema=None, **proof), name=name)


#: The same calls for previews, with tokens of their own, on what is stored nowhere.
PREVIEW_CALLS = [
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
