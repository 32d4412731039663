from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """What every page shows: the site's name, and who is signed in."""
    user = getattr(request, "user", None)  # an early refusal has none
    worker = getattr(user, "worker", None) if user is not None and user.is_authenticated else None
    return {
        "site_name": settings.MARKETPLACE_NAME,
        "worker": worker,
        "sign_up": settings.MARKETPLACE_SIGN_UP,
        "test_controls": settings.MARKETPLACE_TEST_CONTROLS,
    }
