"""Pages of a database of the run's own, timed as Django's test client sees them: whole requests, template included."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.postgres import Cluster, running_cluster

Database = Literal["sqlite", "postgres"]


@contextmanager
def site(
    name: str, *, kept: Path | None = None, database: Database = "sqlite", settings_module: str = "tests.settings"
) -> Iterator[Cluster | None]:
    """Django on an empty database, in a folder that goes with the run; or on the SQLite that a run left in `kept`.

    With PostgreSQL, gives the cluster, whose commits wait for the disk.
    """
    with ExitStack() as until_the_end:
        folder = kept or Path(
            until_the_end.enter_context(tempfile.TemporaryDirectory(prefix=f"hx-{name}-", ignore_cleanup_errors=True))
        )
        folder.mkdir(parents=True, exist_ok=True)
        cluster = until_the_end.enter_context(running_cluster(durable=True)) if database == "postgres" else None
        os.environ |= {
            "MEDIA_ROOT": str(folder),
            "DATABASE_URL": cluster.create_database() if cluster else f"sqlite:///{folder / name}.sqlite3",
            "DJANGO_SETTINGS_MODULE": settings_module,
            "DEBUG": "0",
        }
        import django

        django.setup()
        from django.conf import settings
        from django.core.management import call_command

        settings.ALLOWED_HOSTS = ["testserver", "127.0.0.1"]
        call_command("migrate", verbosity=0)
        yield cluster


def signed_in(user: Any) -> Any:
    """Django's test client of this user."""
    from django.test import Client

    client = Client()
    client.force_login(user)
    return client


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Milliseconds of the first request and the median of later ones: on the clock, and of this process's core."""

    first_ms: float
    first_core_ms: float
    ms: float
    core_ms: float
    kilobytes: float


def timed(client: Any, path: str, *, repeats: int, beforehand: Callable[[], object]) -> Timing:
    """One request after `beforehand`, which empties the caches, and so many more; all of them must be answered."""
    beforehand()
    clock, core, length = [], [], 0
    for _ in range(repeats + 1):
        began, worked = time.perf_counter(), time.process_time()
        reply = client.get(path)
        clock.append(1000 * (time.perf_counter() - began))
        core.append(1000 * (time.process_time() - worked))
        length = len(reply.content)
        if reply.status_code != 200:
            raise SystemExit(f"{path}: {reply.status_code}")
    return Timing(
        first_ms=clock[0],
        first_core_ms=core[0],
        ms=statistics.median(clock[1:]),
        core_ms=statistics.median(core[1:]),
        kilobytes=length / 1000,
    )


def write(line: str) -> None:
    print(line, flush=True)
