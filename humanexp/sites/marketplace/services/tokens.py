"""UniqueRequestToken: a request with a token is done once within a day, and its repeat is an error."""

from __future__ import annotations

from datetime import datetime, timedelta

from humanexp.sites.marketplace.errors import TokenAlreadyUsed
from humanexp.sites.marketplace.models.accounts import Requester
from humanexp.sites.marketplace.models.requests import RequestToken

#: After this a token is forgotten: the same request would be done again.
TOKEN_LIFETIME = timedelta(hours=24)


def earlier_use(*, requester: Requester, operation: str, token: str | None, now: datetime) -> RequestToken | None:
    """The live use of this token, if there is one."""
    if token is None:
        return None
    return RequestToken.objects.filter(
        requester=requester, operation=operation, token=token, used_at__gt=now - TOKEN_LIFETIME
    ).first()


def record_use(*, requester: Requester, operation: str, token: str | None, made: str = "", now: datetime) -> None:
    """To be called in the transaction of what the token stands for."""
    if token is not None:
        RequestToken.objects.update_or_create(
            requester=requester, operation=operation, token=token, defaults={"used_at": now, "made": made}
        )


def use_once(*, requester: Requester, operation: str, token: str | None, made: str = "", now: datetime) -> None:
    """Use a token, and refuse its repeat; in the transaction of what it stands for."""
    earlier = earlier_use(requester=requester, operation=operation, token=token, now=now)
    if earlier is not None:
        raise TokenAlreadyUsed(already_processed(earlier.token))
    record_use(requester=requester, operation=operation, token=token, made=made, now=now)


def already_processed(token: str) -> str:
    """The sentence of the real service."""
    return f'The idempotency token "{token}" has already been processed.'
