"""The organisation's sign-in, by OpenID Connect: a code that is exchanged for a signed statement of who somebody is.

allauth's own is not used: it checks neither the signature nor the nonce of what the provider states. Accounts are
linked by subject, and have the roles of their groups.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from humanexp.core import clock, selectors
from humanexp.core.accounts import end_sessions, make_account, set_house_role
from humanexp.core.errors import Conflict, NotAllowed
from humanexp.core.models import DEFAULT_LAB, HouseRole, Identity, Lab, User, record

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


logger = logging.getLogger(__name__)
#: Before the name of a laboratory, in what a group stands for.
LAB = "lab/"


def account_of(*, person: Person) -> User:
    """The account that signs in, with the roles that its groups have today.

    Raises
    ------
    NotAllowed
        If nobody is linked and no group gets an account, if the groups of before are gone, or the account is closed.
    """
    identity = Identity.objects.filter(issuer=person.issuer, subject=person.subject).select_related("user").first()
    roles = roles_of(person)
    user = identity.user if identity is not None else _linked_by_address(person)
    if user is not None and not user.is_active:
        raise NotAllowed("This account is closed: ask an administrator.")
    if settings.OIDC_GROUPS:
        if user is not None:
            set_roles(user=user, roles=roles)
        if not roles:
            raise NotAllowed("None of your groups has access here: ask an administrator.")
    if user is not None:
        return user
    if not settings.OIDC_GROUPS:
        raise NotAllowed("No account here is linked with you. Sign in with your password, then link it.")
    return _make(person, roles)


def roles_of(person: Person) -> frozenset[str]:
    return frozenset(role for group, role in settings.OIDC_GROUPS.items() if group in person.groups)


@transaction.atomic
def link(*, user: User, person: Person) -> Identity:
    """From now on this person of the organisation is this account.

    Raises
    ------
    Conflict
        If the person is another account already.
    """
    facts = {"user": user, "linked_at": clock.now()}
    key = {"issuer": person.issuer, "subject": person.subject}
    identity, is_new = Identity.objects.get_or_create(**key, defaults=facts)
    if identity.user_id != user.pk:
        raise Conflict("Another account is linked with this person of your organisation.")
    if is_new:
        record(action="link-account", subject=f"account:{user.pk}", by=user)
    return identity


@transaction.atomic
def set_roles(*, user: User, roles: frozenset[str]) -> User:
    """What the groups say; whoever loses a role is signed out elsewhere, too."""
    are_mapped = any(role.startswith(LAB) for role in settings.OIDC_GROUPS.values())
    usual = DEFAULT_LAB if are_mapped else str(user.lab_id)
    lab = next((role.removeprefix(LAB) for role in sorted(roles) if role.startswith(LAB)), usual)
    role = next((role for role in reversed(HouseRole) if role in roles), HouseRole.MEMBER)
    set_house_role(user=user, role=role, by_groups=True)
    if user.lab_id != lab:
        user.lab, _made = Lab.objects.get_or_create(name=lab)
        user.save(update_fields=["lab"])
        record(action="lab-by-groups", subject=f"account:{user.pk}", lab=lab)
    if not roles:
        end_sessions(user=user)
    return user


def _linked_by_address(person: Person) -> User | None:
    """Only where the administrator says that the organisation's addresses are the persons'."""
    if not settings.OIDC_LINK_BY_EMAIL:
        return None
    found = selectors.open_accounts_with(person.email)
    if len(found) != 1:
        return None
    link(user=found[0], person=person)
    return found[0]


@transaction.atomic
def _make(person: Person, roles: frozenset[str]) -> User:
    name = person.username or person.subject
    if User.objects.filter(username__iexact=name).exists():
        raise NotAllowed(
            f"There is an account {name!r} already. If it is yours, sign in with its password and link it; otherwise "
            "ask an administrator."
        )
    user = make_account(username=name, email=person.email)
    link(user=user, person=person)
    return set_roles(user=user, roles=roles)
