"""Prolific's webhooks: whether a delivery comes from the service, and is fresh.

They are hints: at least once, in no order, up to a day late. A hint says only what to look at; no state is taken from
its body, and whoever is told looks at the lists.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from humanexp.core.errors import NotAllowed
from humanexp.recruiters import keys
from humanexp.recruiters.tickets import Hint

if TYPE_CHECKING:
    from humanexp.recruiters.prolific.client import ProlificClient


#: A delivery that was signed earlier, or later, than this is refused: it may be an old one, sent again by a stranger.
FRESH = timedelta(minutes=5)
#: A stamp has ten digits until the year 2286.
_LONGEST_STAMP = 12


#: What we want to be told of, as far as the service knows it.
EVENT_TYPES = ("submission.status.change", "study.status.change")


@dataclass(frozen=True)
class HookAddress:
    """Where events are posted, and the name of the key that holds the secret they are signed with."""

    url: str
    secret_name: str


class HookRefused(NotAllowed):
    """This is not a fresh delivery with the signature of the account's secret."""


class _Body(BaseModel):
    event_type: str
    resource_id: str


def signature(secret: str, stamp: str, body: bytes) -> str:
    """Of the bytes as they came: JSON that is written again may look different."""
    return base64.b64encode(hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()).decode()


def verified(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> Hint:
    """The hint that a delivery contains.

    Raises
    ------
    HookRefused
        Whatever is wrong, without saying what.
    """
    stamp, signed = headers.get("X-Prolific-Request-Timestamp", ""), headers.get("X-Prolific-Request-Signature", "")
    if not secret or not hmac.compare_digest(signature(secret, stamp, body).encode(), signed.encode()):
        raise HookRefused
    if not (stamp.isascii() and stamp.isdecimal() and len(stamp) <= _LONGEST_STAMP):
        raise HookRefused
    if abs(now.timestamp() - int(stamp)) > FRESH.total_seconds():
        raise HookRefused
    try:
        told = _Body.model_validate_json(body)
    except ValidationError:
        raise HookRefused from None
    return Hint(delivery=signed, about=told.resource_id)


def subscribe(client: ProlificClient, workspace: str, at: HookAddress) -> None:
    """Have events of a workspace posted there; what is subscribed already stays. Twice is once.

    A workspace has one secret, and a new one ends the old. Another server of the same lab may have made it, and the
    key that we keep may be of a former workspace: what the workspace has now is read and kept; only where it has none,
    one is made. A secret that the settings give is left to whoever wrote it there.
    """
    if not keys.is_configured(at.secret_name):
        secret = next(iter(client.secrets(workspace)), None) or client.replace_secret(workspace)
        if secret.value != keys.key(at.secret_name):
            keys.store({at.secret_name: secret.value})
    known = {one.event_type for one in client.subscriptions(workspace) if one.target_url == at.url and one.is_enabled}
    offered = {one.event_type for one in client.event_types()}
    for event_type in EVENT_TYPES:
        if event_type in offered - known:
            client.subscribe(workspace, event_type, at.url)
