"""How `python -m gunicorn humanexp.wsgi` serves the platform: measured by `python -m benchmarks.load`."""

from __future__ import annotations

import os

bind = "127.0.0.1:8000"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
worker_class = "gthread"
threads = 4
# A browser keeps up to six connections open for the whole session, an answer comes every few seconds.
worker_connections = 4000
keepalive = 75
# Uploads of pictures may be slow; threads that wait for one are not stuck.
timeout = 120
# Idle connections must not keep the port when the process is to end, or its parent has died.
graceful_timeout = 5
