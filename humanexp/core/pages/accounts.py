"""Pages of one's own account, and those that lead back to it."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from humanexp.core import accounts, organisation, second_factors, selectors
from humanexp.core.accounts import account_of_link, end_sessions, send_password_links, set_address, set_password
from humanexp.core.errors import NotFound, TooManyCalls
from humanexp.core.limits import SharedAllowance, caller_of
from humanexp.core.pages.login import AddressForm, ForgottenForm, password_tried

#: Links that one address may ask for, for whatever accounts; and that may be sent to one address of mail.
OF_A_CALLER = SharedAllowance("links of a caller", per_s=1 / 600, burst=20)
TO_AN_ADDRESS = SharedAllowance("links to an address", per_s=1 / 1200, burst=3)
#: Where a link's secret stays while its page is open: it is not in the address any more.
_HELD = "new_password"


@sensitive_post_parameters()
@login_required
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """One's own password and address."""
    user = selectors.user_of(request)
    if request.POST.get("what") == "sessions":
        end_sessions(user=user, but=request.session.session_key or "", by=user)
        messages.success(request, "Every other browser is signed out.")
        return redirect("account")
    is_address = request.POST.get("what") == "address"
    address = AddressForm(user, request.POST if is_address else None, initial={"email": user.email}, prefix="address")
    password = PasswordChangeForm(user, request.POST if request.POST and not is_address else None)
    form = address if is_address else password
    if request.method == "POST":
        with password_tried(request, user.get_username()) as tried:
            form.is_valid()
            tried.is_right = not form.has_error("password" if is_address else "old_password")
        if form.is_valid() and is_address:
            set_address(user=user, email=address.cleaned_data["email"])
            messages.success(request, "Your address is stored.")
            return redirect("account")
        if form.is_valid():
            set_password(user=user, password=password.cleaned_data["new_password1"], by=user)
            update_session_auth_hash(request, user)
            messages.success(request, "Your password is changed. Every other browser is signed out.")
            return redirect("account")
    context = {
        "address": address,
        "password": password,
        "mail_is_set_up": selectors.mail_is_set_up(),
        "organisation": settings.OIDC_NAME if organisation.is_set_up() else "",
        "has_identity": user.identities.exists(),
        "has_factors": not second_factors.is_off(),
        "has_factor": second_factors.has_one(user),
        "sessions": selectors.sessions_of(user, this=request.session.session_key or ""),
        "sign_ins": selectors.sign_ins_of(user),
    }
    return render(request, "console/account/account.html", context, status=422 if form.is_bound else 200)


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def new_password(request: HttpRequest) -> HttpResponse:
    """Where a link leads: it is taken out of the address first, then a password can be chosen once."""
    given = (request.GET.get("who", ""), request.GET.get("token", ""))
    user = account_of_link(*(given if any(given) else request.session.get(_HELD, ("", ""))))
    if user is not None and any(given):
        request.session[_HELD] = given
        return redirect("new-password")
    if user is None:
        told = {"mail_is_set_up": selectors.mail_is_set_up()}
        return render(request, "console/account/link_refused.html", told, status=404)
    form = SetPasswordForm(user, request.POST or None)
    if form.is_valid():
        set_password(user=user, password=form.cleaned_data["new_password1"], by=user)
        request.session.flush()
        messages.success(request, "Your password is set. Sign in with it.")
        return redirect("login")
    context = {"form": form, "account": user}
    return render(request, "console/account/new_password.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "POST"])
def forgotten(request: HttpRequest) -> HttpResponse:
    """Sends a link by mail; the answer is the same whether there is such an account or not."""
    if not selectors.mail_is_set_up():
        raise NotFound("Mail is not set up here: ask an administrator for a new password.")
    form = ForgottenForm(request.POST or None)
    if not form.is_valid():
        return render(request, "console/account/forgotten.html", {"form": form}, status=422 if form.is_bound else 200)
    email = form.cleaned_data["email"]
    if wait_s := OF_A_CALLER.spend(caller_of(request)):
        raise TooManyCalls("Too many links were asked for: wait a few minutes.", retry_after_s=wait_s)
    if not TO_AN_ADDRESS.spend(email.casefold()):
        send_password_links(email=email)
    return render(request, "console/account/forgotten.html", {"sent_to": email, "valid_days": accounts.VALID_DAYS})
