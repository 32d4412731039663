from __future__ import annotations

from django.db import transaction

from humanexp.marketplace.errors import InvalidParameterValue
from humanexp.marketplace.models import ClockOffset

_MAXIMUM_SECONDS = 10 * 365 * 86_400


@transaction.atomic
def advance(*, seconds: float) -> float:
    """Move the marketplace's clock forward; the whole advance so far is returned. Time never goes back."""
    if not 0 <= seconds <= _MAXIMUM_SECONDS:
        raise InvalidParameterValue("advance_seconds must be from 0 to ten years.")
    offset, _ = ClockOffset.objects.select_for_update().get_or_create(pk=1)
    offset.advance_seconds += seconds
    offset.save(update_fields=["advance_seconds"])
    return offset.advance_seconds
