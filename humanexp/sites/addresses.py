"""Under which address a site is reached."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def site_url(request: HttpRequest) -> str:
    """As people, frames and clients see it; no slash at the end."""
    return settings.SITE_URL or f"{request.scheme}://{request.get_host()}"
