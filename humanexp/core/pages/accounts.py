"""Pages of one's own account, those that lead back to it, and those on which administrators manage all of them."""

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

from humanexp.core import accounts, clock, organisation, second_factors, selectors
from humanexp.core.accounts import (
    account_of_link,
    end_sessions,
    entry_link,
    invite,
    make_account,
    reset_second_factor,
    send_entry_link,
    send_password_links,
    set_active,
    set_address,
    set_house_role,
    set_password,
)
from humanexp.core.errors import ApplicationError, NotFound, TooManyCalls
from humanexp.core.limits import SharedAllowance, caller_of
from humanexp.core.models import HouseRole, User
from humanexp.core.pages.login import AddressForm, ForgottenForm, InvitationForm, RoleForm, password_tried

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


@login_required
@require_http_methods(["GET", "POST"])
def all_accounts(request: HttpRequest) -> HttpResponse:
    """Every account, and a form that invites a person."""
    head = selectors.head_of(request)
    form = InvitationForm(request.POST or None)
    if form.is_valid():
        chosen = form.cleaned_data
        role = HouseRole(chosen["role"])
        try:
            user = make_account(username=chosen["username"], email=chosen["email"], role=role, by=head)
            return _link(request, user, invite(user=user, valid_days=chosen["valid_days"], by=head))
        except ApplicationError as error:
            form.add_error("username", error.message)
    context = {"accounts": selectors.accounts(), "form": form, "now": clock.now()}
    return render(request, "console/account/accounts.html", context, status=422 if form.is_bound else 200)


@login_required
@require_http_methods(["GET", "POST"])
def one_account(request: HttpRequest, pk: int) -> HttpResponse:
    """What an administrator sees and does about one account."""
    head, user = selectors.head_of(request), selectors.account_of(pk)
    form, status = RoleForm(initial={"role": user.house_role}), 200
    match request.POST.get("do", ""):
        case "link":
            return _link(request, user, entry_link(user=user, by=head))
        case "close" | "open" as act:
            set_active(user=user, is_active=act == "open", by=head)
            told = "%(name)s can sign in again." if act == "open" else "%(name)s is signed out and stays out."
            messages.success(request, told % {"name": user})
            return redirect("manage-account", pk)
        case "role":
            form = RoleForm(request.POST)
            if form.is_valid():
                set_house_role(user=user, role=HouseRole(form.cleaned_data["role"]), by=head)
                messages.success(request, f"{user} has the role {user.house_role.label} now.")
                return redirect("manage-account", pk)
            status = 422
        case "factor":
            reset_second_factor(user=user, by=head)
            messages.success(request, f"{user} signs in with the password alone.")
            return redirect("manage-account", pk)
        case "end":
            end_sessions(user=user, by=head)
            messages.success(request, f"{user} is signed out everywhere.")
            return redirect("manage-account", pk)
    context = {
        "account": user,
        "role_form": form,
        "has_factor": second_factors.has_one(user),
        "invitation": selectors.open_invitation(user),
        "sessions": selectors.sessions_of(user),
        "sign_ins": selectors.sign_ins_of(user),
    }
    return render(request, "console/account/one_account.html", context, status=status)


def _link(request: HttpRequest, user: User, link: str) -> HttpResponse:
    """Shown once: the link is stored nowhere."""
    is_sent = send_entry_link(user=user, link=link)
    context = {"account": user, "link": link, "is_sent": is_sent, "is_new": not user.has_usable_password()}
    return render(request, "console/account/link.html", context)
