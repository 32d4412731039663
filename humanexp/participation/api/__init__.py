"""The participant's API."""

from __future__ import annotations
