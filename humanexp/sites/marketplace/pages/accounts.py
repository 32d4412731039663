"""Signing up, logging in and out."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login, logout
from django.db import IntegrityError
from django.forms import Form
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.errors import SignUpRefused, TooManyGuesses
from humanexp.sites.marketplace.models.accounts import Worker
from humanexp.sites.marketplace.pages.answers import problem
from humanexp.sites.marketplace.pages.forms import LogInForm, SignUpForm
from humanexp.sites.marketplace.services.accounts import sign_up
from humanexp.sites.marketplace.visitors import GUESSES, address_of, wants_json

_BACKEND = "django.contrib.auth.backends.ModelBackend"


@never_cache
@ensure_csrf_cookie
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def signup(request: HttpRequest) -> HttpResponse:
    """A new worker, signed in at once."""
    if settings.MARKETPLACE_SIGN_UP == "closed":
        raise SignUpRefused
    form = SignUpForm(request.POST or None, initial={"invitation": request.GET.get("invitation", "")[:32]})
    if request.method == "POST" and form.is_valid():
        try:
            worker = sign_up(**form.cleaned_data, now=clock.now())
        except IntegrityError:  # the same name in the same moment
            form.add_error("username", "This user name is taken.")
        else:
            return _enter(request, worker, status=201)
    return _form(request, form, "marketplace/signup.html")


@never_cache
@ensure_csrf_cookie
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def log_in(request: HttpRequest) -> HttpResponse:
    form = LogInForm(request, request.POST or None)
    name, address = request.POST.get("username", ""), address_of(request)
    if request.method == "POST" and GUESSES.too_many(name, address):
        raise TooManyGuesses
    if request.method == "POST" and form.is_valid():
        account = form.get_user()
        worker = getattr(account, "worker", None)
        if worker is not None:
            GUESSES.succeeded(name)
            return _enter(request, worker, status=200)
        if account.is_clerk:
            GUESSES.succeeded(name)
            login(request, account, backend=_BACKEND)
            return redirect("desk")
        form.add_error(None, "This account is not a worker's.")
    if request.method == "POST":
        GUESSES.failed(name, address)
    return _form(request, form, "marketplace/login.html")


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("groups")


def _enter(request: HttpRequest, worker: Worker, *, status: int) -> HttpResponse:
    login(request, worker.account, backend=_BACKEND)
    if wants_json(request):
        return JsonResponse({"worker_id": worker.worker_id, "username": worker.account.username}, status=status)
    return redirect(_next(request) or "groups")


def _next(request: HttpRequest) -> str:
    """Where the visitor came from, if that is on this site."""
    target = request.POST.get("next", request.GET.get("next", ""))
    safe = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if safe else ""


def _form(request: HttpRequest, form: Form, template: str) -> HttpResponse:
    failed = request.method == "POST"
    if wants_json(request):
        if failed:
            return problem("invalid", "The form is not complete", "See fields.", status=422, fields=form.errors)
        return JsonResponse({"fields": list(form.fields)})
    page = {"form": form, "next": _next(request)}
    return render(request, template, page, status=422 if failed else 200)
