"""People, HITs, assignments and the payment ledger."""

from __future__ import annotations
