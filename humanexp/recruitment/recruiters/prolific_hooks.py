"""Prolific's webhooks: whether a delivery comes from the service, is fresh, and was not seen before.

They are hints: at least once, in no order, up to a day late. A hint says only what to look at; no state is taken from
its body, and whoever is told looks at the lists.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.core.cache import cache
from pydantic import BaseModel, ValidationError

from humanexp.core.errors import NotAllowed

#: A delivery that was signed earlier, or later, than this is refused: it may be an old one, sent again by a stranger.
FRESH = timedelta(minutes=5)
#: Deliveries are repeated for a day.
_REMEMBERED_S = 2 * 86_400
_LONGEST_ID = 200


class HookRefused(NotAllowed):
    """This is not a fresh delivery with the signature of the account's secret."""


class Hint(BaseModel):
    """Something happened to this study or submission."""

    event_id: str
    event_type: str
    resource_id: str


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
    stamp, event_id = headers.get("X-Prolific-Request-Timestamp", ""), headers.get("X-Event-ID", "")
    signed = headers.get("X-Prolific-Request-Signature", "")
    if not secret or not hmac.compare_digest(signature(secret, stamp, body).encode(), signed.encode()):
        raise HookRefused
    if not (stamp.isascii() and stamp.isdecimal()) or abs(now.timestamp() - int(stamp)) > FRESH.total_seconds():
        raise HookRefused
    if not 0 < len(event_id) <= _LONGEST_ID:
        raise HookRefused
    try:
        told = _Body.model_validate_json(body)
    except ValidationError:
        raise HookRefused from None
    return Hint(event_id=event_id, **told.model_dump())


def is_new(hint: Hint) -> bool:
    """Whether this event is seen for the first time. A repeat that slips through costs one look more, and no harm."""
    digest = hashlib.sha256(hint.event_id.encode()).hexdigest()
    return cache.add(f"prolific-event-{digest}", 1, timeout=_REMEMBERED_S)
