"""What happened is stored with the change itself, one row for each subscription that asked for it."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from humanexp.sites.panel.models.hooks import Event, Subscription
from humanexp.sites.panel.models.people import Workspace
from humanexp.sites.panel.models.studies import Study, Submission
from humanexp.sites.panel.models.switches import Switches
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
