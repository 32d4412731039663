"""The marketplace as a WSGI application."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

# This process is the marketplace, whatever the platform's commands have set before.
os.environ["DJANGO_SETTINGS_MODULE"] = "humanexp.marketplace.settings"

from django.core.wsgi import get_wsgi_application  # noqa: E402
from waitress.channel import ClientDisconnected  # noqa: E402

_site = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Django's, but for a response marked `cuts_connection`: waitress then closes the socket without a byte."""
    response = _site(environ, start_response)
    if getattr(response, "cuts_connection", False):
        response.close()
        raise ClientDisconnected
    return response
