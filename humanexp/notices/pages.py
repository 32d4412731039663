"""The page of what waits for a person, and the settings of their notices."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from humanexp.core.errors import ApplicationError
from humanexp.core.models import User
from humanexp.core.ownership import is_head
from humanexp.core.selectors import mail_is_set_up, user_of
from humanexp.notices import addresses, selectors
from humanexp.notices.addresses import add_address, remove_address, send_test, set_pace
from humanexp.notices.models import Address, Pace, Way
from humanexp.notices.selectors import ALIVE
from humanexp.studies.models import Study
from humanexp.studies.selectors import study_for
from humanexp.studies.waiting import Waiting

#: What a person can choose from.
MUTE_DAYS = [(1, "1 day"), (3, "3 days"), (7, "1 week"), (30, "30 days")]


class AddressForm(forms.Form):
    """A new address of one's own."""

    way = forms.ChoiceField(label="How", choices=Way.choices)
    target = forms.CharField(
        label="Address",
        max_length=500,
        required=False,
        help_text="Of a webhook or of Slack: https://… For e-mail leave it empty: your account's address is used.",
        widget=forms.URLInput(attrs={"autocomplete": "off"}),
    )
    pace = forms.ChoiceField(label="How often", choices=Pace.choices)
    of_all_studies = forms.BooleanField(label="Also of studies that I am not a member of", required=False)

    def __init__(self, user: User, *args: Any, **arguments: Any) -> None:
        super().__init__(*args, **arguments)
        if not is_head(user):
            del self.fields["of_all_studies"]


class PaceForm(forms.Form):
    """How often an address hears."""

    pace = forms.ChoiceField(choices=Pace.choices)
    of_all_studies = forms.BooleanField(required=False)


class MuteForm(forms.Form):
    """What to hear nothing of, and for how long."""

    study = forms.SlugField(max_length=80, required=False)
    name = forms.SlugField(max_length=40, required=False)
    days = forms.TypedChoiceField(choices=MUTE_DAYS, coerce=int)


@dataclass(frozen=True, kw_only=True)
class Group:
    """What waits in one study, or, without one, at the installation and with recruiters."""

    study: Study | None
    entries: list[Waiting]


_GRAVEST = ("bad", "warn", "good", "note")


def groups_of(found: list[Waiting]) -> list[Group]:
    """The installation first, then the studies with the gravest; within each the gravest first."""
    by_study: dict[int, Group] = {}
    for one in found:
        group = by_study.setdefault(one.study.pk if one.study else 0, Group(study=one.study, entries=[]))
        group.entries.append(one)
    for group in by_study.values():
        group.entries.sort(key=lambda one: _GRAVEST.index(one.severity))
    return sorted(
        by_study.values(),
        key=lambda group: (group.study is not None, _GRAVEST.index(group.entries[0].severity)),
    )


@dataclass(frozen=True, kw_only=True)
class ShownAddress:
    """An address as a page shows it: what may be a secret is not."""

    address: Address
    shown: str

    @property
    def pk(self) -> int:
        return self.address.pk


def shown(address: Address) -> ShownAddress:
    if address.way == Way.EMAIL:
        return ShownAddress(address=address, shown=address.target or (address.user.email if address.user else ""))
    return ShownAddress(address=address, shown=f"{urlsplit(address.target).netloc}/…")


def alive() -> dict[str, Any] | None:
    """When the address of ALIVE_URL was last called, and why not since."""
    last = selectors.observation(ALIVE)
    if last is None:
        return None
    called_at = last.seen.get("called_at")
    return {
        "at": last.at,
        "called_at": datetime.fromisoformat(called_at) if called_at else None,
        "silent_because": last.seen.get("silent_because", []),
        "error": last.seen.get("error", ""),
    }


def failing_of(user: User) -> list[ShownAddress]:
    return [shown(address) for address in selectors.failing(user)]


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
