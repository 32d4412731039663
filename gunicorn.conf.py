"""What `python -m gunicorn humanexp.wsgi` reads in a checkout. Elsewhere: `--config python:humanexp.serving`."""

from __future__ import annotations

from humanexp.serving import *  # noqa: F403
