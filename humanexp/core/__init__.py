"""What every app stands on: accounts, errors, keys, navigation."""

from __future__ import annotations
