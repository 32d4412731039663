"""Signing in: whoever guesses passwords is soon not listened to, without keeping the owner of the name out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from humanexp.core.caller_hash import caller_of
from humanexp.core.errors import TooManyCalls
from humanexp.core.limits import Allowance
from humanexp.core.selectors import mail_is_set_up

#: Wrong passwords for one name from one address; the name can be used from any other.
OF_A_NAME = Allowance(per_s=1 / 60, burst=10)
#: Wrong passwords from one address, for whatever names.
OF_A_CALLER = Allowance(per_s=1 / 10, burst=100)


@dataclass
class Tried:
    is_right: bool = False


@contextmanager
def password_tried(request: HttpRequest, username: str) -> Iterator[Tried]:
    """A try of somebody's password: paid for before it is looked at, given back where it was right."""
    caller, name = caller_of(request), username.strip().casefold()[:150]
    tries: tuple[tuple[Allowance, Hashable], ...] = ((OF_A_NAME, (name, caller)), (OF_A_CALLER, caller))
    wait_s = max(allowance.spend(key) for allowance, key in tries)
    if wait_s:
        raise TooManyCalls(_("Too many wrong passwords: wait a few minutes."), retry_after_s=wait_s)
    tried = Tried()
    yield tried
    if tried.is_right:
        for allowance, key in tries:
            allowance.give_back(key)


class Login(LoginView):
    """The console's own form, for the administration too. Each try is paid for; the right password gives it back."""

    template_name = "console/login.html"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with password_tried(request, request.POST.get("username", "")) as tried:
            answer = super().post(request, *args, **kwargs)
            tried.is_right = request.user.is_authenticated
        return answer

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(mail_is_set_up=mail_is_set_up(), **context)
