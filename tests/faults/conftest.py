"""A lab's machine, as the journeys start it."""

from __future__ import annotations

from tests.journeys.conftest import marketplace_controls, prepared, site

__all__ = ["marketplace_controls", "prepared", "site"]
