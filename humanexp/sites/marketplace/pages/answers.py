"""The worker site's answers, in HTML or JSON as the caller prefers, and what a request says of its caller."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from humanexp.addresses import caller_behind, is_loopback
from humanexp.sites.controls import site_url
from humanexp.sites.marketplace.errors import NotFound, WorkRefused
from humanexp.sites.marketplace.models.people import Worker
from humanexp.sites.marketplace.models.work import HIT, Assignment, HITType
from humanexp.sites.marketplace.question import frame_url

_PER_NAME, _PER_ADDRESS = 10, 100
_SECONDS = 900.0
_MOST_KEYS = 10_000


def address_of(request: HttpRequest) -> str:
    """Who calls: behind a proxy that is trusted, the last address of X-Forwarded-For, which is the one it saw.

    A network of IPv6 is one caller's: it counts as one.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    if getattr(settings, "SECURE_PROXY_SSL_HEADER", None):
        address = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).rpartition(",")[2].strip() or address
    return caller_behind(address)


def wants_json(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def worker_of(request: HttpRequest) -> Worker | None:
    """Whoever is signed in, if it is a worker."""
    user = getattr(request, "user", None)  # a request that is refused early has none
    return getattr(user, "worker", None)


class _Guesses:
    """Wrong passwords are counted, by name and by address, in this process's memory."""

    def __init__(self) -> None:
        self._failures: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def too_many(self, name: str, address: str) -> bool:
        return self._count(f"name {name}") >= _PER_NAME or self._count(f"address {address}") >= _PER_ADDRESS

    def failed(self, name: str, address: str) -> None:
        with self._lock:
            if len(self._failures) > _MOST_KEYS:
                self._failures.clear()
            for key in (f"name {name}", f"address {address}"):
                self._failures.setdefault(key, deque(maxlen=_PER_ADDRESS)).append(time.monotonic())

    def succeeded(self, name: str) -> None:
        with self._lock:
            self._failures.pop(f"name {name}", None)

    def _count(self, key: str) -> int:
        since = time.monotonic() - _SECONDS
        with self._lock:
            return sum(at > since for at in self._failures.get(key, ()))


GUESSES = _Guesses()


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


class OneLoopbackName(MiddlewareMixin):
    """Pages asked for as 127.0.0.1 are shown at MARKETPLACE_URL's localhost, or the other way round.

    The frame's form is sent to MARKETPLACE_URL, and its answer is shown only inside a page of the same origin.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if request.method == "GET" and request.path != "/healthz" and not wants_json(request):
            asked, canonical = urlsplit(f"//{request.get_host()}"), urlsplit(settings.SITE_URL)
            are_here = all(is_loopback(one.hostname or "") for one in (asked, canonical))
            if asked.netloc != canonical.netloc and are_here:
                return HttpResponseRedirect(f"{settings.SITE_URL}{request.get_full_path()}")
        return None


class WorkRefusals(MiddlewareMixin):
    """A page, or problem JSON for whoever asked for JSON."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return refusal(request, exception) if isinstance(exception, WorkRefused) else None
