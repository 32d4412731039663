"""What monitors and proxies ask: is the process alive, is the site ready to work, how has it been doing.

Anybody may ask whether; why not, and the metrics, are for callers on this machine and for those who have METRICS_TOKEN.
"""

from __future__ import annotations

import hmac
import shutil
from collections.abc import Callable
from functools import cache

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse, JsonResponse

from humanexp import health
from humanexp.addresses import is_from_this_machine
from humanexp.core import metrics, sealing, storage_mark
from humanexp.core.objects import objects

#: With less than this on the disk, answers and logs would soon be lost.
FREE_MB = 500

#: What is wrong, in a sentence; empty where nothing is.
Question = Callable[[], str]
_QUESTIONS: dict[str, Question] = {}


def register_question(name: str, question: Question) -> None:
    """Of `/readyz`; registered in AppConfig.ready()."""
    _QUESTIONS[name] = question


def faults() -> dict[str, str]:
    """By question, what keeps the site from working; empty where nothing does."""
    found = {}
    for name, question in _QUESTIONS.items():
        try:
            found[name] = question()
        except (DatabaseError, OSError) as error:
            found[name] = f"could not be asked: {type(error).__name__}"
    return found


def healthz(request: HttpRequest) -> HttpResponse:
    """Whether the database answers."""
    return health.answer()


def livez(request: HttpRequest) -> HttpResponse:
    """Whether this process answers: a database that is away is no reason to start it anew."""
    return _answer({"status": "ok"})


def readyz(request: HttpRequest) -> HttpResponse:
    """Whether everything is there that the site needs, the job runner among it."""
    found = faults() if health.is_well() else {"database": "it does not answer"}
    is_ready = not any(found.values())
    told: dict[str, object] = {"status": "ready" if is_ready else "not ready"}
    if _may_know(request):
        told["checks"] = {name: fault or "ok" for name, fault in found.items()}
    return _answer(told, status=200 if is_ready else 503)


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


def _migrations() -> str:
    missing = _newest_migrations() - set(MigrationRecorder(connection).applied_migrations())
    return f"{len(missing)} apps have migrations to apply" if missing else ""


def _disk() -> str:
    free_mb = shutil.disk_usage(settings.MEDIA_ROOT).free / 1e6
    return f"{free_mb:.0f} MB are free" if free_mb < FREE_MB else ""


register_question("migrations", _migrations)
register_question("keys", sealing.fault_of_key)
register_question("storage", storage_mark.fault)
register_question("disk", _disk)
if settings.FILE_STORE:
    register_question("files", lambda: objects().fault())
