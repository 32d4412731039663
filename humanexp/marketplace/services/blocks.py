"""Whom a requester gives no work. The worker's account and other requesters stay untouched."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from humanexp.marketplace.models import Requester, WorkerBlock
from humanexp.marketplace.selectors.accounts import worker_by_id


@transaction.atomic
def block(*, requester: Requester, worker_id: str, reason: str, now: datetime) -> WorkerBlock:
    """Twice equals once; the later reason stands."""
    made, _ = WorkerBlock.objects.update_or_create(
        requester=requester,
        worker=worker_by_id(worker_id),
        defaults={"reason": reason},
        create_defaults={"reason": reason, "blocked_at": now},
    )
    return made


@transaction.atomic
def unblock(*, requester: Requester, worker_id: str) -> None:
    """A worker who was not blocked is not blocked afterwards."""
    requester.worker_blocks.filter(worker=worker_by_id(worker_id)).delete()
