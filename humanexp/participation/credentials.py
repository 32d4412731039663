"""Bearer tokens, hand-off codes, resume secrets, receipts and completion codes: all signed, none stored."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Generic, TypeVar

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
Claim = TypeVar("Claim")


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

    @classmethod
    def read(cls, session_id: int, said: str) -> HandoffClaim:
        nonce, _, keep_as = said.partition(" ")
        return cls(session_id, nonce, keep_as)


@dataclass(frozen=True)
class PreviewClaim:
    """What the token of a preview says; it is no claim to a session, and a session's token none to a preview."""

    preview_id: int
    nonce: str


@dataclass(frozen=True)
class Seal(Generic[Claim]):
    """One kind of credential: signed under a name of its own, so that none passes for another."""

    salt: str
    claim: Callable[[int, str], Claim]
    max_age_s: int | None

    def sign(self, key: int, said: str) -> str:
        return signing.dumps([key, said], salt=self.salt, compress=False)

    def read(self, text: str) -> Claim:
        try:
            content: Any = signing.loads(text, salt=self.salt, max_age=self.max_age_s)
        except signing.SignatureExpired as error:
            raise TokenRefused(reason="expired") from error
        except (signing.BadSignature, ValueError) as error:
            raise TokenRefused from error
        match content:
            case [int(key), str(said)] if 0 < key < _KEYS and "\x00" not in said:
                return self.claim(key, said)
        raise TokenRefused


TOKEN = Seal("humanexp.session-token", SessionClaim, TOKEN_MAX_AGE_S)
#: The nonce, a space, and under which name the resume secret is kept.
HANDOFF = Seal("humanexp.hand-off", HandoffClaim.read, HANDOFF_MAX_AGE_S)
#: What a browser keeps to get a token anew; good until the nonce of the session's row is changed.
RESUME_SECRET = Seal("humanexp.resume-secret", SessionClaim, None)
#: In the address of a participant's own result; how long it works is counted from the end of the session.
OWN_RESULT = Seal("humanexp.own-result", SessionClaim, None)
PREVIEW_TOKEN = Seal("humanexp.preview-token", PreviewClaim, PREVIEW_MAX_AGE_S)
PREVIEW_HANDOFF = Seal("humanexp.preview-hand-off", PreviewClaim, HANDOFF_MAX_AGE_S)


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
