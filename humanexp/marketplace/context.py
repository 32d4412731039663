from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from humanexp.marketplace.pages.answers import worker_of


def site(request: HttpRequest) -> dict[str, Any]:
    """What every page shows: the site's name, and who is signed in."""
    return {
        "site_name": settings.MARKETPLACE_NAME,
        "worker": worker_of(request),
        "sign_up": settings.MARKETPLACE_SIGN_UP,
        "test_controls": settings.MARKETPLACE_TEST_CONTROLS,
    }
