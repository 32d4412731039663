"""What monitors and proxies ask: is the process alive, is the site ready to work, how has it been doing.

Anybody may ask whether; why not, and the metrics, are for callers on this machine and for those who have METRICS_TOKEN.
"""

from __future__ import annotations

import hmac
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse, JsonResponse

from humanexp import health
from humanexp.addresses import is_from_this_machine
from humanexp.core import metrics, sealing, storage
from humanexp.core.objects import objects
from humanexp.core.problems import Problem, bad

#: With less than this on the disk, answers and logs would soon be lost.
FREE_MB = 500

#: What is wrong; None where nothing is.
Look = Callable[[], Problem | None]
_LOOKS: dict[str, Look] = {}


def register_look(name: str, look: Look) -> None:
    """Of `/readyz`; registered in AppConfig.ready()."""
    _LOOKS[name] = look


def problems() -> list[Problem]:
    """What keeps the site from working."""
    return [replace(found, key=name) for name, look in _LOOKS.items() if (found := _found(name, look)) is not None]


def _found(name: str, look: Look) -> Problem | None:
    try:
        return look()
    except (DatabaseError, OSError) as error:
        text = f"The {name} could not be looked at: {type(error).__name__}."
        return bad(text, "Run python manage.py doctor on the server.")


def healthz(request: HttpRequest) -> HttpResponse:
    """Whether the database answers."""
    return health.answer()


def livez(request: HttpRequest) -> HttpResponse:
    """Whether this process answers: a database that is away is no reason to start it anew."""
    return _answer({"status": "ok"})


def readyz(request: HttpRequest) -> HttpResponse:
    """Whether everything is there that the site needs, the job runner among it."""
    is_well = health.is_well()
    faults = {one.key: one.text for one in problems()} if is_well else {"database": "It does not answer."}
    told: dict[str, object] = {"status": "not ready" if faults else "ready"}
    if _may_know(request):
        told["checks"] = (dict.fromkeys(_LOOKS, "ok") if is_well else {}) | faults
    return _answer(told, status=503 if faults else 200)


def prometheus(request: HttpRequest) -> HttpResponse:
    if not _may_know(request):
        return HttpResponse("Give METRICS_TOKEN as a bearer token.\n", status=403, content_type="text/plain")
    reply = HttpResponse(metrics.exposition(), content_type=metrics.CONTENT_TYPE)
    reply["Cache-Control"] = "no-store"
    return reply


PROBES: dict[str, Callable[[HttpRequest], HttpResponse]] = {
    "/healthz": healthz,
    "/livez": livez,
    "/readyz": readyz,
    "/metrics": prometheus,
}


def _answer(told: dict[str, object], *, status: int = 200) -> HttpResponse:
    reply = JsonResponse(told, status=status)
    reply["Cache-Control"] = "no-store"
    return reply


def _may_know(request: HttpRequest) -> bool:
    given = request.headers.get("Authorization", "")
    wanted = f"Bearer {settings.METRICS_TOKEN}"
    has_token = bool(settings.METRICS_TOKEN) and hmac.compare_digest(given.encode(), wanted.encode())
    return has_token or is_from_this_machine(request)


@cache
def _newest_migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).graph.leaf_nodes())


def _migrations() -> Problem | None:
    missing = _newest_migrations() - set(MigrationRecorder(connection).applied_migrations())
    if not missing:
        return None
    text = f"The database is older than the program: {len(missing)} apps have migrations to apply."
    return bad(text, "Run python manage.py migrate.", notice="The database is older than the program.")


def _keys() -> Problem | None:
    fault = sealing.fault_of_key()
    notice = "SECRET_KEY is not the key that this database was filled under."
    return bad(fault, f"{sealing.REMEDY} Do so before anyone takes part.", notice=notice) if fault else None


def _disk() -> Problem | None:
    free_mb = shutil.disk_usage(settings.MEDIA_ROOT).free / 1e6
    return nearly_full(free_mb) if free_mb < FREE_MB else None


def nearly_full(free_mb: float) -> Problem:
    return bad(
        f"The disk is nearly full: {free_mb:.0f} MB are free.",
        "Make room under MEDIA_ROOT, or move it to a larger disk. On a full disk no answer can be stored.",
    )


def _files() -> Problem | None:
    fault = objects().fault()
    remedy = "Look at the address, the keys and the network; whoever needs a file waits meanwhile."
    return bad(fault, remedy, notice="The store of files cannot be used.") if fault else None


register_look("migrations", _migrations)
register_look("keys", _keys)
register_look("storage", storage.wrong_folder)
register_look("disk", _disk)
if settings.FILE_STORE:
    register_look("files", _files)
