from __future__ import annotations

from typing import Any

from humanexp.experiments.services.previewing import sweep_previews
from humanexp.jobs.registry import Progress, handler


@handler("experiments.sweep_previews", every_s=3600)
def sweep(progress: Progress) -> dict[str, Any]:
    """Delete previews that nobody ended."""
    return {"deleted": sweep_previews()}
