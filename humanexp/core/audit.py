"""The record of who did what: one line an act, written in the transaction of the act, for every app."""

from __future__ import annotations

from typing import Any

from humanexp.core.models import AuditEvent, User


def record(*, action: str, subject: str, study: str = "", by: User | None = None, **facts: Any) -> AuditEvent:
    """Add a line; call it inside the transaction of what it tells. Never pass a worker id or a name.

    `study` is the study's name in addresses: the line then stands on that study's page. Without `by` it was a job, a
    command or the recruiter.
    """
    return AuditEvent.objects.create(action=action, subject=subject, study=study, by=by, facts=facts)
