"""Long work: the Job row is the one truth."""

from __future__ import annotations
