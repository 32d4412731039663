"""Every attempt to sign in is written down, whichever page, command or test it comes from."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from humanexp.core.audit import record
from humanexp.core.models import SignIn, User
from humanexp.core.services.accounts import end_sessions, record_attempt, record_sign_in


@receiver(user_logged_in)
def _signed_in(sender: Any, request: HttpRequest, user: User, **_kwargs: Any) -> None:
    record_sign_in(request=request, user=user, way=_way(get_authentication_records(request, user)))


def _way(records: list[dict[str, Any]]) -> SignIn.Way:
    factors = [step for step in records if step.get("method") == "mfa"]
    if any(step.get("passwordless") for step in factors):
        return SignIn.Way.PASSKEY
    if any(step.get("method") == "socialaccount" for step in records):
        return SignIn.Way.ORGANISATION
    return SignIn.Way.CODE if factors else SignIn.Way.PASSWORD


@receiver(user_login_failed)
def _failed(sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **_kwargs: Any) -> None:
    if request is None:
        return
    user = User.objects.filter(username=str(credentials.get("username", ""))).first()
    is_closed = user is not None and not user.is_active
    outcome = SignIn.Outcome.CLOSED if is_closed else SignIn.Outcome.WRONG_PASSWORD
    record_attempt(request=request, user=user, outcome=outcome, way=SignIn.Way.PASSWORD)


@receiver(authenticator_added)
def _added(sender: Any, request: HttpRequest, user: User, authenticator: Any, **_kwargs: Any) -> None:
    """Browsers that were signed in without it have to sign in again."""
    if authenticator.type != "recovery_codes":
        record(action="add-second-factor", subject=f"account:{user.pk}", by=user, kind=authenticator.type)
        end_sessions(user=user, but=request.session.session_key or "", by=user)


@receiver(authenticator_removed)
def _removed(sender: Any, request: HttpRequest, user: User, authenticator: Any, **_kwargs: Any) -> None:
    if authenticator.type != "recovery_codes":
        record(action="remove-second-factor", subject=f"account:{user.pk}", by=user, kind=authenticator.type)


@receiver(authenticator_reset)
def _renewed(sender: Any, request: HttpRequest, user: User, **_kwargs: Any) -> None:
    record(action="renew-recovery-codes", subject=f"account:{user.pk}", by=user)
