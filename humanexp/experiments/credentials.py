"""Bearer tokens, hand-off codes, resume secrets, receipts and completion codes: all signed, none stored."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.core import signing

from humanexp.core.errors import TokenRefused
from humanexp.core.keys import pseudonym

#: Longer than any assignment lasts.
TOKEN_MAX_AGE_S = 7 * 24 * 3600
HANDOFF_MAX_AGE_S = 60
#: A preview is swept at this age.
PREVIEW_MAX_AGE_S = 12 * 3600
#: Rows' keys are below this; a database refuses to look for a larger one.
_KEYS = 2**63
_TOKEN, _HANDOFF, _RESUME = "humanexp.session-token", "humanexp.hand-off", "humanexp.resume-secret"
_PREVIEW_TOKEN, _PREVIEW_HANDOFF = "humanexp.preview-token", "humanexp.preview-hand-off"


@dataclass(frozen=True)
class SessionClaim:
    """What a token says: a session, and the nonce that its row must still hold."""

    session_id: int
    nonce: str


@dataclass(frozen=True)
class HandoffClaim:
    """What a hand-off code says."""

    session_id: int
    nonce: str
    #: under which name the browser keeps the resume secret; empty: not beyond its window
    keep_as: str


@dataclass(frozen=True)
class PreviewClaim:
    """What the token of a preview says; it is no claim to a session, and a session's token none to a preview."""

    preview_id: int
    nonce: str


def sign_token(*, session_id: int, nonce: str) -> str:
    return signing.dumps([session_id, nonce], salt=_TOKEN, compress=False)


def read_token(token: str) -> SessionClaim:
    return SessionClaim(*_read(token, _TOKEN, TOKEN_MAX_AGE_S))


def sign_resume_secret(*, session_id: int, nonce: str) -> str:
    """What a browser keeps to get a token anew; good until the nonce of the session's row is changed."""
    return signing.dumps([session_id, nonce], salt=_RESUME, compress=False)


def read_resume_secret(secret: str) -> SessionClaim:
    return SessionClaim(*_read(secret, _RESUME, None))


def sign_handoff(*, session_id: int, nonce: str, keep_as: str = "") -> str:
    return signing.dumps([session_id, f"{nonce} {keep_as}"], salt=_HANDOFF, compress=False)


def read_handoff(code: str) -> HandoffClaim:
    session_id, said = _read(code, _HANDOFF, HANDOFF_MAX_AGE_S)
    nonce, _, keep_as = said.partition(" ")
    return HandoffClaim(session_id, nonce, keep_as)


def sign_preview_token(*, preview_id: int, nonce: str) -> str:
    return signing.dumps([preview_id, nonce], salt=_PREVIEW_TOKEN, compress=False)


def read_preview_token(token: str) -> PreviewClaim:
    return PreviewClaim(*_read(token, _PREVIEW_TOKEN, PREVIEW_MAX_AGE_S))


def sign_preview_handoff(*, preview_id: int, nonce: str) -> str:
    return signing.dumps([preview_id, nonce], salt=_PREVIEW_HANDOFF, compress=False)


def read_preview_handoff(code: str) -> PreviewClaim:
    return PreviewClaim(*_read(code, _PREVIEW_HANDOFF, HANDOFF_MAX_AGE_S))


def _read(text: str, salt: str, max_age_s: int | None) -> tuple[int, str]:
    try:
        content: Any = signing.loads(text, salt=salt, max_age=max_age_s)
    except signing.SignatureExpired as error:
        raise TokenRefused(reason="expired") from error
    except (signing.BadSignature, ValueError) as error:
        raise TokenRefused from error
    match content:
        case [int(key), str(nonce)] if 0 < key < _KEYS and "\x00" not in nonce:
            return key, nonce
    raise TokenRefused


def receipt(session_code: str) -> str:
    """Proof that all answers of a session are stored; the recruiter's form carries it."""
    return next(_receipts(session_code))


def receipt_is_valid(session_code: str, given: str) -> bool:
    return any(hmac.compare_digest(known.encode(), given.strip().encode()) for known in _receipts(session_code))


def completion_code(session_code: str) -> str:
    """The same proof, short enough to be typed by hand or read out."""
    return next(completion_codes(session_code))


def completion_codes(session_code: str) -> Iterator[str]:
    """The code of a session, and those that were given out under earlier keys."""
    for key in _keys():
        yield pseudonym(key, "completion", session_code, prefix="C", length=8)


def _receipts(session_code: str) -> Iterator[str]:
    for key in _keys():
        yield hmac.new(f"receipt:{key}".encode(), session_code.encode(), sha256).hexdigest()


def _keys() -> list[str]:
    """The present key first; receipts given out under an earlier one stay good while it is among the fallbacks."""
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
