"""Studies, sessions, trials and responses."""

from __future__ import annotations
