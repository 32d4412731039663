"""Events are sent until they are taken: at least once, in no order, for a day."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import random
import time
from datetime import datetime, timedelta

import requests
from django.db import connection

from humanexp.sites.panel.models.hooks import Event, HookSecret
from humanexp.sites.panel.models.switches import Switches, now as panel_now
from humanexp.sites.panel.services.progress import catch_up

logger = logging.getLogger(__name__)

_MOST_ATTEMPTS = 12
#: Doubled after each attempt: twelve fill a day.
_FIRST_WAIT_S = 20
_TIMEOUT_S = 5
#: Between two looks.
_SECONDS = 0.2


def signature(secret: str, stamp: str, body: bytes) -> str:
    """Of the bytes that are sent."""
    return base64.b64encode(hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()).decode()


def deliver_due(now: datetime) -> int:
    """The events that are due, and how many of them there were."""
    due = Event.objects.filter(status="PENDING", try_at__lte=now, subscription__is_enabled=True)
    events = list(due.select_related("subscription__workspace").order_by("try_at", "pk")[:100])
    for event in events:
        taken = _sent(event)
        if Switches.current().events_doubled:
            _sent(event)
        event.attempts += 1
        event.changed_at = now
        if taken:
            event.status = "SUCCEEDED"
        elif event.attempts >= _MOST_ATTEMPTS:
            event.status = "FAILED"
        wait = random.uniform(0, _FIRST_WAIT_S * 2**event.attempts)  # noqa: S311  (full jitter)
        event.try_at = now + timedelta(seconds=wait)
        event.save()
    return len(events)


def _sent(event: Event) -> bool:
    secret = HookSecret.objects.filter(workspace=event.subscription.workspace).first()
    if secret is None:
        return False
    body = json.dumps(event.payload).encode()
    stamp = str(int(time.time()))
    headers = {
        "Content-Type": "application/json",
        "X-Event-ID": event.event_id,
        "X-Timestamp": event.happened_at.isoformat(),
        "X-Prolific-Request-Timestamp": stamp,
        "X-Prolific-Request-Signature": signature(secret.value, stamp, body),
    }
    try:
        answer = requests.post(
            event.subscription.target_url, body, headers=headers, timeout=_TIMEOUT_S, allow_redirects=False
        )
    except requests.RequestException:
        return False
    return answer.ok


def deliver_events() -> None:
    """Until the process ends; time passes here even if nobody calls."""
    while True:
        time.sleep(_SECONDS)
        try:
            now = panel_now()
            catch_up(now)
            deliver_due(now)
        except Exception:  # the thread outlives a fault of the database, and sends later what is due
            logger.exception("Events were not delivered")
            connection.close()
