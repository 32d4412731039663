"""Secrets that the server has to read again, sealed in the database under SECRET_KEY.

One of them is the key that turns worker ids into codes. It is stored with a check value of the SECRET_KEY that sealed
it: that shows whether SECRET_KEY is the one that this database was filled under.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import secrets

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from humanexp.core.errors import Conflict, SecretKeyRefused
from humanexp.core.models import PseudonymKey, record

logger = logging.getLogger(__name__)

REMEDY = (
    "Put the old key back from the backup, or into SECRET_KEY_FALLBACKS. "
    "Only if it is lost for good: python manage.py doctor --key-is-lost"
)
#: Keys of people's codes that this process has read, by what sealed them.
_read: dict[str, str] = {}


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


def check_value(key: str) -> str:
    """A keyed hash by which a SECRET_KEY is recognised; it reveals nothing about the key."""
    return hmac.new(key.encode(), b"humanexp check value 1", hashlib.sha256).hexdigest()


def pseudonym_key() -> str:
    """The key that hashes worker ids, made when an empty database first needs it.

    Raises
    ------
    SecretKeyRefused
        If the database was filled under another SECRET_KEY.
    """
    if (found := _read.get(settings.SECRET_KEY)) is not None:
        return found
    stored = _stored()
    if fault := _fault(stored):
        raise SecretKeyRefused(f"{fault} {REMEDY}")
    key = unsealed(stored.sealed)
    if not connection.in_atomic_block:  # what was made there may be taken back
        _read[settings.SECRET_KEY] = key
    return key


def fault_of_key() -> str:
    """What is wrong with SECRET_KEY; empty where nothing is, or nothing was sealed yet."""
    stored = PseudonymKey.objects.first() if is_migrated() else None
    return _fault(stored) if stored else ""


def _fault(stored: PseudonymKey) -> str:
    if stored.check_value in map(check_value, _keys()):
        return ""
    return (
        f"SECRET_KEY is not the key that this database was filled under on {stored.made_at:%d %B %Y}: people who took "
        "part would be strangers, excluded people would be let in, and links and codes signed before are refused."
    )


def check_at_start() -> None:
    """Done at every start. A database that does not answer yet prevents no start: the key is compared before it is
    used. Once SECRET_KEY was replaced, with the old one as a fallback, the key of people's codes is sealed anew.

    Raises
    ------
    SecretKeyRefused
        If the database was filled under another SECRET_KEY.
    """
    try:
        if is_migrated():
            key = pseudonym_key()
            PseudonymKey.objects.exclude(check_value=check_value(settings.SECRET_KEY)).update(**_sealed_here(key))
    except DatabaseError:
        logger.warning("SECRET_KEY cannot be compared with the database now: it does not answer", exc_info=True)


@transaction.atomic
def replace_lost_key() -> None:
    """An operator's word that the SECRET_KEY of this database is lost: earlier people and exclusions stay unknown.

    Raises
    ------
    Conflict
        If the present one is this database's.
    """
    if not fault_of_key():
        raise Conflict("SECRET_KEY is the key that this database was filled under: nothing was changed.")
    PseudonymKey.objects.all().delete()
    _stored()
    record(action="replace-pseudonym-key", subject="keys")


def is_migrated() -> bool:
    """Whether the database can hold the key."""
    return PseudonymKey._meta.db_table in connection.introspection.table_names()


def _stored() -> PseudonymKey:
    return (
        PseudonymKey.objects.first()
        or (PseudonymKey.objects.get_or_create(pk=1, defaults=_sealed_here(secrets.token_urlsafe(48)))[0])
    )


def _sealed_here(key: str) -> dict[str, str]:
    return {"sealed": sealed(key), "check_value": check_value(settings.SECRET_KEY)}


def _keys() -> list[str]:
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def _box() -> MultiFernet:
    return MultiFernet([Fernet(base64.urlsafe_b64encode(_derived(key))) for key in _keys()])


def _derived(key: str) -> bytes:
    return hmac.new(key.encode(), b"humanexp sealing 1", hashlib.sha256).digest()
