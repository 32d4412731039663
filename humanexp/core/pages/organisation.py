"""Leaving for the organisation's sign-in, and coming back from it."""

from __future__ import annotations

import logging
from dataclasses import asdict

from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from humanexp.core import organisation
from humanexp.core.accounts import record_attempt
from humanexp.core.errors import ApplicationError, NotFound, TooManyCalls
from humanexp.core.limits import SharedAllowance, caller_of
from humanexp.core.models import SignIn, User
from humanexp.core.organisation import Begun, Person, account_of, link

logger = logging.getLogger(__name__)
#: Each asks the provider.
OF_A_CALLER = SharedAllowance("organisation's sign-in", per_s=1 / 10, burst=30)
_HELD = "organisation"


@require_GET
def leave(request: HttpRequest) -> HttpResponse:
    """To the provider. Whoever is signed in links the account that they are signed in with."""
    import requests  # no other page of these needs it

    if not organisation.is_set_up():
        raise NotFound
    if wait_s := OF_A_CALLER.spend(caller_of(request)):
        raise TooManyCalls("Too many sign-ins were begun: wait a minute.", retry_after_s=wait_s)
    try:
        address, begun = organisation.begin()
    except (requests.RequestException, KeyError, ValueError) as error:
        logger.error("the organisation's sign-in does not answer: %s", type(error).__name__)
        return _refused(request, "It does not answer. Try again later, or sign in with a password.", 503)
    adds_identity = "link" in request.GET and isinstance(request.user, User)
    request.session[_HELD] = {
        "begun": asdict(begun),
        "next": get_next_redirect_url(request) or "",
        "links": request.user.pk if adds_identity else None,
    }
    return redirect(address)


@require_GET
def back(request: HttpRequest) -> HttpResponse:
    """From the provider: what a browser kept when it left is good for one answer."""
    held = request.session.pop(_HELD, None)
    if not organisation.is_set_up() or held is None:
        return _refused(request, "This sign-in was not begun in this browser, or it is over: begin again.")
    try:
        person = organisation.finish(answer=request.GET.dict(), begun=Begun(**held["begun"]))
    except ApplicationError as error:
        logger.warning("the organisation's sign-in was refused: %s", error.message)
        _record(request, None)
        return _refused(request, "What it sent could not be verified. Begin again; if it happens again, tell us.")
    if held["links"] is not None:
        return _link(request, person, held["links"])
    try:
        user = account_of(person=person)
    except ApplicationError as error:
        _record(request, None)
        return _refused(request, error.message)
    record_authentication(request, user, "socialaccount", provider=person.issuer, uid=person.subject)
    signing_in = Login(user=user, email_verification="none", redirect_url=held["next"] or None)
    answer: HttpResponse = perform_login(request, signing_in)
    return answer


def _link(request: HttpRequest, person: Person, pk: int) -> HttpResponse:
    if not isinstance(request.user, User) or request.user.pk != pk:
        return _refused(request, "You are not signed in any more with the account that you wanted to link.")
    try:
        link(user=request.user, person=person)
    except ApplicationError as error:
        return _refused(request, error.message)
    messages.success(request, f"You can now sign in through {settings.OIDC_NAME}.")
    return redirect("account")


def _record(request: HttpRequest, user: User | None) -> None:
    refused, way = SignIn.Outcome.REFUSED, SignIn.Way.ORGANISATION
    record_attempt(request=request, user=user, outcome=refused, way=way)


def _refused(request: HttpRequest, why: str, status: int = 403) -> HttpResponse:
    context = {"name": settings.OIDC_NAME, "why": why}
    return render(request, "console/account/organisation_refused.html", context, status=status)
