"""System checks: what must be true before real people and real money are involved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register


@register(Tags.security, deploy=True)
def production_settings(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if settings.DEBUG:
        found.append(Error("DEBUG is on.", hint="Unset DEBUG.", id="humanexp.E001"))
    if not settings.PUBLIC_URL.startswith("https://"):
        found.append(
            Error(
                "PUBLIC_URL is not https: recruiters show the study in a frame of an https page.",
                hint="Put a TLS proxy in front and set PUBLIC_URL=https://...",
                id="humanexp.E002",
            )
        )
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        found.append(
            Warning(
                "SQLite serves one machine.",
                hint="Set DATABASE_URL=postgres://... when a second machine runs web or jobs.",
                id="humanexp.W001",
            )
        )
    return found
