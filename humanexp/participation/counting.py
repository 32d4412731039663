"""Which sessions count, in every analysis alike."""

from __future__ import annotations

from django.db.models import Q

from humanexp.participation.models import SessionState


def counting(session: str = "") -> Q:
    """Of sessions, or of rows that have one under this name: nobody took it back, and nobody merely claims it.

    Where people are recruited by name, anybody can begin under a made-up one. Such a session counts once whoever
    recruits lists it.
    """
    place = f"{session}__" if session else ""
    return Q(**{f"{place}is_verified": True}) & ~Q(**{f"{place}state": SessionState.WITHDRAWN})
