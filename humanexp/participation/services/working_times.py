from __future__ import annotations

from humanexp.participation.models import Session
from humanexp.participation.working_time import measured, unmeasured

#: Sessions whose answers are read together.
AT_ONCE = 200


def keep_working_times() -> int:
    """Measure how long people worked in sessions that have ended meanwhile, and keep it; how many there were."""
    kept = 0
    due = list(unmeasured().order_by().values_list("pk", flat=True))
    for first in range(0, len(due), AT_ONCE):
        seconds = measured(due[first : first + AT_ONCE])
        rows = [Session(pk=pk, active_s=active_s) for pk, active_s in seconds.items()]
        kept += Session.objects.bulk_update(rows, ["active_s"])
    return kept
