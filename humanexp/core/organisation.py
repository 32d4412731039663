"""The organisation's sign-in, by OpenID Connect: a code that is exchanged for a signed statement of who somebody is.

allauth's own is not used: it checks neither the signature nor the nonce of what the provider states.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from humanexp.core.errors import NotAllowed

# jwt and requests take a tenth of a second; only whoever signs in by the organisation pays for them.

#: Signatures with a key that the provider alone has; none at all, and secrets that both have, are no proof.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
TIMEOUT_S = 10
#: Clocks may differ by so much.
LEEWAY_S = 30
_MUST = ["exp", "iat", "iss", "aud", "sub"]


@dataclass(frozen=True, kw_only=True)
class Begun:
    """What a browser holds between leaving for the provider and coming back, once."""

    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, kw_only=True)
class Person:
    """What the provider states, verified."""

    issuer: str
    subject: str
    username: str
    email: str
    groups: frozenset[str]


def is_set_up() -> bool:
    return bool(settings.OIDC_ISSUER and settings.OIDC_CLIENT_ID)


def begin() -> tuple[str, Begun]:
    """Where to send the browser, and what to keep meanwhile."""
    begun = Begun(state=secrets.token_urlsafe(32), nonce=secrets.token_urlsafe(32), verifier=secrets.token_urlsafe(64))
    challenge = base64.urlsafe_b64encode(hashlib.sha256(begun.verifier.encode()).digest()).decode().rstrip("=")
    query = {
        "response_type": "code",
        "client_id": settings.OIDC_CLIENT_ID,
        "redirect_uri": _callback(),
        "scope": " ".join(settings.OIDC_SCOPES),
        "state": begun.state,
        "nonce": begun.nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    address = _configuration()["authorization_endpoint"]
    return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}", begun


def finish(*, answer: Mapping[str, str], begun: Begun) -> Person:
    """Who came back with this answer in the address.

    Raises
    ------
    NotAllowed
        If anything of it is not as it must be. The sentence does not say what: the log does.
    """
    import jwt
    import requests

    try:
        if not secrets.compare_digest(answer.get("state", "").encode(), begun.state.encode()):
            raise ValueError("the state is another one")
        code = answer["code"]
        configuration = _configuration()
        tokens = _exchange(configuration, code, begun)
        claims = _verified(tokens["id_token"], configuration, begun)
        return _person(claims, configuration, tokens)
    except (jwt.PyJWTError, requests.RequestException, KeyError, ValueError) as error:
        raise Refused(f"{type(error).__name__}: {error}") from error


class Refused(NotAllowed):
    """What the provider sent proves nothing."""


def _callback() -> str:
    return f"{settings.PUBLIC_URL}{reverse('organisation-back')}"


def _configuration() -> Mapping[str, Any]:
    import requests

    answer = requests.get(f"{settings.OIDC_ISSUER}/.well-known/openid-configuration", timeout=TIMEOUT_S)
    answer.raise_for_status()
    found: Mapping[str, Any] = answer.json()
    if str(found["issuer"]).rstrip("/") != settings.OIDC_ISSUER:
        raise ValueError(f"the provider calls itself {found['issuer']!r}")
    return found


def _exchange(configuration: Mapping[str, Any], code: str, begun: Begun) -> Any:
    import requests

    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": _callback(),
        "client_id": settings.OIDC_CLIENT_ID,
        "client_secret": settings.OIDC_CLIENT_SECRET,
        "code_verifier": begun.verifier,
    }
    address = configuration["token_endpoint"]
    headers = {"Accept": "application/json"}
    answer = requests.post(address, data=form, headers=headers, timeout=TIMEOUT_S, allow_redirects=False)
    answer.raise_for_status()
    return answer.json()


def _verified(token: str, configuration: Mapping[str, Any], begun: Begun) -> Mapping[str, Any]:
    import jwt

    key = jwt.PyJWKClient(configuration["jwks_uri"], timeout=TIMEOUT_S).get_signing_key_from_jwt(token)
    claims: Mapping[str, Any] = jwt.decode(
        token,
        key,
        algorithms=list(ALGORITHMS),
        audience=settings.OIDC_CLIENT_ID,
        issuer=configuration["issuer"],
        leeway=LEEWAY_S,
        options={"require": _MUST},
    )
    if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), begun.nonce.encode()):
        raise ValueError("the nonce is another one")
    if claims.get("azp", settings.OIDC_CLIENT_ID) != settings.OIDC_CLIENT_ID:
        raise ValueError("it was issued to another client")
    return claims


def _person(claims: Mapping[str, Any], configuration: Mapping[str, Any], tokens: Mapping[str, Any]) -> Person:
    """Groups may be told at another address only; it counts if it speaks of the same person."""
    import requests

    groups, email = claims.get(settings.OIDC_GROUPS_CLAIM), claims.get("email", "")
    is_verified, username = claims.get("email_verified"), claims.get("preferred_username", "")
    if settings.OIDC_GROUPS and groups is None and "userinfo_endpoint" in configuration:
        bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
        answer = requests.get(configuration["userinfo_endpoint"], headers=bearer, timeout=TIMEOUT_S)
        answer.raise_for_status()
        more = answer.json()
        if more["sub"] != claims["sub"]:
            raise ValueError("the provider speaks of another person")
        groups = more.get(settings.OIDC_GROUPS_CLAIM)
    return Person(
        issuer=settings.OIDC_ISSUER,
        subject=str(claims["sub"]),
        username=str(username),
        email=str(email) if is_verified is True else "",
        groups=frozenset([groups] if isinstance(groups, str) else map(str, groups or [])),
    )
