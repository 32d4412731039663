"""Telling requesters of events: found by looking back, kept as rows, sent until they are taken.

Events are hints. They may come late, and after a broken connection twice; the API's lists are the truth.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from humanexp.sites.marketplace import clock, transports
from humanexp.sites.marketplace.errors import InvalidParameterValue, InvalidTransportEndpoint
from humanexp.sites.marketplace.models.hits import HITType
from humanexp.sites.marketplace.models.notifications import Event, NotificationSpecification
from humanexp.sites.marketplace.selectors.events import happenings
from humanexp.sites.rows import change, first_or

logger = logging.getLogger(__name__)

#: The guide's and the service model's.
_VERSIONS = ("2014-08-15", "2006-05-05")
_BATCH = 10
#: Looked back again, for what was stored with an earlier time than it became visible.
_OVERLAP = timedelta(minutes=5)
_AFTER_ATTEMPTS = 12
#: Sent events are forgotten after this.
_KEPT = timedelta(days=2)
#: Between two looks.
_SECONDS = 0.5


@transaction.atomic
def set_notification(
    *, hit_type: HITType, wanted: Mapping[str, Any] | None, is_active: bool | None, now: datetime
) -> NotificationSpecification:
    """A new specification replaces the old one; Active alone switches the one there is."""
    if wanted is None:
        if is_active is None:
            raise InvalidParameterValue("Notification or Active: one of them is needed.")
        found = first_or(
            NotificationSpecification.objects.filter(hit_type=hit_type),
            InvalidParameterValue("Active: this HIT type has no notification specification."),
        )
        watched_until = now if is_active and not found.is_active else found.watched_until
        return change(found, is_active=is_active, watched_until=watched_until)
    check_specification(wanted)
    if "Ping" in wanted["EventTypes"]:
        raise InvalidParameterValue("EventTypes: Ping is for SendTestEventNotification alone.")
    values = {
        "destination": wanted["Destination"],
        "transport": wanted["Transport"],
        "version": wanted["Version"],
        "event_types": wanted["EventTypes"],
        "is_active": is_active is not False,
    }
    found, _ = NotificationSpecification.objects.update_or_create(
        hit_type=hit_type, defaults=values, create_defaults={**values, "watched_until": now}
    )
    return found


def check_specification(wanted: Mapping[str, Any]) -> None:
    if wanted["Version"] not in _VERSIONS:
        raise InvalidParameterValue(f"Version: {wanted['Version'][:40]!r} is none of {', '.join(_VERSIONS)}.")
    transports.require_offered(wanted["Transport"], wanted["Destination"])


def send_test(*, wanted: Mapping[str, Any], event_type: str, requester_id: str, now: datetime) -> None:
    """At once, as if it had happened; outside of any transaction."""
    check_specification(wanted)
    test_id = "3TEST"
    event = {
        "EventType": event_type,
        "EventTimestamp": _stamp(now),
        "HITTypeId": test_id,
        "HITId": test_id,
        **({"AssignmentId": test_id} if event_type.startswith("Assignment") else {}),
    }
    body = _document([event], version=wanted["Version"], customer=requester_id)
    transports.send(transport=wanted["Transport"], destination=wanted["Destination"], body=body)


def find_events(*, now: datetime, real_now: datetime) -> int:
    """Store what has happened since the last look; what was found before is found again and stays one."""
    found = 0
    for specification in NotificationSpecification.objects.filter(is_active=True).select_related("hit_type"):
        after = specification.watched_until
        events = [
            Event(
                specification=specification,
                event_type=one.event_type,
                hit_id=one.hit_id,
                assignment_id=one.assignment_id,
                happened_at=one.happened_at,
                try_at=real_now,
            )
            for one in happenings(specification.hit_type, after=after, until=now)
            if one.event_type in specification.event_types
        ]
        if not events and now - after < 2 * _OVERLAP:
            continue
        with transaction.atomic():
            Event.objects.bulk_create(events, ignore_conflicts=True)
            if now - after > _OVERLAP:
                NotificationSpecification.objects.filter(pk=specification.pk).update(watched_until=now - _OVERLAP)
                specification.events.filter(happened_at__lte=after, sent_at__lt=real_now - _KEPT).delete()
        found += len(events)
    return found


def send_events(*, real_now: datetime) -> int:
    """Several events of one destination in one message. What is refused is tried again, later each time."""
    due = Event.objects.filter(sent_at=None, try_at__lte=real_now, attempts__lt=_AFTER_ATTEMPTS)
    waiting: dict[int, list[Event]] = {}
    for event in due.select_related("specification__hit_type__requester").order_by("happened_at", "pk")[:500]:
        waiting.setdefault(event.specification_id, []).append(event)
    sent = 0
    for events in waiting.values():
        for start in range(0, len(events), _BATCH):
            sent += _send_batch(events[start : start + _BATCH], real_now)
    return sent


def _send_batch(events: Sequence[Event], real_now: datetime) -> int:
    attempts = events[0].attempts
    keys = [event.pk for event in events]
    rows = Event.objects.filter(pk__in=keys)
    # Claimed before it is sent: a second process passes by, a dead one's batch comes again.
    later = real_now + timedelta(seconds=min(3600, 15 * 2**attempts))
    if rows.filter(sent_at=None, try_at__lte=real_now).update(try_at=later, attempts=attempts + 1) != len(keys):
        return 0
    specification = events[0].specification
    try:
        transports.send(transport=specification.transport, destination=specification.destination, body=_body(events))
    except InvalidTransportEndpoint as err:
        logger.warning("Events of HIT type %s wait: %s", specification.hit_type.hit_type_id, err.message)
        return 0
    return rows.update(sent_at=real_now)


def _body(events: Sequence[Event]) -> str:
    hit_type = events[0].specification.hit_type
    rows = [
        {
            "EventType": event.event_type,
            "EventTimestamp": _stamp(event.happened_at),
            "HITTypeId": hit_type.hit_type_id,
            "HITId": event.hit_id,
            **({"AssignmentId": event.assignment_id} if event.assignment_id else {}),
        }
        for event in events
    ]
    return _document(rows, version=events[0].specification.version, customer=str(hit_type.requester_id))


def _document(events: list[dict[str, str]], *, version: str, customer: str) -> str:
    return json.dumps(
        {"Events": events, "EventDocId": uuid.uuid4().hex, "EventDocVersion": version, "CustomerId": customer}
    )


def _stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def tell_events() -> None:
    """Until the process ends; nothing where no transport is set."""
    while settings.MARKETPLACE_SQS_ENDPOINT_URL or settings.MARKETPLACE_SNS_ENDPOINT_URL:
        time.sleep(_SECONDS)
        try:
            find_events(now=clock.now(), real_now=timezone.now())
            send_events(real_now=timezone.now())
        except Exception:  # the thread outlives a fault of the database; the next look finds what this one missed
            logger.exception("Events could not be told")
            connection.close()
