"""States that change by a call, by another state and by time, and the events that are sent of each change."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import random
import time
from datetime import datetime, timedelta
from typing import Any

import requests
from django.db import connection, transaction
from django.db.models import F

from humanexp.sites.panel.models import (
    Event,
    HookSecret,
    Payment,
    Study,
    Submission,
    Subscription,
    Switches,
    Workspace,
    now as panel_now,
)
from humanexp.sites.panel.states import AT_WORK, StudyStatus, SubmissionStatus
from humanexp.sites.panel.studies import places_taken
from humanexp.sites.panel.wallet import balance, cost_in, reward
from humanexp.sites.rows import change

EVENT_TYPES = {
    "submission.status.change": "A submission changes its status.",
    "study.status.change": "A study changes its status.",
}


def submission_changed(submission: Submission, now: datetime) -> None:
    _record(
        submission.study.project.workspace,
        "submission.status.change",
        submission.submission_id,
        {"participant_id": submission.participant.participant_id, "status": submission.status},
        now,
    )


def study_changed(study: Study, now: datetime) -> None:
    _record(
        study.project.workspace,
        "study.status.change",
        study.study_id,
        {"metadata": study.terms["metadata"], "status": study.status},
        now,
    )


def _record(workspace: Workspace, event_type: str, resource_id: str, more: dict[str, Any], now: datetime) -> None:
    switches = Switches.current()
    for subscription in Subscription.objects.filter(
        workspace=workspace, event_type=event_type, is_enabled=True, is_confirmed=True
    ):
        event = Event.objects.create(
            subscription=subscription,
            resource_id=resource_id,
            payload={"event_type": event_type, "resource_id": resource_id, **more},
            happened_at=now,
            changed_at=now,
            try_at=now,
        )
        delay = switches.events_delay_s
        if switches.events_shuffled:
            delay += random.Random(f"{switches.seed} {event.pk}").uniform(0, 5)  # noqa: S311  (an order, no secret)
        change(event, try_at=now + timedelta(seconds=delay))


#: Submissions that nobody has reviewed are approved after this.
REVIEW_DAYS = 21


def move_study(study: Study, status: str, now: datetime, *, after_s: float = 0, then: str = "") -> Study:
    """Into this state; with `then`, which follows after so many seconds."""
    study.status, study.next_status = status, then
    study.due_at = now + timedelta(seconds=after_s) if then else None
    if status == StudyStatus.ACTIVE and study.published_at is None:
        study.published_at = now
    study.save()
    study_changed(study, now)
    return study


def move_submission(submission: Submission, status: str, now: datetime) -> Submission:
    """Into this state, with everything that follows from it."""
    was_completed = submission.completed_at is not None
    submission.status, submission.next_status, submission.due_at = status, "", None
    switches = Switches.current()
    if status == SubmissionStatus.ACTIVE:
        submission.started_at = now
        submission.due_at = now + timedelta(minutes=submission.study.terms["maximum_allowed_time"])
    elif status == SubmissionStatus.AWAITING_REVIEW:
        submission.completed_at = submission.completed_at or now
        if switches.processing_s and not was_completed:
            submission.status, submission.next_status = SubmissionStatus.PROCESSING, status
            submission.due_at = now + timedelta(seconds=switches.processing_s)
        else:
            submission.due_at = submission.completed_at + timedelta(days=REVIEW_DAYS)
    elif status == SubmissionStatus.APPROVED:
        reward(submission, now)
    submission.save()
    submission_changed(submission, now)
    _follow(submission.study, now, was_rejected=status == SubmissionStatus.REJECTED)
    return submission


def _follow(study: Study, now: datetime, *, was_rejected: bool) -> None:
    """What a changed submission makes of its study."""
    study.refresh_from_db(fields=["status", "places"])
    if study.status == StudyStatus.ACTIVE and places_taken(study) >= study.places:
        if not study.submissions.filter(status__in=AT_WORK).exists():
            move_study(study, StudyStatus.AWAITING_REVIEW, now)
    elif study.status == StudyStatus.AWAITING_REVIEW and was_rejected and Switches.current().rejection_reopens:
        move_study(study, StudyStatus.ACTIVE, now)
    approved = study.submissions.filter(status=SubmissionStatus.APPROVED).count()
    if study.status == StudyStatus.AWAITING_REVIEW and approved >= study.places:
        move_study(study, StudyStatus.COMPLETED, now)


def _move_on(study: Study, now: datetime) -> None:
    """A scheduled study that cannot be paid for when its time comes is a draft again."""
    workspace = study.project.workspace
    cost = cost_in(workspace, study.reward_cents) * study.places
    is_short = study.status == StudyStatus.SCHEDULED and balance(workspace).available < cost.total
    move_study(study, StudyStatus.UNPUBLISHED if is_short else study.next_status, now)


#: What time makes of a submission; PROCESSING knows itself what comes next.
_BY_TIME = {
    # A place that nobody started on is given up like work that nobody finished.
    SubmissionStatus.RESERVED: SubmissionStatus.TIMED_OUT,
    SubmissionStatus.ACTIVE: SubmissionStatus.TIMED_OUT,
    SubmissionStatus.AWAITING_REVIEW: SubmissionStatus.APPROVED,
}


def catch_up(now: datetime) -> None:
    """Whatever was due until now happens, in its order. Every call and page begins with this."""
    submissions = Submission.objects.filter(due_at__lte=now)
    studies = Study.objects.filter(due_at__lte=now)
    payments = Payment.objects.filter(due_at__lte=now, paid_at=None)
    if not (submissions.exists() or studies.exists() or payments.exists()):
        return
    with transaction.atomic():
        payments.update(paid_at=F("due_at"))
        for study in studies.select_related("project__workspace"):
            _move_on(study, now)
        for submission in submissions.select_related("participant", "study__project__workspace").order_by("due_at"):
            move_submission(submission, submission.next_status or _BY_TIME[SubmissionStatus(submission.status)], now)


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
