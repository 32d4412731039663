"""Pages on which administrators manage the accounts of the installation."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from humanexp.core import clock, second_factors, selectors
from humanexp.core.accounts import (
    end_sessions,
    entry_link,
    invite,
    make_account,
    reset_second_factor,
    send_entry_link,
    set_active,
    set_house_role,
)
from humanexp.core.errors import ApplicationError
from humanexp.core.models import HouseRole, User
from humanexp.core.pages.login import InvitationForm, RoleForm


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
