"""The researcher's console and the commands that need every app."""

from __future__ import annotations
