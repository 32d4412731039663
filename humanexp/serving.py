"""How gunicorn serves the platform: measured by `python -m benchmarks.load`."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
from typing import Any

import humanexp.common_memory  # noqa: F401  before the web processes are forked: they share it
from humanexp import processes

# Each process counts in a file of its own there; it is looked for when the metrics are first imported.
_counts = tempfile.mkdtemp(prefix="humanexp-metrics-")
os.environ["PROMETHEUS_MULTIPROC_DIR"] = _counts

# Every connection is an open file: as many as the system lets this process have.
_, _most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (_most_files, _most_files))

bind = "127.0.0.1:8000"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
# Threads of gunicorn's gthread, in front of which requests arrive: slow clients take up none.
worker_class = "humanexp.server.PatientWorker"
threads = 4
# A browser keeps up to six connections open for the whole session, an answer comes every few seconds.
worker_connections = 4000 if _most_files == resource.RLIM_INFINITY else max(64, min(4000, _most_files - 256))
keepalive = 75
# Uploads of pictures may be slow; threads that wait for one are not stuck.
timeout = 120
# sendfile() would wait for a client that does not read as long as that likes.
sendfile = False
# Idle connections must not keep the port when the process is to end, or its parent has died.
graceful_timeout = 5
# An access log (--access-logfile -) names no address of a person, no query and no referrer: worker ids ride there.
logger_class = "humanexp.server.AccessLines"
access_log_format = "%(t)s %(m)s %(U)s %(s)s %(B)s %(M)s ms"


def on_starting(server: Any) -> None:
    """The master watches whoever started it; its web processes watch the master, as gunicorn has it."""
    processes.watch()


def child_exit(server: Any, worker: Any) -> None:
    """What a process has counted stays in the sums; what it was doing at the moment does not."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:
    shutil.rmtree(_counts, ignore_errors=True)
