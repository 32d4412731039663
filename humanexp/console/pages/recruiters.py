"""Accounts with recruiters: what can be used, and everything that an administrator does about it."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from humanexp.console import sites
from humanexp.console.pages.recruiter_rows import account_row, kind_cards
from humanexp.core.errors import ApplicationError, NotAllowed, NotFound
from humanexp.core.ownership import is_head
from humanexp.core.pages.rendering import render_part
from humanexp.core.selectors import user_of
from humanexp.recruitment import recruiters, services
from humanexp.recruitment.pages.forms import MoneyField
from humanexp.recruitment.pages.views.studies import refusals_told
from humanexp.recruitment.services.accounts import CURRENCIES
from humanexp.recruitment.templatetags.recruitment import typed


class AccountForm(forms.Form):
    """A further account."""

    kind = forms.ChoiceField(label=gettext_lazy("With"), choices=lambda: _kinds())
    name = forms.CharField(label=gettext_lazy("Name"), max_length=80, help_text=gettext_lazy("As pages show it."))
    code = forms.CharField(
        label=gettext_lazy("Short name"),
        max_length=12,
        help_text=gettext_lazy("2 to 12 small letters, digits and hyphens. Commands and keys are named after it."),
    )
    currency = forms.ChoiceField(label=gettext_lazy("Currency"), choices=[(code, code) for code in CURRENCIES])
    workspace = forms.CharField(
        label=gettext_lazy("Workspace"),
        max_length=64,
        required=False,
        help_text=gettext_lazy("Its id there, if the key belongs to several workspaces."),
    )


class CapForm(forms.Form):
    """What may be promised in a month."""

    month_cap = MoneyField(
        label=gettext_lazy("Limit in a calendar month"), required=False, help_text=gettext_lazy("Empty: no limit.")
    )


def _kinds() -> list[tuple[str, str]]:
    open_now = (kind for kind in recruiters.kinds() if kind.capabilities.pays and not kind.capabilities.is_closed)
    return [(kind.code, str(kind.name)) for kind in open_now]


@login_required
@require_GET
def recruiters_page(request: HttpRequest) -> HttpResponse:
    """Every sort of recruiter with its state; htmx asks for the part that changes."""
    return _page(request, AccountForm())


@login_required
@require_POST
def open_account(request: HttpRequest) -> HttpResponse:
    form = AccountForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    given = form.cleaned_data
    try:
        services.open_account(
            kind=given["kind"],
            code=given["code"],
            name=given["name"],
            currency=given["currency"],
            workspace=given["workspace"],
            by=user_of(request),
        )
    except NotAllowed:
        raise
    except ApplicationError as error:
        for field, fault in (error.fields or {"code": error.message}).items():
            form.add_error(field if field in form.fields else None, str(fault))
        return _page(request, form, status=error.status_code)
    messages.success(request, _("The account is open. Enter its keys, then test it."))
    return redirect("console:account", code=given["code"])


@login_required
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest, code: str) -> HttpResponse:
    """One account, for administrators: keys, limit, pause, name. Each form says by its button what it does."""
    if not is_head(request.user):
        raise NotAllowed(_("Only administrators see an account's settings."))
    if not recruiters.is_known(code):
        raise NotFound(_("There is no account of this name."))
    if request.method == "POST":
        return _change(request, code)
    found = account_row(code)
    context = {"found": found, "cap_form": CapForm(initial={"month_cap": typed(found.row.month_cap_cents)})}
    return render_part(request, "console/recruiters/account.html", context)


def _change(request: HttpRequest, code: str) -> HttpResponse:
    by = user_of(request)
    with refusals_told(request):
        match request.POST.get("do"):
            case "keys":
                services.store_keys(code=code, given=request.POST.dict(), by=by)
                services.request_try(code=code, by=by)
                messages.success(request, _("The keys are stored and are being tested."))
            case "cap":
                form = CapForm(request.POST)
                if form.is_valid():
                    services.set_month_cap(environment=code, cap_cents=form.cleaned_data["month_cap"], by=by)
                    messages.success(request, _("The limit is stored."))
                else:
                    messages.error(request, _("Write an amount like 123.45, or nothing for no limit."))
            case "name":
                services.rename_account(code=code, name=request.POST.get("name", ""), by=by)
                messages.success(request, _("The name is stored."))
            case "pause":
                services.pause_account(code=code, by=by)
                messages.success(request, _("Paused. What is due waits until you resume it."))
            case "resume":
                services.resume_account(code=code, by=by)
                messages.success(request, _("Resumed. What has waited is being sent."))
            case "test":
                services.request_try(code=code, by=by)
    if request.POST.get("back") == "list":
        return redirect("console:recruiters")
    return redirect("console:account", code=code)


@login_required
@require_POST
def site(request: HttpRequest, kind: str) -> HttpResponse:
    """Start or stop a site of this distribution on this machine."""
    if kind not in sites.own_sites():
        raise NotFound(_("This is no site of this distribution."))
    with refusals_told(request):
        (sites.start if "start" in request.POST else sites.stop)(kind=kind, by=user_of(request))
    return redirect("console:recruiters")


def _page(request: HttpRequest, form: AccountForm, status: int = 200) -> HttpResponse:
    cards = kind_cards()
    context = {
        "cards": [card for card in cards if not card.kind.capabilities.is_closed],
        "closed": [card for card in cards if card.kind.capabilities.is_closed],
        "usable": [card for card in cards if card.is_usable],
        "is_changing": any(card.is_changing for card in cards),
        "is_head": is_head(request.user),
        "form": form,
    }
    response = render_part(request, "console/recruiters/list.html", context)
    response.status_code = status
    return response
