"""Whether a site can work, as a prober asks it of the platform and of the marketplace."""

from __future__ import annotations

from pathlib import Path

from django.db import connection
from django.db.utils import Error as DatabaseProblem
from django.http import JsonResponse


def answer(**named: str) -> JsonResponse:
    """Anybody may ask: it says whether the site can work, and not with what or why not."""
    well = is_well()
    reply = JsonResponse({"status": "ok" if well else "not ok", **named}, status=200 if well else 503)
    reply["Cache-Control"] = "no-store"
    return reply


def is_well() -> bool:
    """Whether a site's tables are there. SQLite would make a file that is missing, and goes on in one that was removed:
    it is looked for first. A writer's lock keeps no reader waiting."""
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        connection.close()
        return False
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
    except DatabaseProblem:
        connection.close()
        return False
    return True
