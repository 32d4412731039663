"""The list of work, the preview, and a worker's own work."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from humanexp.sites.controls import site_url
from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.errors import NothingAvailable
from humanexp.sites.marketplace.models.accounts import Worker
from humanexp.sites.marketplace.models.hits import HIT
from humanexp.sites.marketplace.pages.answers import (
    assignment_frame_url,
    assignment_json,
    html_or_json,
    work_url,
    worker_required,
)
from humanexp.sites.marketplace.question import frame_url
from humanexp.sites.marketplace.requirements import Action, require, unmet
from humanexp.sites.marketplace.selectors.groups import (
    Group,
    groups_for,
    hit_by_id,
    hit_type_by_group,
    hit_type_by_id,
    takeable_hits,
)
from humanexp.sites.marketplace.selectors.own_work import own_assignment, work_in_hand
from humanexp.sites.marketplace.selectors.qualifications import profile_of
from humanexp.sites.marketplace.services import assignments
from humanexp.sites.marketplace.states import AssignmentState
from humanexp.sites.marketplace.visitors import wants_json, worker_of

_ORDERS = ("reward", "hour")


@ensure_csrf_cookie
@require_safe
def groups(request: HttpRequest) -> HttpResponse:
    """What this visitor could take, newest first, after what is in hand."""
    worker, now = worker_of(request), clock.now()
    order = request.GET.get("order", "")
    listed = groups_for(worker, now, order)
    in_hand = list(work_in_hand(worker, now)) if worker else []
    body = {
        "worker_id": worker.worker_id if worker else None,
        "groups": [_group_json(group) for group in listed],
        "in_hand": [assignment_json(request, assignment) for assignment in in_hand],
    }
    page = {"groups": listed, "in_hand": in_hand, "now": now, "order": order if order in _ORDERS else ""}
    return html_or_json(request, lambda: render(request, "marketplace/groups.html", page), body)


@ensure_csrf_cookie
@require_safe
def group(request: HttpRequest, hit_type_id: str) -> HttpResponse:
    """Preview of the group's next HIT."""
    worker, now = worker_of(request), clock.now()
    hit_type = hit_type_by_id(hit_type_id)
    require(hit_type.requirements, profile_of(worker, now), Action.DISCOVER)
    if worker is not None:
        in_hand = work_in_hand(worker, now).filter(hit__hit_type=hit_type).first()
        if in_hand is not None and not wants_json(request):
            return redirect("work", assignment_id=in_hand.assignment_id)
    hit = takeable_hits(worker, now).filter(hit_type=hit_type).order_by("pk").first()
    if hit is None:
        raise NothingAvailable
    return _preview(request, worker, hit, accept_url=f"/groups/{hit_type_id}/accept/")


@ensure_csrf_cookie
@require_safe
def hit(request: HttpRequest, hit_id: str) -> HttpResponse:
    """Preview of one HIT."""
    worker, now = worker_of(request), clock.now()
    found = hit_by_id(hit_id, now)
    require(found.hit_type.requirements, profile_of(worker, now), Action.DISCOVER)
    if not takeable_hits(worker, now).filter(pk=found.pk).exists():
        raise NothingAvailable
    return _preview(request, worker, found, accept_url=f"/hits/{hit_id}/accept/")


def _preview(request: HttpRequest, worker: Worker | None, shown: HIT, *, accept_url: str) -> HttpResponse:
    profile = profile_of(worker, clock.now())
    require(shown.hit_type.requirements, profile, Action.PREVIEW)
    address = frame_url(work_url(request, shown), hit_id=shown.hit_id, submit_to=site_url(request))
    can_accept = not unmet(shown.hit_type.requirements, profile, Action.ACCEPT)
    body = {
        "hit_id": shown.hit_id,
        "hit_type_id": shown.hit_type.hit_type_id,
        "title": shown.hit_type.title,
        "reward_cents": shown.hit_type.reward_cents,
        "frame_url": address,
        "accept_url": accept_url,
        "can_accept": can_accept,
    }
    page = {**body, "hit": shown}
    return html_or_json(request, lambda: render(request, "marketplace/preview.html", page), body)


@require_safe
def mturk_group(request: HttpRequest, group_id: str = "") -> HttpResponse:
    """The real site's older and newer address of a group, so that a link written for it works here."""
    named = hit_type_by_group(group_id or request.GET.get("groupId", ""))
    return redirect("group", hit_type_id=named.hit_type_id)


@require_POST
@worker_required
def accept_from_group(request: HttpRequest, worker: Worker, hit_type_id: str) -> HttpResponse:
    accepted = assignments.accept_from_group(worker=worker, hit_type=hit_type_by_id(hit_type_id), now=clock.now())
    return _to_work(request, worker, accepted.assignment_id)


@require_POST
@worker_required
def accept_hit(request: HttpRequest, worker: Worker, hit_id: str) -> HttpResponse:
    now = clock.now()
    accepted = assignments.accept(worker=worker, hit=hit_by_id(hit_id, now), now=now)
    return _to_work(request, worker, accepted.assignment_id)


def _to_work(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    assignment = own_assignment(worker, assignment_id)
    return html_or_json(
        request, lambda: redirect("work", assignment_id=assignment_id), assignment_json(request, assignment)
    )


@ensure_csrf_cookie
@require_safe
@worker_required
def work(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    """The frame while the work is open; after that, what became of it."""
    now = clock.now()
    assignment = own_assignment(worker, assignment_id)
    state = assignment.state(now)
    is_open = state is AssignmentState.ACCEPTED
    page = {
        "assignment": assignment,
        "hit": assignment.hit,
        "reward_cents": assignment.reward_cents,
        "state": state,
        "frame_url": assignment_frame_url(request, assignment) if is_open else "",
        "can_take_again": not is_open and takeable_hits(worker, now).filter(pk=assignment.hit_id).exists(),
        "seconds_left": max(0, int((assignment.deadline_at - now).total_seconds())),
    }
    template = "marketplace/work.html" if is_open else "marketplace/work_done.html"
    body = {**assignment_json(request, assignment), "state": str(state), "can_take_again": page["can_take_again"]}
    return html_or_json(request, lambda: render(request, template, page), body)


@require_POST
@worker_required
def return_work(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    now = clock.now()
    returned = assignments.give_back(assignment=own_assignment(worker, assignment_id), now=now)
    body = {"assignment_id": assignment_id, "state": str(returned.state(now))}
    return html_or_json(request, lambda: redirect("work", assignment_id=assignment_id), body)


def _group_json(group: Group) -> dict[str, Any]:
    hit_type = group.hit_type
    return {
        "hit_type_id": hit_type.hit_type_id,
        "group_id": hit_type.group_id,
        "requester": hit_type.requester.name,
        "title": hit_type.title,
        "description": hit_type.description,
        "keywords": hit_type.keywords,
        "reward_cents": hit_type.reward_cents,
        "assignment_duration_seconds": hit_type.assignment_duration_seconds,
        "median_seconds": group.median_seconds,
        "cents_per_hour": group.cents_per_hour,
        "stated_minutes": group.stated_minutes,
        "expires_at": group.expires_at.isoformat(),
        "hits": group.hits,
        "available": group.available,
        "can_preview": group.can_preview,
        "can_accept": group.can_accept,
        "preview_url": f"/groups/{hit_type.hit_type_id}/",
        "accept_url": f"/groups/{hit_type.hit_type_id}/accept/",
    }
