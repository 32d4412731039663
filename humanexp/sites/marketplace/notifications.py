"""Events of HITs, told to requesters: found by looking back, kept as rows, sent until they are taken.

Events are hints. They may come late, and after a broken connection twice; the API says what is true.
This is the one module that calls out: SQS and SNS, or what speaks like them.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, reduce
from operator import or_
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.errors import InvalidParameterValue, InvalidTransportEndpoint
from humanexp.sites.marketplace.models.work import HIT, Assignment, Event, HITType, NotificationSpecification, Transport
from humanexp.sites.marketplace.states import DISPOSED_AFTER_DAYS, HITState
from humanexp.sites.rows import change, first_or


@dataclass(frozen=True)
class Happening:
    event_type: str
    hit_id: str
    happened_at: datetime
    assignment_id: str = ""


def happenings(hit_type: HITType, *, after: datetime, until: datetime) -> Iterator[Happening]:
    """In no order; asked about the same moments again, the same."""
    touched: set[int] = set()
    for assignment in _assignments(hit_type, after, until):
        touched.add(assignment.hit_id)
        for event_type, happened_at in _of_assignment(assignment, until).items():
            if happened_at and after < happened_at <= until:
                yield Happening(event_type, assignment.hit.hit_id, happened_at, assignment.assignment_id)
    for hit in HIT.objects.filter(_hits_within(after, until) | Q(pk__in=touched), hit_type=hit_type).counted(until):
        for event_type, happened_at in _of_hit(hit, until).items():
            if happened_at and after < happened_at <= until:
                yield Happening(event_type, hit.hit_id, happened_at)
        if hit.pk in touched or after < hit.expires_at <= until:
            became_at = _reviewable_since(hit, until)
            if became_at is not None and after < became_at:
                yield Happening("HITReviewable", hit.hit_id, became_at)


def _hits_within(after: datetime, until: datetime) -> Q:
    age = timedelta(days=DISPOSED_AFTER_DAYS)
    touched = _between(after, until, "created_at", "extended_at", "expires_at", "disposed_at")
    return touched | _between(after - age, until - age, "expires_at")


def _between(after: datetime, until: datetime, *fields: str) -> Q:
    """One of these times lies there."""
    return reduce(or_, (Q(**{f"{field}__gt": after, f"{field}__lte": until}) for field in fields))


def _assignments(hit_type: HITType, after: datetime, until: datetime) -> QuerySet[Assignment]:
    within = _between(
        after,
        until,
        "accepted_at",
        "returned_at",
        "deadline_at",
        "submitted_at",
        "auto_approves_at",
        "approved_at",
        "rejected_at",
    )
    return Assignment.objects.filter(within, hit__hit_type=hit_type).select_related("hit").defer("answer")


def _of_assignment(assignment: Assignment, now: datetime) -> Mapping[str, datetime | None]:
    was_ended = assignment.submitted_at or assignment.returned_at
    return {
        "AssignmentAccepted": assignment.accepted_at,
        "AssignmentReturned": assignment.returned_at,
        "AssignmentSubmitted": assignment.submitted_at,
        "AssignmentAbandoned": None if was_ended else assignment.deadline_at,
        "AssignmentRejected": assignment.rejected_at,
        "AssignmentApproved": assignment.approval_time(now),
    }


def _of_hit(hit: HIT, now: datetime) -> Mapping[str, datetime | None]:
    of_age = hit.expires_at + timedelta(days=DISPOSED_AFTER_DAYS) if hit.state(now) is HITState.DISPOSED else None
    return {
        "HITCreated": hit.created_at,
        "HITExtended": hit.extended_at,
        "HITExpired": None if hit.disposed_at and hit.disposed_at <= hit.expires_at else hit.expires_at,
        "HITDisposed": hit.disposed_at or of_age,
    }


def _reviewable_since(hit: HIT, now: datetime) -> datetime | None:
    """When the last place was filled, or the time ran out, and nobody was at work any more."""
    if hit.state(now) not in (HITState.REVIEWABLE, HITState.REVIEWING):
        return None
    ends = [
        assignment.submitted_at or assignment.returned_at or assignment.deadline_at
        for assignment in hit.assignments.only("submitted_at", "returned_at", "deadline_at")
    ]
    last = max(ends, default=hit.created_at)
    return last if hit.n_available == 0 else max(last, hit.expires_at)


_ENDPOINTS = {
    Transport.SQS: "MARKETPLACE_SQS_ENDPOINT_URL",
    Transport.SNS: "MARKETPLACE_SNS_ENDPOINT_URL",
}


def require_offered(transport: str, destination: str) -> None:
    """Only to the endpoints that this site's people have set, whatever address a requester names."""
    if transport not in _ENDPOINTS:
        raise InvalidTransportEndpoint(f"Transport: {transport} is not offered here. Use SQS or SNS.")
    if not getattr(settings, _ENDPOINTS[Transport(transport)]):
        raise InvalidTransportEndpoint(f"Transport: this marketplace has no {transport} service to send to.")
    expected = ("https://", "http://") if transport == Transport.SQS else ("arn:",)
    if not destination.startswith(expected):
        what = "the URL of a queue" if transport == Transport.SQS else "the ARN of a topic"
        raise InvalidTransportEndpoint(f"Destination: {transport} needs {what}.")


def send(*, transport: str, destination: str, body: str) -> None:
    """Raise InvalidTransportEndpoint when it could not be handed over."""
    if connection.in_atomic_block:
        raise RuntimeError("No call to the outside within a transaction.")
    require_offered(transport, destination)
    try:
        if transport == Transport.SQS:
            _client("sqs").send_message(QueueUrl=destination, MessageBody=body)
        else:
            _client("sns").publish(TopicArn=destination, Message=body)
    except (BotoCoreError, ClientError) as err:
        raise InvalidTransportEndpoint(f"The notification could not be sent: {err}") from err


@cache
def _client(name: str) -> Any:
    session = botocore.session.Session()
    return session.create_client(
        name,
        endpoint_url=getattr(settings, _ENDPOINTS[Transport(name.upper())]),
        region_name=settings.MARKETPLACE_NOTIFICATION_REGION,
        aws_access_key_id=settings.MARKETPLACE_NOTIFICATION_ACCESS_KEY_ID or "none",
        aws_secret_access_key=settings.MARKETPLACE_NOTIFICATION_SECRET_ACCESS_KEY or "none",
        config=Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=10),
    )


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
    require_offered(wanted["Transport"], wanted["Destination"])


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
    send(transport=wanted["Transport"], destination=wanted["Destination"], body=body)


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
        send(transport=specification.transport, destination=specification.destination, body=_body(events))
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
