"""What the job runner looks at outside, and the address that it calls while all is well."""

from __future__ import annotations

from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from humanexp.core import clock, probes
from humanexp.notices import machine, selectors, transport
from humanexp.notices.models import Observation
from humanexp.notices.selectors import ALIVE, CERTIFICATE
from humanexp.notices.transport import DeliveryFailed

CERTIFICATE_EVERY = timedelta(hours=1)
#: While a recruiter has not been asked, or does not take the keys, people are not paid.
NOT_WELL = ("not-asked", "keys")


def look_at_certificate() -> bool:
    """Once an hour, as callers see it; whether it was looked at now."""
    public, last = urlsplit(settings.PUBLIC_URL), selectors.observation(CERTIFICATE)
    if public.scheme != "https" or (last is not None and clock.now() - last.at < CERTIFICATE_EVERY):
        return False
    try:
        ends = machine.machine.certificate_ends(public.hostname or "", public.port or 443)
        _observe(CERTIFICATE, {"ends_at": ends.isoformat()})
    except OSError as error:
        _observe(CERTIFICATE, {"fault": (getattr(error, "verify_message", "") or str(error))[:200]})
    return True


def call_while_well() -> str:
    """Call the address of the setting, if it is time; returns why it was not called, empty where it was, or not yet.

    Whoever listens there says so when no call comes. Silence is a message: nothing is called unless all is well.
    """
    if not settings.ALIVE_URL:
        return ""
    last = selectors.observation(ALIVE)
    seen = last.seen if last is not None else {}
    called_at = datetime.fromisoformat(seen["called_at"]) if seen.get("called_at") else None
    every = timedelta(minutes=max(1, settings.ALIVE_EVERY_MINUTES))
    if called_at is not None and timedelta() <= clock.now() - called_at < every - timedelta(seconds=5):
        return ""
    reasons = not_well()
    error = ""
    if not reasons:
        try:
            transport.call(settings.ALIVE_URL, is_operators=True)
            called_at = clock.now()
        except DeliveryFailed as failed:
            error = failed.message
    told: dict[str, object] = {
        "silent_because": reasons,
        "error": error,
        "called_at": called_at.isoformat() if called_at else None,
    }
    _observe(ALIVE, told)
    return "; ".join(reasons) or error


def not_well() -> list[str]:
    """Why the address is not called. That the database and the job runner work shows in that this is asked at all."""
    faults = [f"{name}: {fault}" for name, fault in probes.faults().items() if fault]
    return faults + [event.text for event in selectors.open_events().filter(name__in=NOT_WELL)]


@transaction.atomic
def _observe(name: str, seen: dict[str, object]) -> None:
    Observation.objects.update_or_create(name=name, defaults={"at": clock.now(), "seen": seen})
