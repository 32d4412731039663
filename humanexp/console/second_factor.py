"""Where SECOND_FACTOR=required: whoever moves money sets one up first, and shows who they are before they move it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from humanexp.console.access import ACCESS
from humanexp.core import second_factors
from humanexp.core.middleware import Middleware
from humanexp.core.models import User
from humanexp.core.ownership import keeps_money
from humanexp.studies.models import Action
from humanexp.studies.permissions import studies_with

#: What somebody without a second factor can still open.
_FREE = ("/account/", "/login/", "/logout/", "/static/", *settings.PARTICIPANT_PATHS)
_MONEY = frozenset({Action.PAY, Action.LAUNCH})
#: Sending the form of these moves money; of the last two, some of their buttons do.
MONEY_PAGES = frozenset(
    {page for page, (_to_read, to_send) in ACCESS.items() if to_send in _MONEY}
    | {"recruitment:decide", "recruitment:agreed"}
)


def moves_money(user: User) -> bool:
    return keeps_money(user) or any(studies_with(user, action).exists() for action in _MONEY)


class SecondFactor(Middleware):
    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        user = request.user
        if not second_factors.is_required() or request.path.startswith(_FREE) or not isinstance(user, User):
            return None
        if not second_factors.has_one(user):
            return _to_set_up(request) if moves_money(user) else None
        name = request.resolver_match.view_name if request.resolver_match else ""
        is_money = request.method == "POST" and name in MONEY_PAGES
        return _to_confirm(request) if is_money and not second_factors.confirmed_lately(request) else None


def _to_set_up(request: HttpRequest) -> HttpResponse:
    text = "Your role moves money: set up a second factor before you continue."
    if request.path.startswith("/api/"):
        return JsonResponse({"title": "Second factor required", "detail": text}, status=403)
    messages.warning(request, text)
    return _sent(request, reverse("mfa_index"))


def _to_confirm(request: HttpRequest) -> HttpResponse:
    """Back to the page with the button, which is then pressed again: nothing is sent by itself."""
    came_from = urlsplit(request.headers.get("Referer", ""))
    back = f"{came_from.path}?{came_from.query}" if came_from.query else came_from.path
    if not back.startswith("/") or not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = reverse(settings.LOGIN_REDIRECT_URL)
    messages.warning(request, "Nothing was done yet. Confirm that it is you, then press the button again.")
    return _sent(request, f"{reverse('account_reauthenticate')}?{urlencode({'next': back})}")


def _sent(request: HttpRequest, to: str) -> HttpResponse:
    if "HX-Request" in request.headers:
        return HttpResponse(headers={"HX-Redirect": to})
    return redirect(to)
