"""One id for a request and for everything that it sets going: log lines, jobs, calls to recruiters."""

from __future__ import annotations

import json
import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

#: An id that a proxy has given is taken over, anything else is replaced.
_ID = re.compile(r"[A-Za-z0-9-]{8,64}")
#: Facts of a log line that are our own; whatever else Python puts into a record stays out.
_ACCESS = ("method", "path", "status", "ms")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """Empty outside of requests and jobs."""
    return _current.get()


@contextmanager
def within(given: str) -> Iterator[str]:
    """Everything in here belongs to `given`, or to a new id where that is none."""
    request_id = given if _ID.fullmatch(given) else uuid.uuid4().hex
    token = _current.set(request_id)
    try:
        yield request_id
    finally:
        _current.reset(token)


class JsonLines(logging.Formatter):
    """One object a line: time, level, logger, message, and the request's id where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if current():
            line["request_id"] = current()
        line |= {name: getattr(record, name) for name in _ACCESS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)
