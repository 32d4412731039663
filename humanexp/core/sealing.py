"""Secrets that the server has to read again, encrypted in the database under SECRET_KEY."""

from __future__ import annotations

import base64
import hashlib
import hmac

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from humanexp.core.errors import Conflict


def sealed(text: str) -> str:
    return _box().encrypt(text.encode()).decode()


def unsealed(text: str) -> str:
    """Also what an earlier key sealed, while SECRET_KEY_FALLBACKS has it.

    Raises
    ------
    Conflict
        If no key is left that opens it.
    """
    try:
        return _box().decrypt(text.encode()).decode()
    except InvalidToken as error:
        raise Conflict(
            "This secret was stored under another SECRET_KEY: put the old key into SECRET_KEY_FALLBACKS, or reset the "
            "second factor of the account."
        ) from error


def _box() -> MultiFernet:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(_derived(key))) for key in keys])


def _derived(key: str) -> bytes:
    return hmac.new(key.encode(), b"humanexp sealing 1", hashlib.sha256).digest()
