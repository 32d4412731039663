from __future__ import annotations

from typing import Any

from humanexp.core.errors import existing
from humanexp.jobs.registry import Progress, handler
from humanexp.studies.models import PowerEstimate
from humanexp.studies.power import simulate_power
from humanexp.studies.selectors import POWER


@handler(POWER, title="Power is simulated", former=("experiments.power",))
def power(progress: Progress, *, estimate_id: int) -> dict[str, Any]:
    """Simulate a planned study and say how often it finds what it looks for."""
    found = PowerEstimate.objects.filter(pk=estimate_id).first()
    estimate = existing(found, "The study was deleted before its power was simulated.")
    simulate_power(estimate=estimate, report=progress)
    return {"power": estimate.report["planned"]["different"]}
