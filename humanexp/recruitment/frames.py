"""Who may show an entry page in a frame, and where its final form may go."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

from humanexp.core.errors import InvalidRequest
from humanexp.recruitment.models import Campaign, Environment

#: The recruiter's address that takes a finished assignment.
SUBMIT_PATH = "/mturk/externalSubmit"


def origins_of(campaign: Campaign) -> list[str]:
    """Origins of a campaign's own recruiter: our marketplace, or the configured others. None for a plain link."""
    if campaign.is_link:
        return []
    marketplace = origin(settings.MARKETPLACE_URL)
    if campaign.environment == Environment.MARKETPLACE:
        return [marketplace]
    return [known for known in map(origin, settings.RECRUITER_ORIGINS) if known != marketplace]


def submit_address(campaign: Campaign, turk_submit_to: str) -> str:
    """Where the form is sent, built from our own list: the address that came with the page only chooses from it."""
    if campaign.is_link:
        return ""
    for known in origins_of(campaign):
        if turk_submit_to and origin(turk_submit_to) == known:
            return known + SUBMIT_PATH
    raise InvalidRequest(
        "This page was opened from an address that is not the recruiter's, so it could not be submitted. "
        "Open the HIT again from where you found it.",
        fields={"turkSubmitTo": "Not a recruiter of this study."},
    )


def origin(url: str) -> str:
    """Scheme, host and port; empty for anything that is no plain web address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.password:
        return ""
    host = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + ("" if port in (None, default) else f":{port}")
