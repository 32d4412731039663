from __future__ import annotations

from typing import Any

from humanexp.core.models import User
from humanexp.recruitment.models import AuditEvent


def record(*, action: str, subject: str, by: User | None = None, **facts: Any) -> AuditEvent:
    """Add a line to the record of who did what; part of the caller's transaction. Never pass a worker id."""
    return AuditEvent.objects.create(action=action, subject=subject, by=by, facts=facts)
