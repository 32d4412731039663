"""How long somebody stays signed in, in which browser, and which sessions an account has.

Sessions expire by Django's own mechanism and clock: each visit puts the end off, until the longest time is over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from humanexp.core.middleware import Middleware
from humanexp.core.models import User

#: What a browser says of itself, the more special first: most say "Chrome" and "Safari" as well.
FAMILIES = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
#: Systems, the more special first: Android says "Linux", and an iPhone "Mac OS X", as well.
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iOS"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def browser_of(agent: str) -> str:
    """E.g. "Firefox on Linux"; what is not known is "another browser"."""
    family = next((name for part, name in FAMILIES if part in agent), "another browser")
    system = next((name for part, name in SYSTEMS if part in agent), "")
    return f"{family} on {system}" if system else family


_BEGAN, _SEEN, _SIGN_IN = "signed_in_at", "seen_at", "sign_in"
#: A visit is written down at most so often.
_EVERY_S = 60


@dataclass(frozen=True, kw_only=True)
class Open:
    """A session in which an account is signed in."""

    key: str
    #: of the line of its sign-in; None for one that is older than these lines
    sign_in: int | None
    seen_at: datetime | None


def begin(request: HttpRequest, *, sign_in: int) -> None:
    now = timezone.now().timestamp()
    request.session.update({_BEGAN: now, _SEEN: now, _SIGN_IN: sign_in})
    request.session.set_expiry(_idle_s())


def of(user: User) -> list[Open]:
    """Those that have not expired, last seen first."""
    found = []
    for row in Session.objects.filter(expire_date__gt=timezone.now()):
        content = row.get_decoded()
        if content.get(SESSION_KEY) == str(user.pk):
            seen = content.get(_SEEN)
            seen_at = datetime.fromtimestamp(seen, UTC) if seen else None
            found.append(Open(key=row.session_key, sign_in=content.get(_SIGN_IN), seen_at=seen_at))
    return sorted(found, key=lambda session: session.seen_at or datetime.min.replace(tzinfo=UTC), reverse=True)


def delete(sessions: Iterable[Open]) -> None:
    Session.objects.filter(session_key__in=[session.key for session in sessions]).delete()


class SessionLimits(Middleware):
    """Signs out whoever is away for SESSION_IDLE_MINUTES, and everybody after SESSION_HOURS.

    Parts of pages that ask again by themselves (htmx) are no sign that somebody is there. Participants' pages and calls
    read no cookie, whoever sends one.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_of_console = not request.path.startswith(settings.PARTICIPANT_PATHS)
        if is_of_console and settings.SESSION_COOKIE_NAME in request.COOKIES and request.session.get(SESSION_KEY):
            _visit(request)
        return self.get_response(request)


def _visit(request: HttpRequest) -> None:
    now, session = timezone.now().timestamp(), request.session
    left_s = session.get(_BEGAN, now) + settings.SESSION_HOURS * 3600 - now
    if left_s <= 0:
        logout(request)
    elif now - session.get(_SEEN, 0) >= _EVERY_S and not ("HX-Request" in request.headers and request.method == "GET"):
        session.setdefault(_BEGAN, now)
        session[_SEEN] = now
        session.set_expiry(min(_idle_s(), int(left_s) + 1))


def _idle_s() -> int:
    return int(settings.SESSION_IDLE_MINUTES * 60)
