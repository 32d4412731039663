from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from humanexp.core.errors import ApplicationError
from humanexp.core.ownership import is_head
from humanexp.core.selectors import mail_is_set_up, user_of
from humanexp.notices import selectors
from humanexp.notices.models import Pace
from humanexp.notices.pages.forms import MUTE_DAYS, AddressForm, MuteForm, PaceForm
from humanexp.notices.pages.values import alive, failing_of, groups_of, shown
from humanexp.notices.services import addresses
from humanexp.notices.services.addresses import add_address, remove_address, send_test, set_pace
from humanexp.studies.selectors import study_for


@login_required
@require_GET
def waiting(request: HttpRequest) -> HttpResponse:
    """Everything that this person can solve, over all studies."""
    user = user_of(request)
    found = selectors.waiting_for(user)
    context = {
        "groups": groups_of(found),
        "count": len(found),
        "failing": failing_of(user),
        "has_addresses": selectors.addresses_of(user).exists(),
        "mute_days": MUTE_DAYS,
    }
    return render(request, "notices/waiting.html", context)


@login_required
@require_POST
def mute(request: HttpRequest) -> HttpResponse:
    form, user = MuteForm(request.POST), user_of(request)
    if form.is_valid():
        slug = form.cleaned_data["study"]
        addresses.mute(
            by=user,
            days=form.cleaned_data["days"],
            study=study_for(user, slug) if slug else None,
            name=form.cleaned_data["name"],
        )
        messages.success(request, "You hear nothing of this until the mute ends. It stays on this page.")
    else:
        messages.error(request, "Choose how long the mute lasts.")
    return redirect("notices:waiting")


@login_required
@require_http_methods(["GET", "POST"])
def notice_settings(request: HttpRequest) -> HttpResponse:
    """Where one wants to be told, and what one does not want to hear."""
    user = user_of(request)
    form = AddressForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            add_address(by=user, **form.cleaned_data)
        except ApplicationError as error:
            form.add_error("target", error.message)
        else:
            messages.success(request, "The address is stored. Send a test to see whether messages arrive.")
            return redirect("notices:settings")
    head = is_head(user)
    context = {
        "form": form,
        "addresses": [shown(address) for address in selectors.addresses_of(user)],
        "here": [shown(address) for address in selectors.addresses_here()] if head else [],
        "mutes": selectors.mutes_of(user),
        "paces": Pace.choices,
        "is_head": head,
        "mail_is_set_up": mail_is_set_up(),
        "alive_is_set": bool(settings.ALIVE_URL),
        "alive": alive() if head else None,
    }
    return render(request, "notices/settings.html", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def address(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a test there, change how often it hears, or remove it."""
    user, what = user_of(request), request.POST.get("what")
    if what == "test":
        try:
            error = send_test(by=user, pk=pk)
        except ApplicationError as refused:
            error = refused.message
        if error:
            messages.error(request, f"The test did not arrive. {error}")
        else:
            messages.success(request, "The test was taken. Look whether it has arrived.")
    elif what == "remove":
        remove_address(by=user, pk=pk)
        messages.success(request, "The address is removed.")
    else:
        form = PaceForm(request.POST)
        if form.is_valid():
            set_pace(by=user, pk=pk, **form.cleaned_data)
            messages.success(request, "Changed.")
    return redirect("notices:settings")


@login_required
@require_POST
def unmute(request: HttpRequest, pk: int) -> HttpResponse:
    addresses.unmute(by=user_of(request), pk=pk)
    messages.success(request, "The mute has ended.")
    return redirect("notices:settings")
