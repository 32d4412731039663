"""Which sessions count: verdicts and their evidence."""

from __future__ import annotations
