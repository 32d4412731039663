"""The marketplace as a WSGI application."""

from __future__ import annotations

import os

# This process is the marketplace, whatever the platform's commands have set before.
os.environ["DJANGO_SETTINGS_MODULE"] = "humanexp.sites.marketplace.settings"

from django.core.wsgi import get_wsgi_application  # noqa: E402

from humanexp.sites.controls import CutsConnections  # noqa: E402

application = CutsConnections(get_wsgi_application())
