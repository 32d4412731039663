"""The list of work, the preview, a worker's own work, and the frame that shows it and takes its form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_replace, csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt, ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from humanexp.sites.controls import cut_connection, site_url
from humanexp.sites.marketplace import assignments, clock
from humanexp.sites.marketplace.assignments import (
    Group,
    SentFile,
    groups_for,
    hit_by_id,
    hit_type_by_group,
    hit_type_by_id,
    submit,
    takeable_hits,
)
from humanexp.sites.marketplace.errors import AnswersRefused, MarketplaceError, NotFound, NothingAvailable, WorkRefused
from humanexp.sites.marketplace.faults import EXTERNAL_SUBMIT, FaultKind, fault_after, take
from humanexp.sites.marketplace.models.people import Worker
from humanexp.sites.marketplace.models.work import HIT
from humanexp.sites.marketplace.pages.answers import (
    assignment_frame_url,
    assignment_json,
    html_or_json,
    refusal,
    wants_json,
    work_url,
    worker_of,
    worker_required,
)
from humanexp.sites.marketplace.qualifications import profile_of
from humanexp.sites.marketplace.question import NO_ASSIGNMENT, HTMLQuestion, frame_url, read_question
from humanexp.sites.marketplace.question_form import QuestionForm
from humanexp.sites.marketplace.requirements import Action, require, unmet
from humanexp.sites.marketplace.states import AssignmentState
from humanexp.sites.marketplace.work import hit_of_assignment, own_assignment, upload_behind, work_in_hand

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


@xframe_options_sameorigin
@require_safe
def content(request: HttpRequest, hit_id: str) -> HttpResponse:
    """The page of a HIT whose question is no address."""
    hit = hit_by_id(hit_id, clock.now())
    _require_shown(request, hit)
    question = read_question(hit.question)
    if isinstance(question, HTMLQuestion):
        response: HttpResponse = _html(request, question)
        return response
    if isinstance(question, QuestionForm):
        response = _form(request, hit, question)
        return response
    raise NotFound


def _require_shown(request: HttpRequest, hit: HIT) -> None:
    """Work in hand is shown; a preview to whoever may see it."""
    worker, assignment_id = worker_of(request), request.GET.get("assignmentId", NO_ASSIGNMENT)
    if worker is not None and assignment_id != NO_ASSIGNMENT:
        if own_assignment(worker, assignment_id).hit_id != hit.pk:
            raise NotFound
        return
    require(hit.hit_type.requirements, profile_of(worker, clock.now()), Action.PREVIEW)


@csp_replace(
    {
        # Somebody else's page: it may run what it likes in an origin of its own, where it reaches nothing of ours.
        "default-src": ["https:", "data:", "blob:", SELF, UNSAFE_INLINE, UNSAFE_EVAL],
        "img-src": ["https:", "data:", "blob:"],
        "form-action": [SELF],
        "frame-ancestors": [SELF],
        "sandbox": ["allow-scripts", "allow-forms", "allow-modals", "allow-popups", "allow-downloads"],
    }
)  # type: ignore[untyped-decorator]
def _html(request: HttpRequest, question: HTMLQuestion) -> HttpResponse:
    own = site_url(request)
    page = question.page(submit_to=own, script_url=f"{own}{static('marketplace/external_hit.js')}")
    return HttpResponse(page)


@csp_update({"img-src": ["https:"]})  # type: ignore[untyped-decorator]
@csp_replace({"frame-ancestors": [SELF]})  # type: ignore[untyped-decorator]
def _form(request: HttpRequest, hit: HIT, question: QuestionForm) -> HttpResponse:
    return form_page(request, hit, question, request.GET.get("assignmentId", NO_ASSIGNMENT))


def form_page(
    request: HttpRequest,
    hit: HIT,
    question: QuestionForm,
    assignment_id: str,
    fields: Mapping[str, Sequence[str]] | None = None,
    refused: AnswersRefused | None = None,
) -> HttpResponse:
    """The form; after a refusal with the answers as they were sent, files excepted."""
    page = {
        "hit": hit,
        "parts": question.shown(fields, refused.problems if refused else None),
        "assignment_id": assignment_id,
        "can_submit": assignment_id != NO_ASSIGNMENT,
        "refused": refused,
    }
    return render(request, "marketplace/question_form.html", page, status=refused.status if refused else 200)


@require_safe
def upload(request: HttpRequest, token: str) -> HttpResponse:
    """A file, to be saved and never shown: workers send what they like."""
    found = upload_behind(token)
    response = HttpResponse(bytes(found.content), content_type="application/octet-stream")
    response["Content-Disposition"] = "attachment"
    response["Cache-Control"] = "no-store"
    return response


@csrf_exempt  # the form comes from the requester's page; the unguessable assignmentId says whose work it is
@csp_update({"img-src": ["https:"]})  # type: ignore[untyped-decorator]  # pictures of a form that is shown again
@csp_replace({"frame-ancestors": [SELF]})  # type: ignore[untyped-decorator]
@xframe_options_sameorigin
@require_POST
def external_submit(request: HttpRequest) -> HttpResponse:
    """Store the fields of the form as the assignment's answer. Sent twice, it is stored once and answered alike."""
    fault = take(EXTERNAL_SUBMIT)
    kind = fault.kind if fault else None
    if kind is FaultKind.DROP_BEFORE:
        return cut_connection(HttpResponse())
    if kind in (FaultKind.THROTTLE, FaultKind.SERVICE_FAULT):
        return HttpResponse("Service unavailable", status=503, content_type="text/plain")
    try:
        response = _stored(request)
    except AnswersRefused as err:
        response = refusal(request, err, in_frame=True) if wants_json(request) else _form_again(request, err)
    except WorkRefused as err:
        response = refusal(request, err, in_frame=True)
    return fault_after(fault, response)


def _stored(request: HttpRequest) -> HttpResponse:
    assignment = submit(
        assignment_id=request.POST.get("assignmentId", ""),
        fields=_fields(request),
        files=_files(request),
        now=clock.now(),
    )
    if assignment.submitted_at is None:
        raise MarketplaceError("A stored submission has no time.")
    body = {
        "assignment_id": assignment.assignment_id,
        "state": "Submitted",
        "submitted_at": assignment.submitted_at.isoformat(),
    }
    page = {"assignment": assignment, "hit": assignment.hit}
    return html_or_json(request, lambda: render(request, "marketplace/submitted.html", page), body)


def _fields(request: HttpRequest) -> dict[str, list[str]]:
    return {name: [str(value) for value in values] for name, values in request.POST.lists()}


def _form_again(request: HttpRequest, refused: AnswersRefused) -> HttpResponse:
    assignment_id = request.POST["assignmentId"]
    hit = hit_of_assignment(assignment_id)
    form = QuestionForm.from_xml(hit.question)
    return form_page(request, hit, form, assignment_id, _fields(request), refused)


def _files(request: HttpRequest) -> dict[str, SentFile]:
    """By name; a field that was left empty has none."""
    return {
        name: SentFile(name=(sent.name or "")[:255], content=sent.read())
        for name, sent in request.FILES.items()
        if not isinstance(sent, list) and sent.size
    }
