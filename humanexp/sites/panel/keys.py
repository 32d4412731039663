"""Ids and tokens in the forms that the service gives them."""

from __future__ import annotations

import secrets


def entity_id() -> str:
    """24 hex characters, as of people, studies, submissions and groups."""
    return secrets.token_hex(12)


def token() -> str:
    return secrets.token_urlsafe(48)
