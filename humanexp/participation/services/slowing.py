"""Asking people who answer implausibly fast to take their time: once, between two blocks.

Earlier answers stay as they are, and rules read them as before.
"""

from __future__ import annotations

from django.db.models import Count, Q

from humanexp.participation.minimum_duration import asks_to_slow_down
from humanexp.participation.models import Response, Session


def after_block(*, session_id: int, blocks: list[int], under_ms: float, cursor: int) -> None:
    """Decide before the block at the cursor whether its page asks; part of the transaction that stores an answer."""
    timed = Response.objects.filter(session_id=session_id, trial__block__in=blocks, rt_ms__isnull=False)
    counts = timed.exclude(set_aside=True).aggregate(all=Count("pk"), fast=Count("pk", filter=Q(rt_ms__lt=under_ms)))
    if asks_to_slow_down(fast=counts["fast"], answered=counts["all"]):
        Session.objects.filter(pk=session_id, slow_down_at=None).update(slow_down_at=cursor)
