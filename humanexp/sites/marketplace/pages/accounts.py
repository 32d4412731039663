"""Signing up, logging in and out, and the desk at which clerks note what was paid out."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.views import redirect_to_login
from django.db import IntegrityError
from django.forms import Form
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.accounts import record_payout, sign_up, worker_by_id
from humanexp.sites.marketplace.errors import BadPayout, SignUpRefused, TooManyGuesses, WorkerDoesNotExist
from humanexp.sites.marketplace.models.people import Account, Invitation, Worker
from humanexp.sites.marketplace.pages.answers import GUESSES, address_of, page_not_found, problem, wants_json
from humanexp.sites.marketplace.work import desk_sums, everybody_owed, latest_payouts


class SignUpForm(forms.Form):
    """A user name and a password; what else is asked can be left out."""

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        validators=Account._meta.get_field("username").validators,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
        help_text=_("Only you and this marketplace see it. Requesters see a random worker ID."),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("At least 8 characters."),
    )
    country = forms.CharField(
        label=_("Country code"),
        required=False,
        max_length=2,
        widget=forms.TextInput(attrs={"autocomplete": "country", "placeholder": "DE"}),
        help_text=_("Two letters. Optional; some work is open to certain countries only."),
    )
    is_adult = forms.BooleanField(label=_("I am 18 or older"), required=False)

    invitation = forms.CharField(
        label=_("Invitation code"),
        max_length=32,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters"}),
        help_text=_("From the lab that invited you."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if settings.MARKETPLACE_SIGN_UP == "invite":
            self.order_fields(["invitation"])
        else:
            del self.fields["invitation"]

    def clean_invitation(self) -> str:
        code: str = self.cleaned_data["invitation"].strip().upper()
        if not Invitation.objects.filter(code=code, used_at=None).exists():
            raise forms.ValidationError(_("No unused invitation has this code."), code="invalid")
        return code

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if Account.objects.filter(username=username).exists():
            raise forms.ValidationError(_("This user name is taken."), code="unique")
        return username

    def clean_country(self) -> str:
        country: str = Worker._meta.get_field("country").clean(self.cleaned_data["country"].upper(), None)
        return country

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password)
        return password


class LogInForm(AuthenticationForm):
    """Django's, with the words of the sign-up form."""

    username = UsernameField(label=_("User name"), widget=forms.TextInput(attrs={"autofocus": True}))


class PayoutForm(forms.Form):
    """What the lab has handed to a worker. The amount is cleaned to cents."""

    worker_id = forms.CharField(label=_("Worker ID"), max_length=64)
    amount = forms.RegexField(
        r"^[0-9]{1,9}(\.[0-9]{1,2})?$",
        label=_("Amount in dollars"),
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
        error_messages={"invalid": _("Dollars and cents like 12.50.")},
    )
    way = forms.CharField(
        label=_("How"), max_length=60, help_text=_("The worker reads it: bank transfer, cash, voucher.")
    )
    note = forms.CharField(label=_("Note"), max_length=200, required=False, help_text=_("Only for the lab."))

    def clean_amount(self) -> int:
        return int(Decimal(self.cleaned_data["amount"]) * 100)


class ContactForm(forms.Form):
    """What a worker writes to a requester."""

    subject = forms.CharField(label=_("Subject"), max_length=200)
    text = forms.CharField(
        label=_("Message"),
        max_length=4096,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_("The requester sees your worker ID with it, not your user name."),
    )


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


_LATEST = 25


@never_cache
@require_http_methods(["GET", "POST"])
def desk(request: HttpRequest) -> HttpResponse:
    """Money is handed over elsewhere; here it is written down, so that the worker reads it too."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.path)
    if not getattr(request.user, "is_clerk", False):
        return page_not_found(request, BadPayout())
    form = PayoutForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            worker = worker_by_id(given["worker_id"])
            record_payout(
                worker=worker, amount_cents=given["amount"], way=given["way"], note=given["note"], now=clock.now()
            )
        except (BadPayout, WorkerDoesNotExist) as err:
            form.add_error("amount" if isinstance(err, BadPayout) else "worker_id", str(err))
        else:
            return redirect("desk")
    now = clock.now()
    page = {"form": form, "sums": desk_sums(now), "owed": everybody_owed(now), "payouts": latest_payouts(_LATEST)}
    return render(request, "marketplace/desk.html", page, status=422 if form.is_bound else 200)
