"""What must be true before people and money are involved: system checks, and what web and jobs ask at their start."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, connection

from humanexp.core import sealing, storage
from humanexp.core.errors import InputRefused, SecretKeyRefused
from humanexp.core.languages import catalogues
from humanexp.core.models import HouseRole
from humanexp.core.organisation import LAB
from humanexp.table_making import OtherTables, check_tables


@register(Tags.security, deploy=True)
def production_settings(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    found: Sequence[tuple[bool, CheckMessage]] = (
        (settings.DEBUG, Error("DEBUG is on.", hint="Unset DEBUG.", id="humanexp.E001")),
        (
            not settings.PUBLIC_URL.startswith("https://"),
            Error(
                "PUBLIC_URL is not https: recruiters show the study in a frame of an https page.",
                hint="Put a TLS proxy in front and set PUBLIC_URL=https://...",
                id="humanexp.E002",
            ),
        ),
        (
            settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"),
            Warning(
                "SQLite serves one machine.",
                hint="Set DATABASE_URL=postgres://... when a second machine runs web or jobs.",
                id="humanexp.W001",
            ),
        ),
    )
    return [message for is_wrong, message in found if is_wrong]


@register()
def groups_of_the_organisation(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """A role that is misspelt would make everybody of the group a member, and be noticed by nobody."""
    return [
        Error(
            f"OIDC_GROUPS: {group!r} stands for {role!r}, which is no role.",
            hint=f"Write one of {', '.join(HouseRole.values)}, or {LAB}NAME.",
            id="humanexp.E003",
        )
        for group, role in settings.OIDC_GROUPS.items()
        if role not in HouseRole.values and not str(role).startswith(LAB)
    ]


#: What `check` raises.
REFUSALS = (InputRefused, OtherTables, SecretKeyRefused)


def check() -> None:
    """Compare tables, keys and files with those of this version and this database, and read the catalogues.

    Raises
    ------
    InputRefused
        If a catalogue in LOCALE_FOLDER is at fault.
    OtherTables
        If another version made the database.
    SecretKeyRefused
        If SECRET_KEY is not the one that this database was filled under.
    """
    catalogues()
    with suppress(DatabaseError):  # it does not answer: that keeps nobody down, and is said next
        check_tables(connection)
    sealing.check_at_start()
    storage.mark_folder()
