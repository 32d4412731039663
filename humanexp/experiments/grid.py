"""In which order a person sees the 16 answers."""

from __future__ import annotations

from analysis.design import shuffled_grid
from humanexp.experiments.models import Study


def grid_order_for(study: Study, *, person: str) -> list[str]:
    """Categories row by row in the order of this person's own; empty where the protocol keeps the published one."""
    asked = study.protocol.configuration.get("grid_order") if study.protocol else None
    return list(shuffled_grid(study.family.slug, person)) if asked == "shuffled" else []
