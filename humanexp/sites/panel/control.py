"""/control/: the clock, faults, switches, practice money and scripted people, as a page and as JSON for tests.

There is no token here: only this machine finds it, unless PANEL_OPEN_TO_OTHERS is set.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from typing import Annotated, Any, Literal

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from pydantic import BaseModel, Field, ValidationError

from humanexp.sites.controls import Actions, Clock, Seconds, Shown, by_json, carry_out, fault_actions, visible_to
from humanexp.sites.panel import actions
from humanexp.sites.panel.api.protocol import SPECIFICATION, iso, refused_fields
from humanexp.sites.panel.middleware import ANY_OPERATION, BACK, FAULTS, FaultKind
from humanexp.sites.panel.models import (
    Message,
    Participant,
    Payment,
    Researcher,
    Study,
    Switches,
    Workspace,
    now as panel_now,
)
from humanexp.sites.panel.participants import controls_are_open
from humanexp.sites.panel.progress import catch_up
from humanexp.sites.panel.states import DRAFTS, SubmissionOrder, SubmissionStatus
from humanexp.sites.panel.studies import one
from humanexp.sites.panel.wallet import balance

Share = Annotated[float, Field(ge=0, le=1)]


class NewResearcher(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    balance_cents: Annotated[int, Field(ge=0)] = 100_000
    currency: Literal["GBP", "USD"] = "GBP"
    is_academic: bool = True


class Money(BaseModel):
    workspace_id: str
    amount_cents: Annotated[int, Field(ge=1)]


class NewPeople(BaseModel):
    count: Annotated[int, Field(ge=1, le=10_000)]
    is_scripted: bool = True


class Act(BaseModel):
    study_id: str
    people: Annotated[int, Field(ge=1, le=2_000)]
    until: Literal["RESERVED", "ACTIVE", "AWAITING REVIEW", "RETURNED"] = "AWAITING REVIEW"
    code: str = ""


class Switch(BaseModel):
    """Those that are left out stay as they are; the clock only goes forward, by `Clock`."""

    rejection_reopens: bool | None = None
    stop_awaits_review: bool | None = None
    timed_out_can_be_approved: bool | None = None
    submission_order: SubmissionOrder | None = None
    lists_bonuses: bool | None = None
    least_hourly_cents: Annotated[int, Field(ge=0)] | None = None
    publishing_s: Seconds | None = None
    processing_s: Seconds | None = None
    processing_word: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    approving_s: Seconds | None = None
    settling_s: Seconds | None = None
    late_share: Share | None = None
    lost_share: Share | None = None
    wallet_s: Seconds | None = None
    events_doubled: bool | None = None
    events_shuffled: bool | None = None
    events_delay_s: Seconds | None = None
    seed: int | None = None


def _advance(wanted: Clock) -> dict[str, Any]:
    """Time that passes is lived through: whatever is due in between happens."""
    Switches.advance(wanted.advance_seconds)
    catch_up(panel_now())
    return _time()


def _time() -> dict[str, Any]:
    return {"now": iso(panel_now())}


def _switch(wanted: BaseModel) -> dict[str, Any]:
    switches = Switches.current()
    for name, value in wanted.model_dump(exclude_none=True).items():
        setattr(switches, name, value)
    switches.save()
    return _switches()


def _switches() -> dict[str, Any]:
    switches = Switches.current()
    return {name: getattr(switches, name) for name in Switch.model_fields}


def _researcher(wanted: NewResearcher) -> dict[str, Any]:
    return actions.account(actions.make_researcher(**wanted.model_dump()))


def _deposit(wanted: Money) -> dict[str, Any]:
    workspace = one(Workspace.objects.filter(workspace_id=wanted.workspace_id), "workspace")
    actions.deposit(workspace, wanted.amount_cents)
    return {"available_cents": balance(workspace).available}


def _people(wanted: NewPeople) -> dict[str, Any]:
    made = actions.make_people(wanted.count, is_scripted=wanted.is_scripted)
    return {"participant_ids": [person.participant_id for person in made]}


def _act(wanted: Act) -> dict[str, Any]:
    study = one(Study.objects.select_related("project__workspace").filter(study_id=wanted.study_id), "study")
    came = actions.act(study, people=wanted.people, until=wanted.until, code=wanted.code)
    return {
        "submissions": [
            {
                "submission_id": submission.submission_id,
                "participant_id": submission.participant.participant_id,
                "status": submission.status,
            }
            for submission in came
        ]
    }


_ACTIONS: Actions = {
    "clock": (Clock, _advance),
    **fault_actions(FAULTS, kinds=FaultKind, operations=lambda: {*SPECIFICATION, ANY_OPERATION, BACK}),
    "switches": (Switch, _switch),
    "researchers": (NewResearcher, _researcher),
    "deposits": (Money, _deposit),
    "people": (NewPeople, _people),
    "act": (Act, _act),
}


def _guarded(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    @visible_to(controls_are_open)
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        catch_up(panel_now())
        return view(request, *args, **kwargs)

    return guarded


@csrf_exempt
@_guarded
@require_http_methods(["GET", "POST"])
def control(request: HttpRequest, name: str) -> HttpResponse:
    return by_json(request, name, actions=_ACTIONS, shown=_SHOWN)


@_guarded
@require_http_methods(["GET", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        wanted: dict[str, Any] = {name: value for name, value in request.POST.items() if value != ""}
        try:
            carry_out(_ACTIONS, str(wanted.pop("action", "")), wanted)
        except ValidationError as err:
            raise refused_fields(err) from err
        notes.success(request, "Done.")
        return redirect("control")
    workspaces = Workspace.objects.select_related("researcher").order_by("pk")
    shown = {
        "now": panel_now(),
        "accounts": [{"workspace": each, "balance": balance(each)} for each in workspaces],
        "studies": Study.objects.exclude(status__in=DRAFTS).order_by("-pk")[:50],
        "untils": [SubmissionStatus.AWAITING_REVIEW, SubmissionStatus.ACTIVE, SubmissionStatus.RETURNED],
        "switches": _switch_rows(),
        "participants": Participant.objects.count(),
    }
    return render(request, "panel/control.html", shown)


def _switch_rows() -> list[dict[str, Any]]:
    current = _switches()
    return [
        {
            "name": name,
            "value": value,
            "is_flag": isinstance(value, bool),
            "says": re.sub("_s$", " (seconds)", name).replace("_", " "),
        }
        for name, value in current.items()
    ]


def _books() -> dict[str, Any]:
    """What a test compares a client's ledger with."""
    return {
        "workspaces": [
            {"workspace_id": each.workspace_id, "available": balance(each).available, **asdict(balance(each))}
            for each in Workspace.objects.order_by("pk")
        ],
        "payments": [
            {
                "submission_id": payment.submission.submission_id,
                "kind": "bonus" if payment.plan_id else "reward",
                "amount_cents": payment.amount_cents,
                "fee_cents": payment.fee_cents,
                "vat_cents": payment.vat_cents,
                "is_paid": payment.paid_at is not None,
            }
            for payment in Payment.objects.select_related("submission").order_by("pk")
        ],
        "messages": Message.objects.count(),
        "researchers": Researcher.objects.count(),
    }


_SHOWN: Shown = {
    "faults": FAULTS.shown,
    "switches": _switches,
    "books": _books,
    "clock": _time,
}
