"""Which practice person a browser plays. There are no passwords: nothing here belongs to anybody."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from humanexp.addresses import is_from_this_machine
from humanexp.sites.panel.models.people import Participant
from humanexp.sites.panel.models.switches import now as panel_now
from humanexp.sites.panel.services.progress import catch_up

Arguments = ParamSpec("Arguments")
_PLAYED = "participant"


def controls_are_open(request: HttpRequest) -> bool:
    return settings.PANEL_OPEN_TO_OTHERS or is_from_this_machine(request)


def played(request: HttpRequest) -> Participant | None:
    return Participant.objects.filter(participant_id=request.session.get(_PLAYED, "")).first()


def play(request: HttpRequest, participant: Participant) -> None:
    request.session[_PLAYED] = participant.participant_id


def as_participant(
    view: Callable[Concatenate[HttpRequest, Participant, Arguments], HttpResponse],
) -> Callable[..., HttpResponse]:
    """A page of the person that this browser plays, in one transaction; others choose a person first."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Arguments.args, **kwargs: Arguments.kwargs) -> HttpResponse:
        person = played(request)
        if person is None:
            return redirect("people")
        catch_up(panel_now())
        with transaction.atomic():
            return view(request, person, *args, **kwargs)

    return guarded


def visitor(request: HttpRequest) -> dict[str, Any]:
    """What every page shows."""
    return {"person": played(request), "controls_are_open": controls_are_open(request)}
