"""Analysis runs, published trials, the dashboard."""

from __future__ import annotations
