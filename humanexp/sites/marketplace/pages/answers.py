"""The worker site answers in HTML, or in JSON to whoever prefers it: scripted workers read the same facts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from humanexp.sites.controls import site_url
from humanexp.sites.marketplace.errors import NotFound, WorkRefused
from humanexp.sites.marketplace.models.accounts import Worker
from humanexp.sites.marketplace.models.assignments import Assignment
from humanexp.sites.marketplace.models.hits import HIT, HITType
from humanexp.sites.marketplace.question import frame_url
from humanexp.sites.marketplace.visitors import wants_json, worker_of

Arguments = ParamSpec("Arguments")


def worker_required(
    view: Callable[Concatenate[HttpRequest, Worker, Arguments], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Pass the worker on; others are asked to log in."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Arguments.args, **kwargs: Arguments.kwargs) -> HttpResponseBase:
        worker = worker_of(request)
        if worker is not None:
            return view(request, worker, *args, **kwargs)
        if wants_json(request):
            return problem("not-signed-in", "Not signed in", "Log in first: POST /login/ or /signup/.", status=401)
        return redirect_to_login(request.get_full_path() if request.method == "GET" else "/")

    return guarded


def problem(kind: str, title: str, detail: str, *, status: int, **more: Any) -> JsonResponse:
    """A refusal as problem JSON."""
    body = {"type": kind, "title": title, "detail": detail, **more}
    return JsonResponse(body, status=status, content_type="application/problem+json")


def work_url(request: HttpRequest, hit: HIT) -> str:
    """Where the work of a HIT lies: at the requester's address, or here."""
    return hit.external_url or f"{site_url(request)}{reverse('content', args=[hit.hit_id])}"


def assignment_frame_url(request: HttpRequest, assignment: Assignment) -> str:
    return frame_url(
        work_url(request, assignment.hit),
        hit_id=assignment.hit.hit_id,
        submit_to=site_url(request),
        assignment_id=assignment.assignment_id,
        worker_id=assignment.worker.worker_id,
    )


def assignment_json(request: HttpRequest, assignment: Assignment) -> dict[str, Any]:
    """What a scripted worker needs to do accepted work."""
    hit_type: HITType = assignment.hit.hit_type
    return {
        "assignment_id": assignment.assignment_id,
        "hit_id": assignment.hit.hit_id,
        "hit_type_id": hit_type.hit_type_id,
        "worker_id": assignment.worker.worker_id,
        "title": hit_type.title,
        "reward_cents": assignment.reward_cents,
        "accepted_at": assignment.accepted_at.isoformat(),
        "deadline_at": assignment.deadline_at.isoformat(),
        "frame_url": assignment_frame_url(request, assignment),
        "submit_url": f"{site_url(request)}/mturk/externalSubmit",
        "work_url": f"/work/{assignment.assignment_id}/",
        "return_url": f"/work/{assignment.assignment_id}/return/",
    }


def html_or_json(request: HttpRequest, html: Callable[[], HttpResponse], body: dict[str, Any]) -> HttpResponse:
    """The page is drawn only when it is wanted."""
    response = JsonResponse(body) if wants_json(request) else html()
    response["Vary"] = "Accept, Cookie"
    response["Cache-Control"] = "no-store"
    return response


def refusal(request: HttpRequest, err: WorkRefused, *, in_frame: bool = False) -> HttpResponse:
    """What cannot be done, why, and where to go on."""
    if wants_json(request):
        return problem(err.kind, err.title, err.message, status=err.status)
    page = {"title": err.title, "detail": err.message, "in_frame": in_frame}
    return render(request, "marketplace/refusal.html", page, status=err.status)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    if wants_json(request):
        return problem("csrf", "No or wrong CSRF token", reason, status=403)
    detail = _("This form was open too long, or cookies are switched off. Go back, reload the page and send it again.")
    page = {"title": _("Please send it again"), "detail": detail}
    return render(request, "marketplace/refusal.html", page, status=403)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refusal(request, NotFound(_("The address may be mistyped, or the work behind it has ended.")))


def site(request: HttpRequest) -> dict[str, Any]:
    """What every page shows: the site's name, and who is signed in."""
    return {
        "site_name": settings.MARKETPLACE_NAME,
        "worker": worker_of(request),
        "sign_up": settings.MARKETPLACE_SIGN_UP,
        "test_controls": settings.MARKETPLACE_TEST_CONTROLS,
    }
