"""Pages of participants at work, and of who is where."""

from __future__ import annotations
