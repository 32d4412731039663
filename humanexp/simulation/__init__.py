"""Scripted participants: an HTTP client with a persona. Talks HTTP and imports analysis, nothing else."""

from __future__ import annotations
